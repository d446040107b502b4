"""Finding skills and knowledge units: by the one search engine, or newest first."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.db.models.functions import MD5, Lower

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput
from knowledge.models import UNIT_TYPES, Item
from knowledge.registry.published_items import (
    TYPES,
    PublishedItem,
    with_current_versions,
    with_shown_columns,
)
from knowledge.registry.reading import SKILLS
from knowledge.retrieval.duplicates import Copy
from knowledge.retrieval.scope import Narrowing, Reach, narrow
from knowledge.retrieval.search import Ranking, rank
from knowledge.retrieval.statement import Shown
from knowledge.validation import one_of, within

MAX_SKILLS = 20
MAX_UNITS = 10
MAX_OFFSET = 500
SKILL_QUALITY = 0.7
UNIT_QUALITY = 0.75

_PIECES_EACH = 4
"""How many matching chunks of one item are expected; with more, the engine is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """Some of what is published, in its order, and whether more follows."""

    results: list[PublishedItem]
    offset: int
    has_more: bool
    degraded: str | None = None


def find_skills(
    access: Access,
    *,
    query: str | None = None,
    domain: str | None = None,
    tags: Collection[str] = (),
    min_quality: float | None = None,
    limit: int = 5,
    offset: int = 0,
) -> SearchPage:
    """The skills published to the caller that answer best; without a query, the newest."""
    within(limit, field="limit", low=1, high=MAX_SKILLS)
    narrowing = Narrowing(types=SKILLS, domain=domain, tags=tags)
    narrowing = _with_quality_floor(narrowing, min_quality, query, SKILL_QUALITY)
    return _find(access, query, narrowing, limit=limit, offset=offset)


def find_knowledge(
    access: Access,
    *,
    query: str | None = None,
    types: Collection[str] = (),
    domain: str | None = None,
    min_quality: float | None = None,
    limit: int = 5,
    schema_version: str | None = None,
    offset: int = 0,
) -> SearchPage:
    """The units published to the caller that answer best; without a query, the newest."""
    within(limit, field="limit", low=1, high=MAX_UNITS)
    wanted = [TYPES[one_of(name, list(TYPES), field="types")] for name in types]
    narrowing = Narrowing(types=wanted or UNIT_TYPES, domain=domain, schema_version=schema_version)
    narrowing = _with_quality_floor(narrowing, min_quality, query, UNIT_QUALITY)
    return _find(access, query, narrowing, limit=limit, offset=offset)


def _with_quality_floor(
    narrowing: Narrowing, asked: float | None, query: str | None, usual: float
) -> Narrowing:
    """With the least quality: of a search for what others share there is a usual one.

    Who names the usual one has what everybody has: a tool's default is sent like any value.
    """
    if query is not None and asked in (None, usual):
        return replace(narrowing, least_of_others=usual)
    if asked is None:
        return narrowing
    if not 0 <= asked <= 1:
        raise InvalidInput(
            f"min_quality must be between 0 and 1; it is {asked}.",
            field="min_quality",
            minimum=0,
            maximum=1,
        )
    # At 0 nothing is left out, not even what has no score yet.
    return replace(narrowing, min_quality=asked or None)


def _find(
    access: Access, query: str | None, narrowing: Narrowing, *, limit: int, offset: int
) -> SearchPage:
    access.require(Capability.READ)
    within(offset, field="offset", low=0, high=MAX_OFFSET)
    if query is None:
        return _newest(access, narrowing, limit=limit, offset=offset)
    return _best(access, query, narrowing, limit=limit, offset=offset)


def _newest(access: Access, narrowing: Narrowing, *, limit: int, offset: int) -> SearchPage:
    items = narrow(access, Item.objects.published_to(access).filter(archived=False), narrowing)
    rows = list(with_shown_columns(items).newest_first()[offset : offset + limit + 1])
    return SearchPage(
        results=with_current_versions(rows[:limit], {}), offset=offset, has_more=len(rows) > limit
    )


def _best(
    access: Access, query: str, narrowing: Narrowing, *, limit: int, offset: int
) -> SearchPage:
    ranking, places = _rank_items(access, query, narrowing, wanted=offset + limit + 1)
    page = {place.item_id: place for place in places[offset : offset + limit]}
    items = with_shown_columns(Item.objects.published_to(access)).in_bulk(page)
    results = with_current_versions(
        [items[each] for each in page if each in items],
        {place.item_id: place.score for place in page.values()},
    )
    return SearchPage(
        results=[replace(each, copies=tuple(page[each.id].copies)) for each in results],
        offset=offset,
        has_more=len(places) > offset + limit,
        degraded=ranking.degraded,
    )


@dataclass(slots=True)
class _Place:
    """An item of the answer, and those that have the very same text."""

    item_id: UUID
    score: float
    copies: list[Copy] = field(default_factory=list)


def _rank_items(
    access: Access, query: str, narrowing: Narrowing, *, wanted: int
) -> tuple[Ranking, list[_Place]]:
    """The best items in their order; more chunks are asked for until there are enough."""
    chunks = wanted * _PIECES_EACH
    while True:
        ranking = rank(
            access,
            query=query,
            mode="hybrid",
            limit=chunks,
            narrowing=narrowing,
            reach=Reach.REGISTRY,
            shown=Shown.IN_BRIEF,
        )
        scores: dict[UUID, float] = {}
        for row in ranking.rows:
            scores.setdefault(row["item_id"], row["score"])
        places = _without_copies(access, scores)
        if len(places) >= wanted or len(ranking.rows) < chunks:
            return ranking, places
        chunks *= _PIECES_EACH


def _without_copies(access: Access, scores: Mapping[UUID, float]) -> list[_Place]:
    """One place for each title and text; of several copies the caller's own takes it."""
    items = Item.objects.published_to(access).filter(pk__in=scores)
    rows = items.values_list(
        "pk", "owner_id", "custom_title", "content__title", MD5(Lower("content__text"))
    )
    known = {pk: (owner, Copy(pk, own or title), text) for pk, owner, own, title, text in rows}
    places: dict[tuple[str, str], _Place] = {}
    for item_id in scores:
        if item_id not in known:
            continue
        owner_id, copy, text = known[item_id]
        key = (text, copy.title.casefold())
        place = places.setdefault(key, _Place(item_id, scores[item_id]))
        if place.item_id == item_id:
            continue
        if owner_id == access.owner_id != known[place.item_id][0]:
            place.item_id, copy = item_id, known[place.item_id][1]
        place.copies.append(copy)
    return list(places.values())
