"""The visibility rule (`visible_to`) as SQL, generated once for each kind of caller.

Django takes as long to write these queries as Postgres to answer them. So each is written for a
stand-in of the caller, and the caller's own owner, token and folders are put in as values.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from knowledge.access import Access
from knowledge.models import Filing, Item
from knowledge.models.item import ItemQuerySet
from knowledge.retrieval import caches

Sql = tuple[str, dict[str, Any]]

_OWNER = -7_361_002
_TOKEN = UUID(int=7_361_003)
_FIRST_FOLDER = 7_361_004 << 64
COLUMNS = "id, owner_id, chunk_count, word_count"
"""What the queries for items give of each."""
_NOTHING = {
    "item": "SELECT NULL::uuid, NULL::int, NULL::int, NULL::int WHERE false",
    "filing": "SELECT NULL::uuid AS item_id, NULL::uuid AS folder_id WHERE false",
}
MOST_FOLDERS = 50
"""With more, the query is written anew each time: the values differ too much to keep it."""


def searchable(access: Access) -> Sql:
    """The items that the caller may find."""
    return _for(access, _searchable, "item")


def searchable_with_archived(access: Access) -> Sql:
    """The same, and archived tasks."""
    return _for(access, _searchable_with_archived, "item")


def hidden_items_sql(access: Access) -> Sql:
    """The items that the caller may see but that no search finds."""
    return _for(access, _hidden_items, "item")


def published_items_sql(access: Access) -> Sql:
    """The skills and units that the caller may find, whoever's they are."""
    return _for(access, _published_items, "item")


def filings(access: Access) -> Sql:
    """Which item is in which folder, as far as the caller may know."""
    return _for(access, _filings, "filing")


def in_columns(items: ItemQuerySet) -> QuerySet[Any, Any]:
    """Of each item what `COLUMNS` names."""
    return items.values("pk", "owner_id", "chunk_count", "word_count")


def sql_of(query: QuerySet[Any], prefix: str) -> Sql:
    """A query's SQL with named parameters; a query that can match nothing becomes an empty one."""
    try:
        sql, values = query.order_by().query.sql_with_params()
    except EmptyResultSet:
        return _NOTHING[prefix], {}
    names = [f"{prefix}_{n}" for n in range(len(values))]
    return sql % tuple(f"%({name})s" for name in names), dict(zip(names, values, strict=True))


def _searchable(access: Access) -> QuerySet[Any]:
    return in_columns(Item.objects.visible_to(access).searchable(access))


def _searchable_with_archived(access: Access) -> QuerySet[Any]:
    return in_columns(Item.objects.visible_to(access).searchable(access, finds_archived=True))


def _hidden_items(access: Access) -> QuerySet[Any]:
    return in_columns(Item.objects.visible_to(access).hidden_from_search(access))


def _published_items(access: Access) -> QuerySet[Any]:
    return in_columns(Item.objects.published_to(access).searchable(access))


def _filings(access: Access) -> QuerySet[Any]:
    return Filing.objects.visible_to(access).values("item_id", "folder_id")


def _for(access: Access, query: Callable[[Access], QuerySet[Any]], prefix: str) -> Sql:
    folders = sorted(access.folder_ids or ())
    if len(folders) > MOST_FOLDERS:
        return sql_of(query(access), prefix)
    stand_ins = [UUID(int=_FIRST_FOLDER + n) for n in range(len(folders))]
    # Without agent and capabilities, which decide nothing here: one statement serves all of them.
    stand_in = Access(
        owner_id=_OWNER,
        capabilities=frozenset(),
        folder_ids=None if access.folder_ids is None else frozenset(stand_ins),
        kb_only=access.kb_only,
        token_id=None if access.token_id is None else _TOKEN,
    )
    sql, values = _cached_sql(stand_in, query, prefix)
    own: dict[Any, Any] = {
        _OWNER: access.owner_id,
        _TOKEN: access.token_id,
        **dict(zip(stand_ins, folders, strict=True)),
    }
    return sql, {name: own.get(value, value) for name, value in values.items()}


def _cached_sql(stand_in: Access, query: Callable[[Access], QuerySet[Any]], prefix: str) -> Sql:
    key = (stand_in, query, prefix)
    known = caches.door_queries.get(key)
    return known or caches.door_queries.put(key, sql_of(query(stand_in), prefix))
