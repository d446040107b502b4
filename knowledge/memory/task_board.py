"""The task board: a column for each status, and cards that move where the workflow lets them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, IntegerField, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.utils.timezone import localdate

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, not_found
from knowledge.memory import task_changes
from knowledge.memory.workflow import moves_from
from knowledge.models import Item, ItemType, Relation, RelationType
from knowledge.models.attributes import PRIORITIES, TASK_STATUSES
from knowledge.validation import id_or_none

SHOWN = 50
_COLLAPSED = {"archived"}
_FINISHED = ("done", "archived")
_PRIORITY = Case(
    *(
        When(attributes__contains={"priority": priority}, then=Value(rank))
        for rank, priority in enumerate(PRIORITIES)
    ),
    default=Value(len(PRIORITIES)),
    output_field=IntegerField(),
)


@dataclass(frozen=True, slots=True)
class Card:
    """A task as the board shows it."""

    task: Item
    project: Item | None
    due: date | None
    is_overdue: bool
    waits_for: Sequence[Item]
    moves: Sequence[str]


@dataclass(frozen=True, slots=True)
class Column:
    status: str
    count: int
    cards: Sequence[Card]

    @property
    def is_collapsed(self) -> bool:
        return self.status in _COLLAPSED or not self.cards

    @property
    def more(self) -> int:
        return self.count - len(self.cards)


def task_board(access: Access, *, project_id: UUID | None = None) -> list[Column]:
    """The tasks that the caller sees, or those of one project."""
    access.require(Capability.READ)
    items = Item.objects.visible_to(access)
    tasks = items.filter(type=ItemType.TASK)
    if project_id is not None:
        tasks = tasks.filter(attributes__contains={"project": str(project_id)})
    return columns_of(tasks, items=items, relations=Relation.objects.visible_to(access))


def list_projects(access: Access) -> list[Item]:
    """The projects that the caller sees, by title."""
    access.require(Capability.READ)
    projects = Item.objects.visible_to(access).filter(type=ItemType.PROJECT, archived=False)
    light = projects.select_related("content").defer("content__text", "content__locators")
    return sorted(light, key=lambda project: project.title.casefold())


def move_task(access: Access, task_id: UUID, *, stood: str, to: str, reason: str = "") -> Item:
    """Move a task that still stands where its board showed it."""
    tasks = Item.objects.visible_to(access).filter(type=ItemType.TASK)
    task = tasks.select_related("content").filter(pk=task_id).first()
    if task is None:
        raise not_found("task")
    status = task.attributes.get("status")
    if status != stood:
        raise Conflict(
            f"{task.title} has been moved: it is {status} now, and can go to "
            f"{', '.join(moves_from(str(status))) or 'nothing else'}."
        )
    action, data = "update_task", {"status": to}
    if to == "blocked" and reason:
        action, data = "block_task", {"reason": reason}
    task_changes.manage(access, action=action, entity_id=task.pk, data=data)
    return task


def columns_of(
    tasks: QuerySet[Item], *, items: QuerySet[Item], relations: QuerySet[Relation]
) -> list[Column]:
    """As many queries for a thousand tasks as for one; only these items and relations are told."""
    counts = dict(
        tasks.order_by()
        .annotate(status_now=KeyTextTransform("status", "attributes"))
        .values_list("status_now")
        .annotate(Count("pk"))
    )
    shown = {status: _in_status(tasks, status) for status in TASK_STATUSES if counts.get(status)}
    cards = _cards([task for column in shown.values() for task in column], items, relations)
    return [
        Column(status, counts.get(status, 0), [cards[task.pk] for task in shown.get(status, ())])
        for status in TASK_STATUSES
    ]


def is_overdue(item: Item) -> bool:
    """A day that is over, for work that is not."""
    due = due_date(item)
    return bool(due and due < localdate() and item.attributes.get("status") not in _FINISHED)


def due_date(item: Item) -> date | None:
    try:
        return date.fromisoformat(str(item.attributes.get("due_date") or ""))
    except ValueError:
        return None


def projects_of(tasks: Iterable[Item], items: QuerySet[Item]) -> dict[str, Item]:
    """The projects that these name, by their ids, in one query."""
    named = {id_or_none(str(task.attributes.get("project"))) for task in tasks}
    found = items.filter(pk__in=named - {None}).select_related("content")
    return {str(project.pk): project for project in found.defer("content__text")}


def _in_status(tasks: QuerySet[Item], status: str) -> list[Item]:
    """What is most urgent first."""
    found = tasks.filter(attributes__contains={"status": status})
    found = found.select_related("content", "owner").defer("content__text", "content__locators")
    due = KeyTextTransform("due_date", "attributes").asc(nulls_last=True)
    return list(found.order_by(_PRIORITY, due, "-created_at")[:SHOWN])


def _cards(
    tasks: list[Item], items: QuerySet[Item], relations: QuerySet[Relation]
) -> dict[UUID, Card]:
    projects = projects_of(tasks, items)
    waits = _waits(tasks, relations)
    return {
        task.pk: Card(
            task,
            projects.get(str(task.attributes.get("project"))),
            due_date(task),
            is_overdue(task),
            waits.get(task.pk, []),
            moves_from(str(task.attributes.get("status"))),
        )
        for task in tasks
    }


def _waits(tasks: Iterable[Item], relations: Any) -> dict[UUID, list[Item]]:
    """The unfinished tasks that each of these waits for."""
    depends = relations.in_force().filter(
        type=RelationType.DEPENDS_ON, source__in=[task.pk for task in tasks]
    )
    light = depends.select_related("target__content").defer("target__content__text")
    waits: dict[UUID, list[Item]] = {}
    for relation in light:
        if relation.target.attributes.get("status") not in _FINISHED:
            waits.setdefault(relation.source_id, []).append(relation.target)
    return waits
