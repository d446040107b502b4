from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Count, Q
from django.utils import timezone

from knowledge.access import Access
from knowledge.models.arrival import Arrival, ArrivalState
from knowledge.models.folder import Folder

MAX_ENTRIES_PER_POLL = 100


class FeedState(models.TextChoices):
    ACTIVE = "active"
    FAILING = "failing"  # it is asked again, less and less often
    PAUSED = "paused"  # by its owner, or because it is gone for good


class FeedQuerySet(models.QuerySet["Feed"]):
    def visible_to(self, access: Access) -> Self:
        """Only feeds whose entries this caller may know exist."""
        feeds = self.filter(owner_id=access.owner_id)
        if access.folder_ids is None:
            return feeds
        return feeds.filter(folder__in=access.folder_ids)

    def with_counts(self) -> Self:
        """Count, beside each feed, its entries in each state."""
        return self.annotate(
            **{
                f"entries_{state}": Count("entries", filter=Q(entries__state=state))
                for state in ArrivalState
            }
        )


class Feed(models.Model):
    """An RSS or Atom feed that an owner follows: its new entries become items by themselves."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="feeds"
    )
    url = models.TextField(help_text="The address of the feed itself.")
    key = models.TextField(help_text="The canonical key of the address.")
    title = models.CharField(max_length=500)
    site_url = models.TextField(blank=True)
    folder = models.ForeignKey(
        Folder, on_delete=models.SET_NULL, null=True, blank=True, related_name="feeds"
    )
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    max_entries = models.PositiveSmallIntegerField(
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_ENTRIES_PER_POLL)],
        help_text="How many new entries are added each time it is asked, the newest first.",
    )
    may_transcribe = models.BooleanField(
        default=False, help_text="Transcribe episodes without asking for each."
    )
    state = models.CharField(max_length=10, choices=FeedState, default=FeedState.ACTIVE)
    reason = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    failures = models.PositiveSmallIntegerField(default=0, help_text="In a row.")
    etag = models.CharField(max_length=500, blank=True, editable=False)
    last_modified = models.CharField(max_length=100, blank=True, editable=False)
    next_poll_at = models.DateTimeField(default=timezone.now)
    polled_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = FeedQuerySet.as_manager()

    class Meta:
        ordering = ["title"]
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="feed_once_per_owner")]
        indexes = [
            models.Index(
                fields=["next_poll_at"],
                condition=~models.Q(state=FeedState.PAUSED),
                name="feed_next_poll",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def entry_counts(self) -> dict[str, int]:
        """How many entries are in each state; only by `with_counts`."""
        return {str(state): getattr(self, f"entries_{state}") for state in ArrivalState}


class FeedEntry(Arrival):
    """One entry of a feed: each comes once, whatever the feed says later."""

    feed = models.ForeignKey(Feed, on_delete=models.CASCADE, related_name="entries")
    guid_hash = models.CharField(max_length=64, help_text="SHA-256 of the entry's own id.")
    published_at = models.DateTimeField(null=True, blank=True)
    episode = models.JSONField(
        default=dict, blank=True, help_text="What the feed says of a recording, as it said it."
    )
    seen_at = models.DateTimeField(default=timezone.now, help_text="Last found in the feed.")

    class Meta:
        ordering = ["-published_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["feed", "guid_hash"], name="feed_entry_once")
        ]
        indexes = [models.Index(fields=["feed", "state"], name="feed_entry_by_state")]
