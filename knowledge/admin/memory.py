"""What agents remember, added and changed by the asks that agents use."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import SafeString
from unfold.views import ChangeList  # type: ignore[import-untyped]

from knowledge.admin.attributes import projects_of
from knowledge.admin.base import badge, button, own_rows
from knowledge.admin.board import BoardAdmin
from knowledge.admin.item_pages import ItemPages
from knowledge.admin.memory_forms import (
    AddMemoryForm,
    OtherForm,
    TaskForm,
    change_by,
    remember_by,
)
from knowledge.admin.tables import item_page
from knowledge.memory.remembering import RememberAnswer
from knowledge.memory.task_board import due_date, is_overdue
from knowledge.models import Item, ItemType, Memory
from knowledge.models.attributes import TASK_STATUSES

_STATUS_COLOURS = {
    "doing": "info",
    "review": "primary",
    "blocked": "danger",
    "done": "success",
    "todo": "warning",
}
MOST_CHOICES = 200


class AttributeFilter(admin.SimpleListFilter):
    """Items whose attribute is this, which one index answers."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        value = self.value()
        wanted = {self.parameter_name: value}
        return queryset.filter(attributes__contains=wanted) if value else queryset


class StatusFilter(AttributeFilter):
    title = parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(status, status.capitalize()) for status in TASK_STATUSES]


class ProjectFilter(AttributeFilter):
    title = parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        found = Item.objects.filter(type=ItemType.PROJECT).select_related("content")
        projects = own_rows(request.user, found)
        light = projects.defer("content__text", "content__locators").order_by("content__title")
        return [(str(project.pk), project.title) for project in light[:MOST_CHOICES]]


class CategoryFilter(AttributeFilter):
    title = parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        said = (
            own_rows(request.user, Memory.objects.all())
            .exclude(attributes__category=None)
            .order_by("attributes__category")
        )
        words = said.values_list("attributes__category", flat=True).distinct()[:MOST_CHOICES]
        return [(word, word) for word in words]


class MemoryList(ChangeList):  # type: ignore[misc]
    """A page of the list, with the projects that its items name looked up at once."""

    result_list: list[Any]

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = shown = list(self.result_list)
        projects = projects_of(shown)
        for item in shown:
            item.named_project = projects.get(str(item.attributes.get("project")))


@admin.register(Memory)
class MemoryAdmin(BoardAdmin, ItemPages[Memory]):
    list_display = [
        *("short_title", "type", "status", "project", "category", "due", "suspicion_badge"),
        *("owner", "updated_at"),
    ]
    list_filter = [
        "type",
        StatusFilter,
        ProjectFilter,
        CategoryFilter,
        "archived",
        "quarantined",
        ("owner", admin.RelatedOnlyFieldListFilter),
    ]
    exclude = ["content"]  # of the model; that of the forms is a text
    actions_list = ["board"]
    actions_detail = ["all_about_it"]
    add_fieldsets = [
        (None, {"fields": ["owner", "entity_type", "title", "content"]}),
        ("About", {"fields": ["project", "category", "languages", "tags"]}),
        ("Relations", {"fields": ["related_to"]}),
        ("Only for tasks", {"fields": ["priority", "assignees", "due_date", "depends_on"]}),
    ]
    _related = ("Attributes and relations", {"fields": ["says", "relation_rows"]})
    _origin = (
        "Origin",
        {"fields": ["id", "type", "owner", "added_by_agent", "created_at", "updated_at"]},
    )
    _task_fieldsets = [
        (None, {"fields": ["title", "content", "status", "project"]}),
        ("Assignment", {"fields": ["priority", "assignees", "due_date", "depends_on"]}),
        ("About", {"fields": ["category", "languages", "tags"]}),
        _related,
        _origin,
    ]
    _other_fieldsets = [
        (None, {"fields": ["title", "text", "tags", "in_kb", "archived"]}),
        _related,
        _origin,
    ]
    _shown = [
        *("says", "relation_rows", "text", "id", "type", "owner", "added_by_agent"),
        *("created_at", "updated_at"),
    ]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[MemoryList]:
        return MemoryList

    @badge("status", _STATUS_COLOURS)
    def status(self, item: Memory) -> str:
        return str(item.attributes.get("status") or "")

    @admin.display(description="project")
    def project(self, item: Memory) -> SafeString | str:
        named: Item | None = item.named_project  # type: ignore[attr-defined]
        return item_page(named) if named else ""

    @admin.display(description="category")
    def category(self, item: Memory) -> str:
        return str(item.attributes.get("category") or "")

    @badge("due", {True: "danger"})
    def due(self, item: Memory) -> tuple[bool, str] | None:
        due = due_date(item)
        return (is_overdue(item), f"{due:%Y-%m-%d}") if due else None

    # Its forms --------------------------------------------------------------------------

    def get_form(
        self, request: HttpRequest, obj: Memory | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        changing = TaskForm if obj and obj.type == ItemType.TASK else OtherForm
        kwargs["form"] = changing if obj else AddMemoryForm
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Memory | None = None) -> Any:
        if obj is None:
            return self.add_fieldsets
        if not self.has_change_permission(request, obj):
            shown = {"fields": ["short_title", "text", "tags"]}
            return [(None, shown), self._related, self._origin]
        return self._task_fieldsets if obj.type == ItemType.TASK else self._other_fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Memory | None = None) -> list[str]:
        return self._shown if obj else []

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"owner": request.user.pk, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Memory, form: forms.Form, change: bool) -> None:
        if change:
            change_by(form, obj)
        else:
            remembered = remember_by(form)
            obj.pk = remembered.item.pk
            self._tell(request, remembered)
        obj.refresh_from_db()

    def _tell(self, request: HttpRequest, remembered: RememberAnswer) -> None:
        for alike in remembered.conflicts.found:
            told = f"{alike.title} says nearly the same ({alike.similarity:.0%})."
            self.message_user(request, told, messages.WARNING)
        if remembered.suspected:
            told = f"It looks like orders to a model ({', '.join(remembered.suspected)})."
            self.message_user(request, told, messages.WARNING)

    @button("Open the item", permissions=["view"], url_path="item", icon="article")
    def all_about_it(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return redirect("admin:knowledge_item_change", object_id)
