from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Self
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Prefetch

from knowledge.access import Access
from knowledge.models.content import Content, ContentState
from knowledge.models.folder import Folder

if TYPE_CHECKING:
    from knowledge.models.transform import Transform


class ItemType(models.TextChoices):
    DOCUMENT = "document"


class Visibility(models.TextChoices):
    PRIVATE = "private"
    ORG = "org"
    NETWORK = "network"


class IndexStatus(models.TextChoices):
    NONE = "none"  # not in the knowledge base
    PENDING = "pending"
    KEYWORD = "keyword"  # found by word; meaning follows when its job is done
    DONE = "done"
    FAILED = "failed"


class ItemQuerySet(models.QuerySet["Item"]):
    def visible_to(self, access: Access) -> Self:
        """Only rows this caller may know exist."""
        items = self.filter(owner_id=access.owner_id)
        if access.kb_only:
            items = items.filter(in_kb=True)
        if access.folder_ids is None:
            return items
        if not access.folder_ids:
            return items.none()
        # By ids and not by a condition on each row: a narrow scope in a large library is
        # found from its filings, without a look at every item.
        seen = Filing.objects.filter(folder__in=access.folder_ids).values("item")
        if access.token_id is not None:
            own_unfiled = Item.objects.filter(unfiled_by=access.token_id).values("pk")
            seen = seen.union(own_unfiled, all=True)
        return items.filter(pk__in=seen)

    def with_folders_for(self, access: Access) -> Self:
        """Load, beside each item, the folders this caller may know it is in."""
        filings = Filing.objects.visible_to(access)
        return self.prefetch_related(Prefetch("filings", queryset=filings, to_attr="seen_filings"))

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-pk")

    def older_than(self, created_at: datetime, item_id: UUID) -> Self:
        """What follows that item, itself still there or not, in `newest_first`."""
        same_moment = models.Q(created_at=created_at, pk__lt=item_id)
        older = self.filter(created_at__lte=created_at)  # which the index can begin at
        return older.filter(models.Q(created_at__lt=created_at) | same_moment)

    def titled(self, beginning: str) -> Self:
        """Items whose shown title begins like this, in any case."""
        own = models.Q(custom_title__istartswith=beginning)
        return self.filter(own | models.Q(custom_title="", content__title__istartswith=beginning))


class Item(models.Model):
    """One owner's copy of a content: how they file, tag and search it."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="items"
    )
    content = models.ForeignKey(Content, on_delete=models.RESTRICT, related_name="items")
    folders: models.ManyToManyField[Folder, Filing] = models.ManyToManyField(
        Folder, through="Filing", related_name="items"
    )
    type = models.CharField(max_length=30, choices=ItemType, default=ItemType.DOCUMENT)
    custom_title = models.CharField(max_length=500, blank=True)
    in_kb = models.BooleanField("in the knowledge base", default=True)
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    attributes = models.JSONField(default=dict, blank=True)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PRIVATE)
    quality = models.FloatField(null=True, blank=True)
    archived = models.BooleanField(default=False)
    index_status = models.CharField(max_length=10, choices=IndexStatus, default=IndexStatus.NONE)
    index_error = models.TextField(blank=True)
    chunk_count = models.PositiveIntegerField(default=0, editable=False)
    index_version = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="The pipeline's version that indexed this."
    )
    added_by_token = models.UUIDField(null=True, blank=True, editable=False)
    added_by_agent = models.CharField(max_length=200, blank=True, editable=False)
    unfiled_by = models.UUIDField(
        null=True,
        blank=True,
        editable=False,
        help_text="The token that added this, while nobody has filed it: that token sees it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ItemQuerySet.as_manager()

    seen_filings: list[Filing]

    class Meta:
        indexes = [
            models.Index(fields=["owner", "-created_at", "-id"], name="item_newest_by_owner"),
            GinIndex(fields=["tags"], name="item_tags"),
            models.Index(
                fields=["updated_at"],
                condition=models.Q(index_status__in=["pending", "keyword"]),
                name="item_half_indexed",
            ),
            models.Index(
                fields=["unfiled_by"],
                condition=models.Q(unfiled_by__isnull=False),
                name="item_unfiled_by",
            ),
            models.Index(
                fields=["owner"],
                condition=models.Q(archived=True, in_kb=True),
                name="item_archived_by_owner",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        return self.custom_title or self.content.title

    @property
    def source_url(self) -> str | None:
        return self.content.url or None

    @property
    def folder_ids(self) -> list[UUID]:
        """Folders the caller may know of; only on rows loaded by `with_folders_for`."""
        return sorted(filing.folder_id for filing in self.seen_filings)

    @property
    def status(self) -> str:
        """`ready` or `failed`; until then `transcribing`, or `processing` for a document."""
        if self.content.state in (ContentState.READY, ContentState.FAILED):
            return str(self.content.state)
        return "transcribing" if self.content.is_recording else "processing"

    @property
    def summary(self) -> Transform | None:
        """What it was summed up to, if anybody asked."""
        return getattr(self, "transform", None)


class FilingQuerySet(models.QuerySet["Filing"]):
    def visible_to(self, access: Access) -> Self:
        """Only filings in folders this caller may know exist."""
        filings = self.filter(folder__owner_id=access.owner_id)
        if access.folder_ids is None:
            return filings
        return filings.filter(folder__in=access.folder_ids)


class Filing(models.Model):
    """An item in a folder."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="filings")
    folder = models.ForeignKey(Folder, on_delete=models.CASCADE, related_name="filings")
    filed_at = models.DateTimeField(auto_now_add=True)

    objects = FilingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["folder", "item"], name="filed_once_per_folder")
        ]

    def __str__(self) -> str:
        return f"{self.item_id} in {self.folder_id}"
