from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.search import SearchQuery
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge import ingestion, library
from knowledge.access import Access
from knowledge.admin.base import AskAdmin, badge, linked, preformatted
from knowledge.admin.item_forms import AddForm, ItemForm, add_by, update_by
from knowledge.admin.progress import COLOURS, RetryAdmin, progress_of
from knowledge.models import (
    ChunkText,
    ContentState,
    IndexStatus,
    Item,
    Transform,
    TransformState,
)

_INDEX_COLOURS = {
    IndexStatus.DONE: "success",
    IndexStatus.KEYWORD: "info",
    IndexStatus.PENDING: "warning",
    IndexStatus.FAILED: "danger",
}
_BECAME = {
    "ready": "It is ready: search finds it.",
    "transcribing": "It is being transcribed; this page tells how far that is.",
    "processing": "It is being read; this page tells how far that is.",
    "failed": "It failed before; try it again.",
}


@admin.register(Item)
class ItemAdmin(RetryAdmin[Item], AskAdmin[Item]):
    list_display = [
        *("shown_title", "owner", "kind", "progress", "searched", "index", "in_folders"),
        "created_at",
    ]
    list_filter = [
        "content__state",
        "in_kb",
        "index_status",
        "archived",
        "type",
        ("owner", admin.RelatedOnlyFieldListFilter),
        "folders",
    ]
    search_fields = ["custom_title", "content__title", "=id"]
    search_help_text = "Words of the title or the text, a whole tag, or an id"
    ordering = ["-created_at"]
    add_fieldsets = [
        (None, {"fields": ["owner", "url", "title", "text"]}),
        ("How it is kept", {"fields": ["tags", "folder_ids", "in_kb", "auto_transform"]}),
    ]
    fieldsets = [
        (None, {"fields": ["title", "tags", "folder_ids", "in_kb", "archived"]}),
        ("Source", {"fields": ["owner", "type", "kind", "source", "content"]}),
        ("Progress", {"fields": ["how_far", "failure"]}),
        ("Text", {"fields": ["text"]}),
        ("Index", {"fields": ["index", "index_error", "chunk_count"]}),
        ("Summary", {"fields": ["summary"]}),
        ("Origin", {"fields": ["id", "added_by_agent", "created_at", "updated_at"]}),
    ]
    _shown = [
        *("id", "owner", "type", "kind", "source", "content", "how_far", "failure", "text"),
        *("index", "index_error", "chunk_count", "summary"),
        *("added_by_agent", "created_at", "updated_at"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Item]:
        items = Item.objects.select_related("content", "owner").prefetch_related("folders")
        return items.defer("content__text", "content__locators")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Item], search_term: str
    ) -> tuple[QuerySet[Item], bool]:
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if words := search_term.strip():
            found |= queryset.filter(_mentions(words))
        return found, may_repeat

    @admin.display(
        description="title",
        ordering=Coalesce(NullIf(F("custom_title"), Value("")), F("content__title")),
    )
    def shown_title(self, item: Item) -> str:
        return Truncator(item.title).chars(80)

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
        return preformatted(item.content.error)

    @admin.display(description="in KB", boolean=True, ordering="in_kb")
    def searched(self, item: Item) -> bool:
        return item.in_kb

    @badge("index", _INDEX_COLOURS)
    def index(self, item: Item) -> str:
        return item.index_status

    @admin.display(description="folders")
    def in_folders(self, item: Item) -> str:
        return ", ".join(folder.name for folder in item.folders.all())

    @admin.display(description="source")
    def source(self, item: Item) -> SafeString | str:
        return linked(item.source_url or "")

    @admin.display(description="text")
    def text(self, item: Item) -> SafeString | str:
        return preformatted(item.content.text)

    @admin.display(description="summary")
    def summary(self, item: Item) -> SafeString | str:
        transform = Transform.objects.filter(item=item).first()
        return preformatted(_told(transform)) if transform else "not asked for"

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

    def _tell(self, request: HttpRequest, added: ingestion.Added) -> None:
        self.message_user(request, _BECAME[added.item.status], messages.INFO)
        if added.transform_error:
            self.message_user(request, added.transform_error, messages.WARNING)

    def item_of(self, obj: Item) -> Item:
        return obj

    def has_failed(self, obj: Item) -> bool:
        return ContentState.FAILED in (obj.content.state, obj.index_status)

    def ask_to_delete(self, obj: Item) -> None:
        library.delete_item(Access.whole_library(obj.owner_id), obj.pk)

    def consequences(self, obj: Item) -> list[str]:
        shared = obj.content.items.exclude(pk=obj.pk).exists()
        text = "Its text stays, for other items share it." if shared else "Its text goes with it."
        return [text, f"Passages that search no longer finds: {obj.chunk_count}."]


def _told(transform: Transform) -> str:
    """A summary to read, or how far it is."""
    if transform.state != TransformState.DONE:
        return f"{transform.state}. {transform.error}".strip()
    points = [f"• {point}" for point in transform.key_points]
    quotes = [f"“{quote['text']}”" for quote in transform.quotes]
    origin = f"By {transform.model}, for ${transform.cost_usd}."
    return "\n\n".join(filter(None, [transform.tldr, "\n".join(points), *quotes, origin]))


def _mentions(words: str) -> Q:
    """Items that say these words where full-text search reads them, or that bear them as a tag."""
    query = SearchQuery(words, config="english", search_type="websearch")
    return Q(pk__in=ChunkText.objects.filter(tsv=query).values("item_id")) | Q(
        tags__contains=[words]
    )
