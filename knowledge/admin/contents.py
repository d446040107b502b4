from typing import Any

from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.admin.base import (
    Person,
    ReadOnlyAdmin,
    badge,
    link_to_url,
    own_rows,
    pre_block,
)
from knowledge.admin.progress import COLOURS, RetryAdmin, progress_of
from knowledge.models import Content, ContentState, Item


@admin.register(Content)
class ContentAdmin(RetryAdmin[Content], ReadOnlyAdmin[Content]):
    """Contents. A content that several people added is listed for each of them."""

    owner_path = "owner"
    list_display = [
        *("short_title", "kind", "progress", "reason", "owner_name", "item_count"),
        *("transcript_by", "created_at"),
    ]
    list_filter = ["state", "kind", "rung", ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["title", "author", "canonical_url", "url", "=reason", "=id"]
    search_help_text = "Words from the title, author or address, a reason, or an id"
    ordering = ["-created_at"]
    fieldsets = [
        (None, {"fields": ["title", "kind", "address", "owner_name", "item_count"]}),
        ("Progress", {"fields": ["how_far", "reason", "failure", "changed_at"]}),
        ("Recording", {"fields": ["length", "transcript_by", "cost", "recording"]}),
        ("About", {"fields": ["author", "language", "published_at"]}),
        ("Text", {"fields": ["text_block"]}),
        ("Origin", {"fields": ["id", "canonical_url", "incoming_addresses", "created_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Content]:
        contents = super().get_queryset(request).select_related("owner")
        return contents.annotate(item_count=_count_items(request)).defer("text", "locators")

    def rows_of(self, person: Person, rows: QuerySet[Content]) -> QuerySet[Content]:
        added = Item.objects.filter(content=OuterRef("pk"), owner=person.pk)
        return rows.filter(Q(owner=person.pk) | Exists(added))

    def get_fieldsets(self, request: HttpRequest, obj: Content | None = None) -> Any:
        """Without the keys for who is no superuser: others may have added it by them."""
        fieldsets = super().get_fieldsets(request, obj)
        if request.user.is_superuser:
            return fieldsets
        return [*fieldsets[:-1], ("Origin", {"fields": ["id", "created_at"]})]

    def item_of(self, request: HttpRequest, obj: Content) -> Item | None:
        return own_rows(request.user, obj.items.order_by("created_at")).first()

    def has_failed(self, obj: Content) -> bool:
        return obj.state == ContentState.FAILED

    @admin.display(description="title", ordering="title")
    def short_title(self, content: Content) -> str:
        return Truncator(content.title).chars(80)

    @badge("progress", COLOURS)
    def progress(self, content: Content) -> tuple[str, str]:
        return progress_of(content)

    @admin.display(description="state")
    def how_far(self, content: Content) -> str:
        return progress_of(content)[1]

    @admin.display(description="owner", ordering="owner")
    def owner_name(self, content: Content) -> str:
        return str(content.owner or "shared")

    @admin.display(description="items", ordering="item_count")
    def item_count(self, content: Content) -> SafeString:
        items = f"{reverse('admin:knowledge_item_changelist')}?content__id__exact={content.pk}"
        count: int = content.item_count  # type: ignore[attr-defined]
        return format_html('<a class="text-link" href="{}">{}</a>', items, count)

    @admin.display(description="address")
    def address(self, content: Content) -> SafeString | str:
        return link_to_url(content.url)

    @admin.display(description="recording")
    def recording(self, content: Content) -> SafeString | str:
        return link_to_url(content.media_url)

    @admin.display(description="length")
    def length(self, content: Content) -> str:
        return "" if content.duration_sec is None else f"{content.duration_sec / 60:,.1f} minutes"

    @admin.display(description="transcript by", ordering="rung")
    def transcript_by(self, content: Content) -> str:
        return content.rung

    @admin.display(description="cost")
    def cost(self, content: Content) -> str:
        return "" if content.cost_usd is None else f"${content.cost_usd}"

    @admin.display(description="addresses that lead here")
    def incoming_addresses(self, content: Content) -> SafeString | str:
        return pre_block("\n".join(content.links.values_list("key", flat=True)))

    @admin.display(description="text")
    def text_block(self, content: Content) -> SafeString | str:
        return pre_block(content.text)

    @admin.display(description="error")
    def failure(self, content: Content) -> SafeString | str:
        return pre_block(content.error)


def _count_items(request: HttpRequest) -> Count:
    """Counts only items that this person may see, so that nobody learns who else added a link."""
    own = Q() if request.user.is_superuser else Q(items__owner=request.user.pk)
    return Count("items", filter=own)
