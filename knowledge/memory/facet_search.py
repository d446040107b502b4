"""Finds what is relevant to a goal, by facet: by search, by relations, and the newest items."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Left
from psycopg.rows import DictRow

from knowledge.access import Access
from knowledge.memory.facets import OPEN_STATUSES, SOUGHT, Facet
from knowledge.memory.traversal import relations_seen
from knowledge.models import ItemType, RelationType
from knowledge.models.item import ItemQuerySet, rules_of
from knowledge.retrieval.scope import Narrowing, items_within
from knowledge.retrieval.search import rank
from knowledge.retrieval.statement import Shown

FLOOR = 0.1
"""Scores below it are those of texts that have nothing to do with the goal."""
OWN_PROJECT = 1.25
"""How much more an item counts that belongs to the project asked about."""

_OPERATORS = re.compile(r'["“”*]|(?<!\S)-')
_LISTED_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetHit:
    """An item that may go into a context; without a score it was listed, not searched."""

    item_id: UUID
    type: str
    title: str
    text: str
    url: str | None
    attributes: dict[str, Any]
    tags: list[str]
    created_at: datetime
    suspected: list[str]
    score: float | None = None
    decides: str = ""


@dataclass(frozen=True, slots=True)
class FacetHits:
    """Every item in its one facet, best first, and the goal's words as the search read them."""

    by_facet: dict[Facet, list[FacetHit]]
    words: Sequence[str]
    degraded: str | None


def gather(access: Access, goal: str, *, project: UUID | None, limit: int) -> FacetHits:
    """At most so many items for each facet, out of what a search may find for this caller."""
    query, mode = _plainly(goal), "hybrid"
    found: dict[Facet, dict[UUID, FacetHit]] = {}
    words: Sequence[str] = ()
    degraded = None
    for facet, narrowing in SOUGHT.items():
        if facet is Facet.ACTIVE_WORK:
            narrowing = replace(narrowing, project=project)
        ranking = rank(
            access,
            query=query,
            mode=mode,
            limit=2 * limit,
            narrowing=narrowing,
            shown=Shown.IN_FULL,
        )
        # An embedder that is away is not waited for again.
        mode, degraded = ranking.mode, degraded or ranking.degraded
        words = ranking.words.spoken if ranking.words else ()
        found[facet] = _best_of_each(ranking.rows, project)
    found[Facet.DECISIONS] |= _decisions(access, found.values(), project, limit)
    return FacetHits(_each_once(access, found, project, limit), words, degraded)


def _plainly(goal: str) -> str:
    """A goal is no query: its quotation marks, stars and dashes ask for nothing."""
    plain = " ".join(_OPERATORS.sub(" ", goal).split())
    return plain or goal


def _best_of_each(rows: Iterable[DictRow], project: UUID | None) -> dict[UUID, FacetHit]:
    found: dict[UUID, FacetHit] = {}
    for row in rows:
        if row["item_id"] in found:
            continue
        is_own = project and row["attributes"].get("project") == str(project)
        score = min(1.0, row["score"] * (OWN_PROJECT if is_own else 1))
        if score >= FLOOR:
            found[row["item_id"]] = FacetHit(
                item_id=row["item_id"],
                type=row["type"],
                title=row["custom_title"] or row["title"],
                text=row["text"],
                url=row["url"] or None,
                attributes=row["attributes"],
                tags=row["tags"],
                created_at=row["created_at"],
                suspected=rules_of(row["suspicions"]),
                score=score,
            )
    return found


def _decisions(
    access: Access, found: Iterable[dict[UUID, FacetHit]], project: UUID | None, limit: int
) -> dict[UUID, FacetHit]:
    """What decides something that was found, or was found and decides something."""
    known = {item_id: each for group in found for item_id, each in group.items()}
    targets = [*known, *([project] if project else [])]
    touching = Q(target__in=targets) | Q(source__in=known)
    about = relations_seen(access, [RelationType.DECIDES]).filter(touching)
    rows = about.exclude(source__type=ItemType.TASK).order_by("-weight", "-valid_from", "pk")
    made = {row.source_id: row for row in rows.select_related("target__content")[: 2 * limit][::-1]}
    unknown = items_within(access, Narrowing()).filter(pk__in=made.keys() - known.keys())
    decisions = {each.item_id: each for each in _list_newest(unknown, limit)} | known
    return {
        item_id: replace(
            decisions[item_id],
            decides=row.target.title,
            score=_higher(decisions[item_id].score, known.get(row.target_id), row.weight),
        )
        for item_id, row in made.items()
        if item_id in decisions
    }


def _higher(own: float | None, target: FacetHit | None, weight: float) -> float | None:
    """Its own score, or what comes to it from what it decides."""
    if target is None or target.score is None:
        return own
    return max(own or 0.0, target.score * weight)


def _each_once(
    access: Access, found: dict[Facet, dict[UUID, FacetHit]], project: UUID | None, limit: int
) -> dict[Facet, list[FacetHit]]:
    placed: set[UUID] = set()
    by_facet: dict[Facet, list[FacetHit]] = {}
    for facet in Facet:
        fresh = [each for each in found.get(facet, {}).values() if each.item_id not in placed]
        best = sorted(fresh, key=lambda each: -(each.score or 0))[:limit]
        placed |= {each.item_id for each in best}
        if len(best) < limit:
            best += _more_of(access, facet, project, without=placed, limit=limit - len(best))
        placed |= {each.item_id for each in best}
        by_facet[facet] = best
    return by_facet


def _more_of(
    access: Access, facet: Facet, project: UUID | None, *, without: Collection[UUID], limit: int
) -> list[FacetHit]:
    """What belongs in a facet whether or not it matches: a project's open tasks, new episodes."""
    if facet is Facet.ACTIVE_WORK and project:
        wanted = Narrowing(types=[ItemType.TASK], statuses=OPEN_STATUSES, project=project)
    elif facet is Facet.RECENT_MEMORY:
        wanted = Narrowing(types=[ItemType.EPISODE])
    else:
        return []
    return _list_newest(items_within(access, wanted).exclude(pk__in=without), limit)


def _list_newest(items: ItemQuerySet, limit: int) -> list[FacetHit]:
    rows = items.newest_first().values_list(
        *("pk", "type", "custom_title", "content__title", "content__url", "attributes", "tags"),
        *("created_at", "suspicions"),
        Left("content__text", _LISTED_CHARS),
    )
    return [
        FacetHit(
            item_id=pk,
            type=kind,
            title=own_title or title,
            text=text,
            url=url or None,
            attributes=attributes,
            tags=tags,
            created_at=created_at,
            suspected=rules_of(suspicions),
        )
        for pk, kind, own_title, title, url, attributes, tags, created_at, suspicions, text in rows[
            :limit
        ]
    ]
