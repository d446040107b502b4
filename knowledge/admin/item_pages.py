"""What every page about items shares, whatever kind of items it shows."""

from typing import TypeVar

from django.contrib import admin
from django.contrib.postgres.search import SearchQuery
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.access import Access
from knowledge.admin.attributes import attributes_table
from knowledge.admin.base import AskAdmin, badge, pre_block
from knowledge.admin.quality import quality_table
from knowledge.admin.relations import relations_table
from knowledge.admin.suspicions import findings_table
from knowledge.admin.tables import page_of, table
from knowledge.library import items as library
from knowledge.models import ChunkText, IndexStatus, Item, Visibility

ItemT = TypeVar("ItemT", bound=Item)

_INDEX_COLOURS = {
    IndexStatus.DONE: "success",
    IndexStatus.KEYWORD: "info",
    IndexStatus.PENDING: "warning",
    IndexStatus.FAILED: "danger",
}
_SHARING_COLOURS = {Visibility.ORG: "info", Visibility.NETWORK: "success"}


class ItemPages(AskAdmin[ItemT]):
    """Lists and pages of items, found as the library's own search finds words."""

    owner_path = "owner"
    search_fields = ["custom_title", "content__title", "=id"]
    search_help_text = "Words from the title or text, a tag, or an id"
    ordering = ["-created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ItemT]:
        items = super().get_queryset(request).select_related("content", "owner")
        return items.prefetch_related("folders").defer("content__text", "content__locators")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ItemT], search_term: str
    ) -> tuple[QuerySet[ItemT], bool]:
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if words := search_term.strip():
            found |= queryset.filter(_mentions(words))
        return found, may_repeat

    @admin.display(
        description="title",
        ordering=Coalesce(NullIf(F("custom_title"), Value("")), F("content__title")),
    )
    def short_title(self, item: ItemT) -> str:
        return Truncator(item.title).chars(80)

    @badge("index", _INDEX_COLOURS)
    def index(self, item: ItemT) -> str:
        return item.index_status

    @badge("shared with", _SHARING_COLOURS)
    def visibility_badge(self, item: ItemT) -> tuple[str, str]:
        return item.visibility, item.get_visibility_display()

    @badge("suspected", {"quarantined": "danger", "suspected": "warning"})
    def suspicion_badge(self, item: ItemT) -> str | None:
        """Whether the item is quarantined, or only marked as suspected for its owner."""
        if item.quarantined:
            return "quarantined"
        return "suspected" if item.suspicions else None

    @admin.display(description="folders")
    def in_folders(self, item: ItemT) -> str:
        return ", ".join(folder.name for folder in item.folders.all())

    @admin.display(description="text")
    def text(self, item: ItemT) -> SafeString | str:
        return pre_block(item.content.text)

    @admin.display(description="attributes")
    def says(self, item: ItemT) -> SafeString:
        return attributes_table(item)

    @admin.display(description="relations")
    def relation_rows(self, item: ItemT) -> SafeString:
        return relations_table(item)

    @admin.display(description="quality")
    def quality_rows(self, item: ItemT) -> SafeString:
        return quality_table(item)

    @admin.display(description="found by the screening")
    def screening_findings(self, item: ItemT) -> SafeString:
        return findings_table(item.suspicions, empty="Nothing.")

    @admin.display(description="quarantine")
    def quarantine(self, item: ItemT) -> SafeString:
        rows = [
            [page_of(held, held.get_verdict_display()), held.get_reason_display(), held.at]
            for held in item.quarantines.all()
        ]
        return table(["Verdict", "Reason", "Since"], rows, empty="It has never been quarantined.")

    def ask_to_delete(self, obj: ItemT) -> None:
        library.delete_item(Access.whole_library(obj.owner_id), obj.pk)

    def consequences(self, obj: ItemT) -> list[str]:
        return [
            "Its text is deleted too, unless another item has the same source.",
            f"Passages that search will no longer find: {obj.chunk_count}.",
        ]


def _mentions(words: str) -> Q:
    """Items that say these words where full-text search reads them, or that bear them as a tag."""
    query = SearchQuery(words, config="english", search_type="websearch")
    return Q(pk__in=ChunkText.objects.filter(tsv=query).values("item_id")) | Q(
        tags__contains=[words]
    )
