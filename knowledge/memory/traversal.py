"""Walks along relations that a caller sees; no path goes through a hidden item."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, F, Max, Q, When

from knowledge.access import Access
from knowledge.models import Relation
from knowledge.models.item import ItemQuerySet
from knowledge.models.relation import RelationQuerySet
from knowledge.retrieval import visibility_sql
from knowledge.retrieval.binary_cursor import fetch

DIRECTIONS = ("out", "in")
MAX_WALKED = 2_000
"""Items that one walk comes to at most."""
MAX_STEPS = 10_000
"""Relations that a walk reads at once."""


@dataclass(frozen=True, slots=True)
class Step:
    """A relation as it was walked; `out` is from its source to its target."""

    type: str
    direction: str
    weight: float
    to: UUID


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The relations to each of the first items next to one, and how many there are in all."""

    ways: dict[UUID, tuple[Step, ...]]
    total: int


@dataclass(frozen=True, slots=True)
class Walk:
    """The way to each item, nearest first, and whether there would have been more."""

    ways: dict[UUID, tuple[Step, ...]]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Needs:
    """What each item leans on, and whether there would have been more."""

    of: dict[UUID, list[UUID]]
    is_cut: bool


def relations_seen(access: Access, types: Collection[str]) -> RelationQuerySet:
    """Relations in force between items that the caller sees."""
    relations = Relation.objects.visible_to(access).in_force()
    return relations.filter(type__in=types) if types else relations


def neighbours(
    access: Access, item_id: UUID, *, types: Collection[str], among: ItemQuerySet, limit: int
) -> Neighbours:
    """Items one step away, those first to which the strongest and then the latest relation leads.

    The ways have every relation to each of them.
    """
    other = Case(When(source=item_id, then=F("target_id")), default=F("source_id"))
    relations = relations_seen(access, types).filter(Q(source=item_id) | Q(target=item_id))
    to_others = relations.annotate(other=other).filter(other__in=among.values("pk"))
    others = to_others.values("other").annotate(strongest=Max("weight"), latest=Max("valid_from"))
    first = others.order_by("-strongest", "-latest", "other")[:limit]
    ways: dict[UUID, tuple[Step, ...]] = {row["other"]: () for row in first}
    of_these = relations.filter(Q(source__in=ways) | Q(target__in=ways))
    for _, step in _steps(of_these, {item_id}):
        ways[step.to] += (step,)
    return Neighbours(ways, total=others.count())


def walk(access: Access, start: UUID, *, types: Collection[str], depth: int) -> Walk:
    """Breadth-first: one query for each step away, however many items are there."""
    ways: dict[UUID, tuple[Step, ...]] = {start: ()}
    frontier = {start}
    is_cut = False
    for _ in range(depth):
        if not frontier or is_cut:
            break
        ahead = Q(source__in=frontier) & ~Q(target__in=ways)
        behind = Q(target__in=frontier) & ~Q(source__in=ways)
        steps = _steps(relations_seen(access, types).filter(ahead | behind), frontier)
        reached: dict[UUID, tuple[Step, ...]] = {}
        for near, step in steps[:MAX_STEPS]:
            reached.setdefault(step.to, (*ways[near], step))
        room = MAX_WALKED + 1 - len(ways)
        is_cut |= len(steps) > MAX_STEPS or len(reached) > room
        frontier = set(list(reached)[:room])
        ways |= {each: way for each, way in reached.items() if each in frontier}
    del ways[start]
    return Walk(ways, is_cut)


def _steps(relations: RelationQuerySet, near: Collection[UUID]) -> list[tuple[UUID, Step]]:
    """Each relation as a step away from one of the near, the strongest first."""
    rows = relations.order_by("-weight", "-valid_from", "pk").values_list(
        "source_id", "target_id", "type", "weight"
    )
    return [
        (source, Step(kind, "out", weight, target))
        if source in near
        else (target, Step(kind, "in", weight, source))
        for source, target, kind, weight in rows[: MAX_STEPS + 1]
    ]


def needs_of(access: Access, starts: Collection[UUID], types: Collection[str]) -> Needs:
    """All that these lean on, and what that leans on, to the end: in one query."""
    relations = relations_seen(access, types).values("source_id", "target_id")
    sql, params = visibility_sql.sql_of(relations, "relation")
    counts = {"most_items": MAX_WALKED, "most_steps": MAX_STEPS + 1}
    rows = fetch(_NEEDS.format(relations=sql), {**params, **counts, "starts": list(starts)})
    needs: dict[UUID, list[UUID]] = {each: [] for each in starts}
    for row in rows[:MAX_STEPS]:
        needs.setdefault(row["source_id"], []).append(row["target_id"])
        needs.setdefault(row["target_id"], [])
    return Needs(needs, is_cut=len(rows) > MAX_STEPS or len(needs) > MAX_WALKED)


# What is counted is what is fetched: Postgres goes no further than the limit calls for.
_NEEDS = """
    WITH RECURSIVE seen AS MATERIALIZED ({relations}),
    reached (id) AS (
        SELECT unnest(%(starts)s::uuid[])
        UNION
        SELECT seen.target_id FROM reached JOIN seen ON seen.source_id = reached.id
    )
    SELECT source_id, target_id FROM seen
    WHERE source_id = ANY(ARRAY(SELECT id FROM reached LIMIT %(most_items)s))
    ORDER BY source_id, target_id LIMIT %(most_steps)s"""
