"""The task board: a column for each status, and cards that move where the workflow lets them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Case, Count, IntegerField, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.widgets import UnfoldAdminSelectWidget  # type: ignore[import-untyped]

from knowledge.access import Access
from knowledge.admin.attributes import due_date, is_overdue, projects_of
from knowledge.admin.base import ModelAdmin, Person, button, own_rows
from knowledge.errors import Conflict, NotFound, QuarryError
from knowledge.memory import task_changes
from knowledge.memory.workflow import moves_from
from knowledge.models import Item, ItemType, Memory, Relation, RelationType
from knowledge.models.attributes import MAX_REASON, PRIORITIES, TASK_STATUSES

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


class BoardForm(forms.Form):
    """Whose tasks, and of which project."""

    owner = forms.ModelChoiceField(
        User.objects.filter(items__type=ItemType.TASK).distinct().order_by("username"),
        required=False,
        empty_label="Everybody",
        widget=UnfoldAdminSelectWidget,
    )
    project = forms.ModelChoiceField(
        Item.objects.filter(type=ItemType.PROJECT)
        .select_related("content")
        .defer("content__text", "content__locators")
        .order_by("content__title"),
        required=False,
        empty_label="Every project",
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, forms.ModelChoiceField) and field.queryset is not None:
                field.queryset = own_rows(person, field.queryset)


class MoveForm(forms.Form):
    """Which task goes where, and where it stood on the page that was looked at."""

    task = forms.UUIDField()
    reason = forms.CharField(required=False, max_length=MAX_REASON)
    stood = forms.ChoiceField(choices=[(status, status) for status in TASK_STATUSES])
    to = forms.ChoiceField(choices=[(status, status) for status in TASK_STATUSES])


class BoardAdmin(ModelAdmin[Memory]):
    """A page with all tasks on it."""

    @button("Task board", permissions=["view"], url_path="board", icon="view_kanban")
    def board(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            return self._handle_move(request)
        chosen = BoardForm(request.GET, person=request.user)
        columns = _columns(_tasks(chosen, own_rows(request.user, Item.objects.all())))
        context = {
            **self.admin_site.each_context(request),
            "title": "Task board",
            "is_fullwidth": "1",
            "chosen": chosen,
            "columns": columns,
            "has_tasks": any(column.count for column in columns),
            "is_narrowed": any(request.GET.values()),
            "may_move": self.has_change_permission(request),
        }
        return TemplateResponse(request, "admin/knowledge/memory/board.html", context)

    def _handle_move(self, request: HttpRequest) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        asked = MoveForm(request.POST)
        if asked.is_valid():
            self._move(request, **asked.cleaned_data)
        else:
            messages.error(request, "That is not a valid move. Use the buttons on the card.")
        query = urlencode({name: value for name, value in request.GET.items() if value})
        card = f"#task-{asked.cleaned_data['task']}" if "task" in asked.cleaned_data else ""
        return HttpResponseRedirect(f"{reverse('admin:knowledge_memory_board')}?{query}{card}")

    def _move(self, request: HttpRequest, *, task: UUID, stood: str, to: str, reason: str) -> None:
        try:
            moved = _move(self.get_queryset(request), task, stood=stood, to=to, reason=reason)
        except QuarryError as refusal:
            messages.error(request, refusal.message)
        else:
            self.log_change(request, moved, f"Moved from {stood} to {to}.")
            messages.success(request, f"{moved.title}: {to}.")


def _move(tasks: QuerySet[Memory], task_id: UUID, *, stood: str, to: str, reason: str) -> Memory:
    """Move a task that still stands where the page showed it."""
    task = tasks.filter(pk=task_id, type=ItemType.TASK).select_related("content").first()
    if task is None:
        raise NotFound("The task no longer exists.")
    status = task.attributes.get("status")
    if status != stood:
        raise Conflict(
            f"{task.title} has been moved: it is {status} now, and can go to "
            f"{', '.join(moves_from(str(status))) or 'nothing else'}."
        )
    access = Access.whole_library(task.owner_id)
    action, data = "update_task", {"status": to}
    if to == "blocked" and reason:
        action, data = "block_task", {"reason": reason}
    task_changes.manage(access, action=action, entity_id=task.pk, data=data)
    return task


def _tasks(chosen: BoardForm, items: QuerySet[Item]) -> QuerySet[Item]:
    tasks = items.filter(type=ItemType.TASK)
    if not chosen.is_valid():
        return tasks
    if owner := chosen.cleaned_data["owner"]:
        tasks = tasks.filter(owner=owner)
    if project := chosen.cleaned_data["project"]:
        tasks = tasks.filter(attributes__contains={"project": str(project.pk)})
    return tasks


def _columns(tasks: QuerySet[Item]) -> list[Column]:
    """As many queries for a thousand tasks as for one."""
    counts = dict(
        tasks.order_by()
        .annotate(status_now=KeyTextTransform("status", "attributes"))
        .values_list("status_now")
        .annotate(Count("pk"))
    )
    shown = {status: _in_status(tasks, status) for status in TASK_STATUSES if counts.get(status)}
    cards = _cards([task for column in shown.values() for task in column])
    return [
        Column(status, counts.get(status, 0), [cards[task.pk] for task in shown.get(status, ())])
        for status in TASK_STATUSES
    ]


def _in_status(tasks: QuerySet[Item], status: str) -> list[Item]:
    """What is most urgent first."""
    found = tasks.filter(attributes__contains={"status": status})
    found = found.select_related("content", "owner").defer("content__text", "content__locators")
    due = KeyTextTransform("due_date", "attributes").asc(nulls_last=True)
    return list(found.order_by(_PRIORITY, due, "-created_at")[:SHOWN])


def _cards(tasks: list[Item]) -> dict[UUID, Card]:
    projects = projects_of(tasks)
    waits = _waits(tasks)
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


def _waits(tasks: Iterable[Item]) -> dict[UUID, list[Item]]:
    """The unfinished tasks that each of these waits for."""
    depends = Relation.objects.in_force().filter(
        type=RelationType.DEPENDS_ON, source__in=[task.pk for task in tasks]
    )
    light = depends.select_related("target__content").defer("target__content__text")
    waits: dict[UUID, list[Item]] = {}
    for relation in light:
        if relation.target.attributes.get("status") not in _FINISHED:
            waits.setdefault(relation.source_id, []).append(relation.target)
    return waits
