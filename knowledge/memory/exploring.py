"""Lists and walks over memory: items and their relations, as far as the caller may see them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Left

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput
from knowledge.memory.relations import visible_items
from knowledge.memory.requests import statuses_of
from knowledge.memory.task_order import Plan, Standing, TaskState, plan_of
from knowledge.memory.traversal import (
    MAX_WALKED,
    Step,
    needs_of,
    neighbours,
    relations_seen,
    walk,
)
from knowledge.models import MEMORY_TYPES, Item, ItemType, RelationType
from knowledge.models.item import ItemQuerySet
from knowledge.retrieval.scope import Narrowing, narrow
from knowledge.validation import one_of, within

MAX_DEPTH = 3
MAX_LIMIT = 200
EXCERPT = 200
_TOLD = ("status", "priority", "project", "category", "languages", "assignees", "due_date")
_PLANNED = (ItemType.TASK, ItemType.PROJECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An item of an answer, and how one comes to it."""

    item: Item
    excerpt: str
    superseded_by: UUID | None
    distance: int | None
    relations: tuple[Step, ...]
    """Every relation to it, or of a longer way one for each step."""
    task: TaskState | None

    @property
    def metadata(self) -> dict[str, Any]:
        """The item's attributes that callers can filter by; empty ones are left out."""
        item = self.item
        told = {name: item.told_attributes.get(name) for name in _TOLD}
        told |= {"tags": item.tags, "archived": item.archived, "suspected": item.suspected}
        return {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What was found, in the order of its mode; the total counts what the caller sees."""

    mode: str
    nodes: list[Node]
    total: int
    cycles: list[list[Item]] = field(default_factory=list)
    is_cut: bool = False
    """Whether the walk ended before the graph did; then the total is that of the walk."""
    untrusted: ClassVar[bool] = True

    @property
    def has_more(self) -> bool:
        return self.is_cut or self.total > len(self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRequest:
    """A list of memory, or a walk from one item along the relations in force.

    Types, language, category, project and status narrow what is shown; relationship_types where
    the walk goes.
    """

    mode: str = "list"
    types: Collection[str] = ()
    entity_id: UUID | None = None
    relationship_types: Collection[str] = ()
    depth: int = 1
    language: str | None = None
    category: str | None = None
    project: UUID | None = None
    status: str | None = None
    limit: int = 50

    @property
    def statuses(self) -> Collection[str]:
        return () if self.status is None else statuses_of(self.status)

    def check(self) -> None:
        """Refuse what is outside its rule."""
        one_of(self.mode, MODES, field="mode")
        for name in self.types:
            one_of(name, ItemType.values, field="types")
        for name in self.relationship_types:
            one_of(name, RelationType.values, field="relationship_types")
        within(self.depth, field="depth", low=1, high=MAX_DEPTH)
        within(self.limit, field="limit", low=1, high=MAX_LIMIT)
        if self.status is not None:
            statuses_of(self.status)
        _check_entity_id(self.mode, self.entity_id)

    def matches(self, access: Access) -> ItemQuerySet:
        """All that may be shown."""
        narrowing = Narrowing(
            types=self.types, language=self.language, category=self.category, project=self.project
        )
        items = narrow(access, Item.objects.visible_to(access), narrowing)
        if self.statuses:
            items = items.filter(_in_status(self.statuses))
        return items

    def visible_among(self, access: Access, ids: Collection[UUID]) -> list[UUID]:
        """Those of the ids that may be shown, in their order."""
        allowed = set(self.matches(access).filter(pk__in=ids).values_list("pk", flat=True))
        return [each for each in ids if each in allowed]


def explore(access: Access, request: ExploreRequest) -> Exploration:
    """What was asked for; nothing that the caller does not see is shown, counted or walked on."""
    access.require(Capability.READ)
    request.check()
    if request.entity_id is None:
        return _list(access, request)
    (entity,) = visible_items(access, [request.entity_id])
    return _WALKS[request.mode](access, request, entity)


def _check_entity_id(mode: str, entity_id: UUID | None) -> None:
    if mode == "list" and entity_id is not None:
        raise InvalidInput("entity_id is for the other modes; list takes none.", field="entity_id")
    if mode != "list" and entity_id is None:
        raise InvalidInput(f'entity_id is required when mode is "{mode}".', field="entity_id")


def _list(access: Access, request: ExploreRequest) -> Exploration:
    items = request.matches(access).filter(type__in=request.types or MEMORY_TYPES)
    if "archived" not in request.statuses:
        items = items.exclude(_in_status(["archived"]))
    ids = list(items.newest_first().values_list("pk", flat=True)[: request.limit])
    return Exploration(mode="list", nodes=_nodes(access, ids), total=items.count())


def _explore_related(access: Access, request: ExploreRequest, entity: Item) -> Exploration:
    found = neighbours(
        access,
        entity.pk,
        types=request.relationship_types,
        among=request.matches(access),
        limit=request.limit,
    )
    distances = dict.fromkeys(found.ways, 1)
    nodes = _nodes(access, list(found.ways), ways=found.ways, distances=distances)
    return Exploration(mode="related", nodes=nodes, total=found.total)


def _traverse(access: Access, request: ExploreRequest, entity: Item) -> Exploration:
    walked = walk(access, entity.pk, types=request.relationship_types, depth=request.depth)
    ids = request.visible_among(access, walked.ways)
    return Exploration(
        mode="traverse",
        nodes=_nodes(
            access,
            ids[: request.limit],
            ways=walked.ways,
            distances={each: len(way) for each, way in walked.ways.items()},
        ),
        total=len(ids),
        is_cut=walked.is_cut,
    )


def _dependencies(access: Access, request: ExploreRequest, entity: Item) -> Exploration:
    if entity.type not in _PLANNED:
        raise InvalidInput(
            f"dependencies are those of a task or a project; this one is of type {entity.type}.",
            field="entity_id",
        )
    starts = [entity.pk]
    if entity.type == ItemType.PROJECT:
        starts = _tasks_of(access, entity)
    needs = needs_of(
        access, starts[:MAX_WALKED], request.relationship_types or [RelationType.DEPENDS_ON]
    )
    plan = plan_of(_standings(access, needs.of), needs.of)
    ids = request.visible_among(access, plan.order)
    return Exploration(
        mode="dependencies",
        nodes=_nodes(access, ids[: request.limit], tasks=plan.states),
        total=len(ids),
        cycles=_items_of_cycles(access, plan),
        is_cut=needs.is_cut or len(starts) > MAX_WALKED,
    )


_WALKS = {"related": _explore_related, "traverse": _traverse, "dependencies": _dependencies}
MODES = ("list", *_WALKS)


def _in_status(statuses: Collection[str]) -> Q:
    """Archived is what a task's status says, and what any item can be besides."""
    found = Q(archived=True) if "archived" in statuses else Q()
    for status in statuses:
        found |= Q(attributes__contains={"status": status})
    return found


def _tasks_of(access: Access, project: Item) -> list[UUID]:
    tasks = Item.objects.visible_to(access).filter(
        type=ItemType.TASK, attributes__contains={"project": str(project.pk)}
    )
    return list(tasks.newest_first().values_list("pk", flat=True)[: MAX_WALKED + 1])


def _standings(access: Access, ids: Collection[UUID]) -> dict[UUID, Standing]:
    rows = Item.objects.visible_to(access).filter(pk__in=ids).order_by("created_at", "pk")
    return {
        item_id: Standing(kind == ItemType.TASK, status, archived)
        for item_id, kind, status, archived in rows.values_list(
            "pk", "type", "attributes__status", "archived"
        )
    }


def _items_of_cycles(access: Access, plan: Plan) -> list[list[Item]]:
    ids = {each for cycle in plan.cycles for each in cycle}
    items = (
        Item.objects.visible_to(access)
        .select_related("content")
        .defer("content__text")
        .in_bulk(ids)
    )
    return [[items[each] for each in cycle if each in items] for cycle in plan.cycles]


_NONE: Mapping[UUID, Any] = {}


def _nodes(
    access: Access,
    ids: Sequence[UUID],
    *,
    ways: Mapping[UUID, tuple[Step, ...]] = _NONE,
    distances: Mapping[UUID, int] = _NONE,
    tasks: Mapping[UUID, TaskState] = _NONE,
) -> list[Node]:
    rows = Item.objects.visible_to(access).filter(pk__in=ids)
    excerpts = dict(rows.values_list("pk", Left("content__text", EXCERPT)))
    told = rows.with_attributes_for(access).select_related("content")
    found = told.defer("content__text", "content__locators").in_bulk()
    successors = _successors(access, ids)
    return [
        Node(
            item=item,
            excerpt=excerpts.get(item.pk, ""),
            superseded_by=successors.get(item.pk),
            distance=distances.get(item.pk),
            relations=ways.get(item.pk, ()),
            task=tasks.get(item.pk),
        )
        for item in map(found.get, ids)
        if item is not None  # deleted since it was found
    ]


def _successors(access: Access, ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """What has taken the place of each, the latest of them."""
    relations = relations_seen(access, [RelationType.SUPERSEDES]).filter(source__archived=False)
    rows = relations.filter(target__in=ids).order_by("valid_from", "pk")
    return dict(rows.values_list("target_id", "source_id"))
