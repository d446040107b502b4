"""What a search may touch: the items behind the one door, narrowed by what the caller asked."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from knowledge.access import Access
from knowledge.errors import NotFound
from knowledge.generations import live_generation
from knowledge.models import Folder, Generation, Item, ItemType
from knowledge.retrieval import door
from knowledge.retrieval.reading import fetch
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

    access: Access
    is_whole: bool
    items_sql: str
    params: dict[str, Any]
    chunks: int
    library_chunks: int
    leaves_out: bool
    """Whether a whole library has items that no search finds."""

    @property
    def owner_id(self) -> int:
        return self.access.owner_id

    @property
    def cte_sql(self) -> str:
        return f"scope AS MATERIALIZED (SELECT ARRAY({self.items_sql}) AS items)"

    @property
    def condition(self) -> str:
        """Holds for the rows of a search table that are in scope, once their owner is right."""
        if not self.is_whole:
            return "item_id = ANY((SELECT items FROM scope)::uuid[])"
        # Asked of every row of a whole library, even an empty list takes its time.
        return "item_id <> ALL((SELECT items FROM scope)::uuid[])" if self.leaves_out else "true"


def scope_of(access: Access, narrowing: Narrowing) -> tuple[Scope, Generation]:
    """The one door, narrowed, in the form that the search statements take; and what is live."""
    is_whole = access.folder_ids is None and narrowing == Narrowing()
    if is_whole:
        # Of a whole library, naming the few that are left out is far shorter than all the rest.
        sql, params = door.left_out(access)
    elif narrowing == Narrowing():
        sql, params = door.searchable(access)
    else:
        sql, params = _narrowed(access, narrowing)
    ground = fetch(
        _GROUND.format(measure=_measure(sql, is_whole)), {"owner": access.owner_id, **params}
    )[0]
    library_chunks = ground["library"] or 0
    scope = Scope(
        access=access,
        is_whole=is_whole,
        items_sql=sql,
        params=params,
        chunks=library_chunks if is_whole else ground["measure"] or 0,
        library_chunks=library_chunks,
        leaves_out=is_whole and bool(ground["measure"]),
    )
    return scope, _generation(ground)


# What a search stands on, in one round trip.
_GROUND = """
    SELECT live.*, {measure} AS measure,
        (SELECT chunks FROM knowledge_librarysize WHERE owner_id = %(owner)s) AS library
    FROM (VALUES (1)) AS one LEFT JOIN (
        SELECT id, embedder, model, dimensions, background
        FROM knowledge_generation WHERE is_live
    ) AS live ON true"""


def _measure(items_sql: str, is_whole: bool) -> str:
    """Whether anything is left out of a whole library; else the chunks of these items."""
    if is_whole:
        return f"EXISTS ({items_sql})"
    return f"(SELECT sum(chunk_count) FROM knowledge_item WHERE id IN ({items_sql}))"


def _generation(ground: DictRow) -> Generation:
    if ground["id"] is None:
        return live_generation()
    fields = ("id", "embedder", "model", "dimensions", "background")
    return Generation(is_live=True, **{name: ground[name] for name in fields})


def _narrowed(access: Access, narrowing: Narrowing) -> door.Sql:
    items = Item.objects.visible_to(access).filter(in_kb=True, archived=False)
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
    return door.written(items.values("pk"), "item")
