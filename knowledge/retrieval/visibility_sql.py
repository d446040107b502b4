"""The visibility rule (`visible_to`) as SQL, generated once for each kind of caller.

Django takes as long to write these queries as Postgres to answer them. So each is written for a
stand-in of the caller, and the caller's own owner, token and folders are put in as values.
"""

from collections.abc import Callable, Collection
from functools import lru_cache, wraps
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
Query = Callable[[Access], QuerySet[Any]]

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


def _written_once(prefix: str) -> Callable[[Query], Callable[[Access], Sql]]:
    """Makes of a query for a caller the function that gives its SQL."""

    def of(query: Query) -> Callable[[Access], Sql]:
        @wraps(query)
        def sql(access: Access) -> Sql:
            return _for(access, query, prefix)

        return sql

    return of


@_written_once("item")
def searchable(access: Access) -> QuerySet[Any]:
    """The items that the caller may find."""
    return in_columns(Item.objects.visible_to(access).searchable(access))


@_written_once("item")
def searchable_with_archived(access: Access) -> QuerySet[Any]:
    """The same, and archived tasks."""
    return in_columns(Item.objects.visible_to(access).searchable(access, finds_archived=True))


def searchable_of_types(access: Access, types: Collection[str]) -> Sql:
    """The items of these types alone, as most searches that narrow anything name them."""
    return _of_types(tuple(sorted(types)))(access)


@lru_cache(maxsize=64)
def _of_types(types: tuple[str, ...]) -> Callable[[Access], Sql]:
    """One function for each choice of types, as the caches know queries by their functions."""

    @_written_once("item")
    def query(access: Access) -> QuerySet[Any]:
        items = Item.objects.visible_to(access).searchable(access)
        return in_columns(items.filter(type__in=types))

    return query


@_written_once("item")
def hidden_items_sql(access: Access) -> QuerySet[Any]:
    """The items that the caller may see but that no search finds."""
    return in_columns(Item.objects.visible_to(access).hidden_from_search(access))


@_written_once("item")
def published_items_sql(access: Access) -> QuerySet[Any]:
    """The skills and units that the caller may find, whoever's they are."""
    return in_columns(Item.objects.published_to(access).searchable(access))


@_written_once("filing")
def filings(access: Access) -> QuerySet[Any]:
    """Which item is in which folder, as far as the caller may know."""
    return Filing.objects.visible_to(access).values("item_id", "folder_id")


@_written_once("titled")
def titled_items_sql(access: Access) -> QuerySet[Any]:
    """The items that the caller sees: id, own title, title of the content."""
    items: QuerySet[Any] = Item.objects.visible_to(access)
    return items.values("pk", "custom_title", "content__title")


@_written_once("told")
def told_items_sql(access: Access) -> QuerySet[Any]:
    """The same items with what an answer says of each."""
    items: QuerySet[Any] = Item.objects.visible_to(access).with_attributes_for(access)
    shown = ("pk", "custom_title", "content__title", "content__url")
    return items.values(*shown, "tags", "told_attributes", "suspicions", "created_at", "updated_at")


@_written_once("shown")
def shown_items_sql(access: Access) -> QuerySet[Any]:
    """The same items with all that is shown of one: the columns of item, content and summary."""
    items: QuerySet[Any] = Item.objects.visible_to(access).with_attributes_for(access)
    beside = [*columns_of(Content, "content__"), *columns_of(Transform, "transform__")]
    return items.values(*columns_of(Item), *beside, "told_attributes")


@_written_once("folder")
def counted_folders_sql(access: Access) -> QuerySet[Any]:
    """The folders that the caller sees, with how many items it sees in each, and since when."""
    folders: QuerySet[Any] = Folder.objects.visible_to(access).with_counts_for(access)
    return folders.values(*columns_of(Folder), "item_count", "last_added_at")


@_written_once("relation")
def relations_sql(access: Access) -> QuerySet[Any]:
    """The relations in force that the caller sees: id, source, target, type, weight."""
    relations: QuerySet[Any] = Relation.objects.visible_to(access).in_force()
    return relations.values("pk", "source_id", "target_id", "type", "weight")


@_written_once("page")
def crawled_pages_sql(access: Access) -> QuerySet[Any]:
    """The items made of pages of sources that the caller sees: item, name of the source."""
    sources = Source.objects.visible_to(access)
    pages: QuerySet[Any] = SourcePage.objects.filter(source__in=sources)
    return pages.values("item_id", "source__name")


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


def _for(access: Access, query: Query, prefix: str) -> Sql:
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


def _cached_sql(stand_in: Access, query: Query, prefix: str) -> Sql:
    key = (stand_in, query, prefix)
    known = caches.door_queries.get(key)
    return known or caches.door_queries.put(key, sql_of(query(stand_in), prefix))
