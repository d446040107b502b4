from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from knowledge.admin.base import badge, link_to_url, pre_block
from knowledge.admin.item_forms import AddForm, ItemForm, add_by, update_by
from knowledge.admin.item_pages import ItemPages
from knowledge.admin.progress import COLOURS, RetryAdmin, progress_of
from knowledge.ingest import adding
from knowledge.models import (
    MEMORY_TYPES,
    REGISTRY_TYPES,
    ContentState,
    Item,
    ItemType,
    Transform,
    TransformState,
)

_GROUPS = {
    "library": [ItemType.DOCUMENT],
    "memory": [*MEMORY_TYPES],
    "registry": [*REGISTRY_TYPES],
}
_BECAME = {
    "ready": "It is ready, and search finds it.",
    "transcribing": "It is being transcribed. This page shows the progress.",
    "processing": "It is being processed. This page shows the progress.",
    "failed": "It has failed before. Try it again.",
}


class GroupFilter(admin.SimpleListFilter):
    title = "kind of item"
    parameter_name = "group"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(group, group.capitalize()) for group in _GROUPS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Item]) -> QuerySet[Item]:
        types = _GROUPS.get(self.value() or "")
        return queryset.filter(type__in=types) if types else queryset


class SummaryFilter(admin.SimpleListFilter):
    title = parameter_name = "summary"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(state.value, state.label) for state in TransformState]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Item]) -> QuerySet[Item]:
        state = self.value()
        return queryset.filter(transform__state=state) if state else queryset


@admin.register(Item)
class ItemAdmin(RetryAdmin[Item], ItemPages[Item]):
    list_display = [
        *("short_title", "owner", "what", "progress", "in_knowledge_base", "index"),
        *("suspicion_badge", "in_folders", "created_at"),
    ]
    list_filter = [
        GroupFilter,
        "content__state",
        "in_kb",
        "index_status",
        SummaryFilter,
        "archived",
        "quarantined",
        "visibility",
        "type",
        ("owner", admin.RelatedOnlyFieldListFilter),
        ("folders", admin.RelatedOnlyFieldListFilter),
    ]
    add_fieldsets = [
        (None, {"fields": ["owner", "url", "title", "text"]}),
        ("Filing", {"fields": ["tags", "folder_ids", "in_kb", "auto_transform"]}),
    ]
    fieldsets = [
        (None, {"fields": ["title", "tags", "folder_ids", "in_kb", "archived"]}),
        ("Source", {"fields": ["owner", "type", "kind", "source", "content"]}),
        ("Progress", {"fields": ["how_far", "failure"]}),
        ("Text", {"fields": ["text"]}),
        ("Attributes and relations", {"fields": ["says", "relation_rows"]}),
        (
            "Visibility and quality",
            {"fields": ["visibility", "quality_rows", "screening_findings", "quarantine"]},
        ),
        ("Index", {"fields": ["index", "index_error", "chunk_count"]}),
        ("Summary", {"fields": ["summary"]}),
        ("Origin", {"fields": ["id", "added_by_agent", "created_at", "updated_at"]}),
    ]
    _shown = [
        *("id", "owner", "type", "kind", "source", "content", "how_far", "failure", "text"),
        *(
            "says",
            "relation_rows",
            "visibility",
            "quality_rows",
            "screening_findings",
            "quarantine",
        ),
        *("index", "index_error", "chunk_count", "summary"),
        *("added_by_agent", "created_at", "updated_at"),
    ]

    @admin.display(description="kind", ordering="type")
    def what(self, item: Item) -> str:
        is_document = item.type == ItemType.DOCUMENT
        return item.content.kind if is_document else item.get_type_display()

    @admin.display(description="kind", ordering="content__kind")
    def kind(self, item: Item) -> str:
        return item.content.kind

    @badge("progress", COLOURS)
    def progress(self, item: Item) -> tuple[str, str]:
        return progress_of(item.content)

    @admin.display(description="state")
    def how_far(self, item: Item) -> str:
        return progress_of(item.content)[1]

    @admin.display(description="error")
    def failure(self, item: Item) -> SafeString | str:
        return pre_block(item.content.error)

    @admin.display(description="in KB", boolean=True, ordering="in_kb")
    def in_knowledge_base(self, item: Item) -> bool:
        return item.in_kb

    @admin.display(description="source")
    def source(self, item: Item) -> SafeString | str:
        return link_to_url(item.source_url or "")

    @admin.display(description="summary")
    def summary(self, item: Item) -> SafeString | str:
        transform = Transform.objects.filter(item=item).first()
        return pre_block(_summary_text(transform)) if transform else "none requested"

    def get_form(
        self, request: HttpRequest, obj: Item | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        kwargs["form"] = ItemForm if obj else AddForm
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Item | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        shown = ["title", "tags", "in_folders", "in_kb", "archived"]
        return [(None, {"fields": shown}), *fieldsets[1:]]

    def get_readonly_fields(self, request: HttpRequest, obj: Item | None = None) -> list[str]:
        return self._shown if obj else []

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"owner": request.user.pk, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Item, form: forms.Form, change: bool) -> None:
        if change:
            update_by(form, obj)
        else:
            added = add_by(form)
            obj.pk = added.item.pk
            self._tell(request, added)
        obj.refresh_from_db()

    def _tell(self, request: HttpRequest, added: adding.AddedItem) -> None:
        self.message_user(request, _BECAME[added.item.status], messages.INFO)
        if added.transform_error:
            self.message_user(request, added.transform_error, messages.WARNING)

    def item_of(self, request: HttpRequest, obj: Item) -> Item:
        return obj

    def has_failed(self, obj: Item) -> bool:
        return ContentState.FAILED in (obj.content.state, obj.index_status)


def _summary_text(transform: Transform) -> str:
    """A summary to read, or how far it is."""
    if transform.state != TransformState.DONE:
        return f"{transform.state}. {transform.error}".strip()
    points = [f"• {point}" for point in transform.key_points]
    quotes = [f"“{quote['text']}”" for quote in transform.quotes]
    origin = f"By {transform.model}, for ${transform.cost_usd}."
    return "\n\n".join(filter(None, [transform.tldr, "\n".join(points), *quotes, origin]))
