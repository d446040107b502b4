"""Feeds that people follow, and how each is doing."""

from typing import cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from knowledge.admin.base import ReadOnlyAdmin, badge, link_to_url
from knowledge.models import Feed, FeedState
from knowledge.models.feed import FeedQuerySet

_COLOURS = {
    FeedState.ACTIVE: "success",
    FeedState.FAILING: "danger",
    FeedState.PAUSED: "warning",
}


@admin.register(Feed)
class FeedAdmin(ReadOnlyAdmin[Feed]):
    owner_path = "owner"
    list_display = ["title", "owner", "state_badge", "added", "polled_at", "short_error"]
    list_filter = ["state", ("owner", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["title", "url", "owner__username", "=id"]
    ordering = ["title"]
    fieldsets = [
        (None, {"fields": ["title", "address", "owner", "folder", "tags", "max_entries"]}),
        ("Polls", {"fields": ["state_badge", "added", "polled_at", "next_poll_at", "failures"]}),
        ("Failure", {"fields": ["reason", "error"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feed]:
        feeds = cast(FeedQuerySet, super().get_queryset(request))
        return feeds.select_related("owner", "folder").with_counts()

    @badge("state", _COLOURS)
    def state_badge(self, feed: Feed) -> str:
        return feed.state

    @admin.display(description="address")
    def address(self, feed: Feed) -> SafeString | str:
        return link_to_url(feed.url)

    @admin.display(description="entries added / failed")
    def added(self, feed: Feed) -> str:
        return f"{feed.entry_counts['added']:,} / {feed.entry_counts['failed']:,}"

    @admin.display(description="error")
    def short_error(self, feed: Feed) -> str:
        return Truncator(feed.error).chars(80)
