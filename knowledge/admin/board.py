"""The task board: a column for each status, and cards that move where the workflow lets them."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.widgets import UnfoldAdminSelectWidget  # type: ignore[import-untyped]

from knowledge.access import Access
from knowledge.admin.base import ModelAdmin, Person, button, own_rows
from knowledge.errors import NotFound, QuarryError
from knowledge.memory.task_board import columns_of, move_task
from knowledge.models import Item, ItemType, Memory, Relation
from knowledge.models.attributes import MAX_REASON, TASK_STATUSES


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
        items = own_rows(request.user, Item.objects.all())
        columns = columns_of(_tasks(chosen, items), items=items, relations=Relation.objects.all())
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
    """Move a task of somebody's library, as its owner would."""
    task = tasks.filter(pk=task_id, type=ItemType.TASK).select_related("content").first()
    if task is None:
        raise NotFound("The task no longer exists.")
    move_task(Access.whole_library(task.owner_id), task.pk, stood=stood, to=to, reason=reason)
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
