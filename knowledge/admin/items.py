from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.postgres.search import SearchQuery
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from unfold.widgets import (  # type: ignore[import-untyped]
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from knowledge import ingestion, library
from knowledge.access import Access
from knowledge.admin.base import AskAdmin, badge, preformatted
from knowledge.admin.fields import FiledForm, LinesField
from knowledge.models import ChunkText, IndexStatus, Item

_INDEX_COLOURS = {
    IndexStatus.DONE: "success",
    IndexStatus.KEYWORD: "info",
    IndexStatus.PENDING: "warning",
    IndexStatus.FAILED: "danger",
}
_EDITED = ("title", "tags", "in_kb", "archived")


class ItemForm(FiledForm[Item]):
    title = forms.CharField(max_length=ingestion.MAX_TITLE, widget=UnfoldAdminTextInputWidget)
    tags = LinesField(required=False, help_text="One tag to a line.")

    class Meta:
        model = Item
        fields = ["tags", "in_kb", "archived"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        item = self.instance
        folders = self.fields.get("folder_ids")
        if isinstance(folders, forms.ModelMultipleChoiceField) and folders.queryset is not None:
            folders.queryset = folders.queryset.filter(owner_id=item.owner_id)
        self.initial["title"] = item.title
        self.initial["folder_ids"] = list(item.filings.values_list("folder_id", flat=True))


class AddTextForm(FiledForm[Item]):
    """A text, as its owner in person would add it."""

    title = ItemForm.base_fields["title"]
    text = forms.CharField(strip=False, widget=UnfoldAdminTextareaWidget({"rows": 16}))
    tags = ItemForm.base_fields["tags"]

    class Meta:
        model = Item
        fields = ["owner", "in_kb"]

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")  # how browsers send line breaks

    def is_multipart(self) -> bool:
        return True  # otherwise a long text in most scripts is nine bytes a character


@admin.register(Item)
class ItemAdmin(AskAdmin[Item]):
    list_display = ["shown_title", "owner", "type", "in_kb", "index", "in_folders", "created_at"]
    list_filter = [
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
    add_fieldsets = [(None, {"fields": ["owner", "title", "text", "tags", "folder_ids", "in_kb"]})]
    fieldsets = [
        (None, {"fields": ["title", "tags", "folder_ids", "in_kb", "archived"]}),
        ("Source", {"fields": ["owner", "type", "source", "text"]}),
        ("Index", {"fields": ["index", "index_error", "chunk_count"]}),
        ("Origin", {"fields": ["id", "added_by_agent", "created_at", "updated_at"]}),
    ]
    _shown = [
        *("id", "owner", "type", "source", "text", "index", "index_error", "chunk_count"),
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

    @badge("index", _INDEX_COLOURS)
    def index(self, item: Item) -> str:
        return item.index_status

    @admin.display(description="folders")
    def in_folders(self, item: Item) -> str:
        return ", ".join(folder.name for folder in item.folders.all())

    @admin.display(description="source")
    def source(self, item: Item) -> SafeString | str:
        url = item.source_url or ""
        if not url.startswith(("http://", "https://")):
            return url
        return format_html('<a class="text-link" rel="noreferrer" href="{0}">{0}</a>', url)

    @admin.display(description="text")
    def text(self, item: Item) -> SafeString | str:
        return preformatted(item.content.text)

    def get_form(
        self, request: HttpRequest, obj: Item | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        kwargs["form"] = ItemForm if obj else AddTextForm
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
            _update(obj, form)
        else:
            obj.pk = _add(form).pk
        obj.refresh_from_db()

    def ask_to_delete(self, obj: Item) -> None:
        library.delete_item(Access.whole_library(obj.owner_id), obj.pk)

    def consequences(self, obj: Item) -> list[str]:
        shared = obj.content.items.exclude(pk=obj.pk).exists()
        text = "Its text stays, for other items share it." if shared else "Its text goes with it."
        return [text, f"Passages that search no longer finds: {obj.chunk_count}."]


def _add(form: forms.Form) -> Item:
    asked = form.cleaned_data
    access = Access.whole_library(asked["owner"].pk)
    text = {name: asked[name] for name in ("title", "text", "tags", "in_kb")}
    item = ingestion.add_text(access, **text)
    if folder_ids := {folder.pk for folder in asked["folder_ids"]}:
        library.file_item(access, item.pk, folder_ids)
    return item


def _update(item: Item, form: forms.Form) -> None:
    access = Access.whole_library(item.owner_id)
    asked = form.cleaned_data
    changes = {name: asked[name] for name in form.changed_data if name in _EDITED}
    library.update_item(access, item.pk, library.ItemChanges(**changes))
    wanted = {folder.pk for folder in asked["folder_ids"]}
    filed = set(item.filings.values_list("folder_id", flat=True))
    if wanted - filed:
        library.file_item(access, item.pk, wanted - filed)
    for folder_id in filed - wanted:
        library.unfile_item(access, item.pk, folder_id)


def _mentions(words: str) -> Q:
    """Items that say these words where full-text search reads them, or that bear them as a tag."""
    query = SearchQuery(words, config="english", search_type="websearch")
    return Q(pk__in=ChunkText.objects.filter(tsv=query).values("item_id")) | Q(
        tags__contains=[words]
    )
