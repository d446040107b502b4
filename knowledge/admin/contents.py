from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.admin.base import ReadOnlyAdmin, badge, linked, preformatted
from knowledge.admin.progress import COLOURS, RetryAdmin, progress_of
from knowledge.models import Content, ContentState, Item


@admin.register(Content)
class ContentAdmin(RetryAdmin[Content], ReadOnlyAdmin[Content]):
    list_display = [
        *("shown_title", "kind", "progress", "reason", "owned_by", "item_count"),
        *("transcript_by", "created_at"),
    ]
    list_filter = ["state", "kind", "rung", ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["title", "author", "canonical_url", "url", "=reason", "=id"]
    search_help_text = "Words of the title, author or address, a reason, or an id"
    ordering = ["-created_at"]
    fieldsets = [
        (None, {"fields": ["title", "kind", "address", "owned_by", "item_count"]}),
        ("Progress", {"fields": ["how_far", "reason", "failure", "changed_at"]}),
        ("Recording", {"fields": ["length", "transcript_by", "cost", "recording"]}),
        ("About", {"fields": ["author", "language", "published_at"]}),
        ("Text", {"fields": ["said"]}),
        ("Origin", {"fields": ["id", "canonical_url", "led_here", "created_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Content]:
        contents = Content.objects.select_related("owner").annotate(item_count=Count("items"))
        return contents.defer("text", "locators")

    def item_of(self, obj: Content) -> Item | None:
        return obj.items.order_by("created_at").first()

    def has_failed(self, obj: Content) -> bool:
        return obj.state == ContentState.FAILED

    @admin.display(description="title", ordering="title")
    def shown_title(self, content: Content) -> str:
        return Truncator(content.title).chars(80)

    @badge("progress", COLOURS)
    def progress(self, content: Content) -> tuple[str, str]:
        return progress_of(content)

    @admin.display(description="state")
    def how_far(self, content: Content) -> str:
        return progress_of(content)[1]

    @admin.display(description="owner", ordering="owner")
    def owned_by(self, content: Content) -> str:
        return str(content.owner or "shared by all")

    @admin.display(description="items", ordering="item_count")
    def item_count(self, content: Content) -> SafeString:
        items = f"{reverse('admin:knowledge_item_changelist')}?content__id__exact={content.pk}"
        count: int = content.item_count  # type: ignore[attr-defined]
        return format_html('<a class="text-link" href="{}">{}</a>', items, count)

    @admin.display(description="address")
    def address(self, content: Content) -> SafeString | str:
        return linked(content.url)

    @admin.display(description="recording")
    def recording(self, content: Content) -> SafeString | str:
        return linked(content.media_url)

    @admin.display(description="length")
    def length(self, content: Content) -> str:
        return "" if content.duration_sec is None else f"{content.duration_sec / 60:,.1f} minutes"

    @admin.display(description="transcript by", ordering="rung")
    def transcript_by(self, content: Content) -> str:
        return content.rung

    @admin.display(description="cost")
    def cost(self, content: Content) -> str:
        return "" if content.cost_usd is None else f"${content.cost_usd}"

    @admin.display(description="keys that lead here")
    def led_here(self, content: Content) -> SafeString | str:
        return preformatted("\n".join(content.links.values_list("key", flat=True)))

    @admin.display(description="text")
    def said(self, content: Content) -> SafeString | str:
        return preformatted(content.text)

    @admin.display(description="error")
    def failure(self, content: Content) -> SafeString | str:
        return preformatted(content.error)
