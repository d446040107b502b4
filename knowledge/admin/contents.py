from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.admin.base import ReadOnlyAdmin, badge, preformatted
from knowledge.models import Content, TranscriptionStatus

_COLOURS = {
    TranscriptionStatus.QUEUED: "warning",
    TranscriptionStatus.TRANSCRIBING: "info",
    TranscriptionStatus.DONE: "success",
    TranscriptionStatus.FAILED: "danger",
}


@admin.register(Content)
class ContentAdmin(ReadOnlyAdmin[Content]):
    list_display = ["shown_title", "kind", "owned_by", "item_count", "transcription", "created_at"]
    list_filter = ["kind", "transcription_status", ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["title", "author", "canonical_url", "=id"]
    ordering = ["-created_at"]
    fieldsets = [
        (None, {"fields": ["title", "kind", "canonical_url", "owned_by", "item_count"]}),
        ("About", {"fields": ["author", "language", "published_at", "duration_sec"]}),
        ("Transcription", {"fields": ["transcription", "failure"]}),
        ("Text", {"fields": ["said"]}),
        ("Origin", {"fields": ["id", "created_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Content]:
        contents = Content.objects.select_related("owner").annotate(item_count=Count("items"))
        return contents.defer("text", "locators")

    @admin.display(description="title", ordering="title")
    def shown_title(self, content: Content) -> str:
        return Truncator(content.title).chars(80)

    @admin.display(description="owner", ordering="owner")
    def owned_by(self, content: Content) -> str:
        return str(content.owner or "shared by all")

    @admin.display(description="items", ordering="item_count")
    def item_count(self, content: Content) -> int:
        count: int = content.item_count  # type: ignore[attr-defined]
        return count

    @badge("transcription", _COLOURS)
    def transcription(self, content: Content) -> str:
        return content.transcription_status

    @admin.display(description="text")
    def said(self, content: Content) -> SafeString | str:
        return preformatted(content.text)

    @admin.display(description="error")
    def failure(self, content: Content) -> SafeString | str:
        return preformatted(content.error)
