"""What a search may touch: the items behind the one door, narrowed by what the caller asked."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection

from knowledge.access import Access
from knowledge.errors import NotFound
from knowledge.models import Folder, Item, ItemType
from knowledge.models.item import ItemQuerySet
from knowledge.validation import as_moment, clean_tags, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """A caller's own limits on a search; they can only take away."""

    folder_id: UUID | None = None
    types: Collection[str] = ()
    tags: Collection[str] = ()
    since: str | datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The searchable items as SQL, whose they are, and how many chunks they have."""

    owner_id: int
    is_whole: bool
    items_sql: str
    params: dict[str, Any]
    chunks: int
    library_chunks: int

    @property
    def cte_sql(self) -> str:
        return f"scope AS MATERIALIZED (SELECT ARRAY({self.items_sql}) AS items)"

    @property
    def condition(self) -> str:
        """Holds for the rows of a search table that are in scope, once their owner is right."""
        if self.is_whole:
            return "item_id <> ALL((SELECT items FROM scope)::uuid[])"
        return "item_id = ANY((SELECT items FROM scope)::uuid[])"


def scope_of(access: Access, narrowing: Narrowing) -> Scope:
    """The one door, narrowed, in the form that the search statements take."""
    visible = Item.objects.visible_to(access).filter(in_kb=True)
    is_whole = access.folder_ids is None and narrowing == Narrowing()
    if is_whole:
        # Of a whole library, naming the few that are left out is far shorter than all the rest.
        sql, params = _as_sql(visible.filter(archived=True))
    else:
        sql, params = _as_sql(_narrowed(access, visible.filter(archived=False), narrowing))
    library_chunks, narrowed_chunks = _sizes(access.owner_id, "" if is_whole else sql, params)
    return Scope(
        owner_id=access.owner_id,
        is_whole=is_whole,
        items_sql=sql,
        params=params,
        chunks=library_chunks if is_whole else narrowed_chunks,
        library_chunks=library_chunks,
    )


def _sizes(owner_id: int, items_sql: str, params: dict[str, Any]) -> tuple[int, int]:
    """The chunks of the whole library, and of these items, from the counters kept on both."""
    narrowed = (
        f"(SELECT sum(chunk_count) FROM knowledge_item WHERE id IN ({items_sql}))"
        if items_sql
        else "0"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT chunks FROM knowledge_librarysize WHERE owner_id = %(owner)s), "
            + narrowed,
            {"owner": owner_id, **params},
        )
        library_chunks, narrowed_chunks = cursor.fetchone()
    return library_chunks or 0, narrowed_chunks or 0


def _narrowed(access: Access, items: ItemQuerySet, narrowing: Narrowing) -> ItemQuerySet:
    if narrowing.folder_id is not None:
        folder = Folder.objects.visible_to(access).filter(pk=narrowing.folder_id).first()
        if folder is None:
            raise NotFound("No such folder, or it is out of this token's reach.")
        items = items.filter(folders=folder)
    if narrowing.types:
        types = [one_of(name, ItemType.values, field="types") for name in narrowing.types]
        items = items.filter(type__in=types)
    if narrowing.tags:
        items = items.filter(tags__contains=clean_tags(narrowing.tags))
    if narrowing.since is not None:
        items = items.filter(created_at__gte=as_moment(narrowing.since, field="since"))
    return items


def _as_sql(items: ItemQuerySet) -> tuple[str, dict[str, Any]]:
    try:
        sql, values = items.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        sql, values = "SELECT NULL::uuid WHERE false", ()
    names = [f"scope_{n}" for n in range(len(values))]
    return sql % tuple(f"%({name})s" for name in names), dict(zip(names, values, strict=True))
