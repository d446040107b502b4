"""The visibility rule (`visible_to`) as SQL, generated once for each kind of caller.

Django takes as long to write these queries as Postgres to answer them. So each is written for a
stand-in of the caller, and the caller's own owner, token and folders are put in as values.
"""

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db.models import Model, QuerySet

from knowledge.access import Access
from knowledge.models import (
    Content,
    Filing,
    Folder,
    Item,
    Relation,
    Source,
    SourcePage,
    Transform,
)
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
    "titled": "SELECT NULL::uuid, ''::text, ''::text WHERE false",
    "told": "SELECT NULL::uuid, ''::text, ''::text, ''::text, NULL::text[], NULL::jsonb, "
    "NULL::jsonb, NULL::timestamptz, NULL::timestamptz WHERE false",
    "relation": "SELECT NULL::uuid, NULL::uuid, NULL::uuid, ''::text, 0::float8 WHERE false",
    "page": "SELECT NULL::uuid, ''::text WHERE false",
    "filing": "SELECT NULL::uuid AS item_id, NULL::uuid AS folder_id WHERE false",
    "shown": "SELECT NULL::uuid AS id WHERE false",
    "folder": "SELECT ''::text AS name WHERE false",
}
MOST_FOLDERS = 50
"""With more, the query is written anew each time: the values differ too much to keep it."""


def searchable(access: Access) -> Sql:
    """The items that the caller may find."""
    return _for(access, _searchable, "item")


def searchable_of_types(access: Access, types: Collection[str]) -> Sql:
    """The same of these types alone, as most searches that narrow anything name them."""
    return _for(access, _query_of_types(tuple(sorted(types))), "item")


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


def titled_items_sql(access: Access) -> Sql:
    """The items that the caller sees: id, own title, title of the content."""
    return _for(access, _titled_items, "titled")


def told_items_sql(access: Access) -> Sql:
    """The same items with what an answer says of each, as `TOLD` names it."""
    return _for(access, _told_items, "told")


def shown_items_sql(access: Access) -> Sql:
    """The same items with all that is shown of one: the columns of item, content and summary."""
    return _for(access, _shown_items, "shown")


def counted_folders_sql(access: Access) -> Sql:
    """The folders that the caller sees, with how many items it sees in each, and since when."""
    return _for(access, _counted_folders, "folder")


def relations_sql(access: Access) -> Sql:
    """The relations in force that the caller sees: id, source, target, type, weight."""
    return _for(access, _relations, "relation")


def crawled_pages_sql(access: Access) -> Sql:
    """The items made of pages of sources that the caller sees: item, name of the source."""
    return _for(access, _crawled_pages, "page")


def in_columns(items: ItemQuerySet) -> QuerySet[Any, Any]:
    """Of each item what `COLUMNS` names."""
    return items.values("pk", "owner_id", "chunk_count", "word_count")


def columns_of(model: type[Model], prefix: str = "") -> list[str]:
    """A model's columns, as a query of a related one may name them."""
    return [prefix + field.attname for field in model._meta.concrete_fields]


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


@lru_cache(maxsize=64)
def _query_of_types(types: tuple[str, ...]) -> Callable[[Access], QuerySet[Any]]:
    """One function for each choice of types, as the caches know queries by their functions."""

    def query(access: Access) -> QuerySet[Any]:
        items = Item.objects.visible_to(access).searchable(access)
        return in_columns(items.filter(type__in=types))

    return query


def _searchable_with_archived(access: Access) -> QuerySet[Any]:
    return in_columns(Item.objects.visible_to(access).searchable(access, finds_archived=True))


def _hidden_items(access: Access) -> QuerySet[Any]:
    return in_columns(Item.objects.visible_to(access).hidden_from_search(access))


def _published_items(access: Access) -> QuerySet[Any]:
    return in_columns(Item.objects.published_to(access).searchable(access))


def _titled_items(access: Access) -> QuerySet[Any]:
    items: QuerySet[Any] = Item.objects.visible_to(access)
    return items.values("pk", "custom_title", "content__title")


def _told_items(access: Access) -> QuerySet[Any]:
    items: QuerySet[Any] = Item.objects.visible_to(access).with_attributes_for(access)
    shown = ("pk", "custom_title", "content__title", "content__url")
    return items.values(*shown, "tags", "told_attributes", "suspicions", "created_at", "updated_at")


def _shown_items(access: Access) -> QuerySet[Any]:
    items: QuerySet[Any] = Item.objects.visible_to(access).with_attributes_for(access)
    beside = [*columns_of(Content, "content__"), *columns_of(Transform, "transform__")]
    return items.values(*columns_of(Item), *beside, "told_attributes")


def _counted_folders(access: Access) -> QuerySet[Any]:
    folders: QuerySet[Any] = Folder.objects.visible_to(access).with_counts_for(access)
    return folders.values(*columns_of(Folder), "item_count", "last_added_at")


def _relations(access: Access) -> QuerySet[Any]:
    relations: QuerySet[Any] = Relation.objects.visible_to(access).in_force()
    return relations.values("pk", "source_id", "target_id", "type", "weight")


def _crawled_pages(access: Access) -> QuerySet[Any]:
    sources = Source.objects.visible_to(access)
    pages: QuerySet[Any] = SourcePage.objects.filter(source__in=sources)
    return pages.values("item_id", "source__name")


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
