from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, Q

from knowledge.access import Access
from knowledge.models.arrival import Arrival, ArrivalState
from knowledge.models.folder import Folder


class BatchState(models.TextChoices):
    PREVIEW = "preview"  # read and shown; nothing is added yet
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


class RowKind(models.TextChoices):
    LINK = "link"
    TEXT = "text"
    FEED = "feed"


class ImportBatchQuerySet(models.QuerySet["ImportBatch"]):
    def visible_to(self, access: Access) -> Self:
        """Only imports of the caller's own, and only for whoever reaches the whole library."""
        if access.folder_ids is not None:
            return self.none()
        return self.filter(owner_id=access.owner_id)

    def with_counts(self) -> Self:
        """Count, beside each import, its rows in each state."""
        return self.annotate(
            rows_total=Count("rows"),
            **{
                f"rows_{state}": Count("rows", filter=Q(rows__state=state))
                for state in ArrivalState
            },
        )


class ImportBatch(models.Model):
    """Many things brought in at once: pasted links, or the rows of another program's export."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="import_batches"
    )
    format = models.CharField(max_length=20, help_text="links, or the program it comes from.")
    filename = models.CharField(max_length=255, blank=True)
    folder = models.ForeignKey(
        Folder, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    keeps_folders = models.BooleanField(
        default=False, help_text="File each row in a folder named as in the export."
    )
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    may_transcribe = models.BooleanField(
        default=False, help_text="Transcribe recordings without asking for each."
    )
    state = models.CharField(max_length=10, choices=BatchState, default=BatchState.PREVIEW)
    left_out = models.JSONField(
        default=list, blank=True, help_text="The first of what is not taken, each with its reason."
    )
    left_out_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    begun_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = ImportBatchQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["owner", "-created_at"], name="import_newest_by_owner"),
            models.Index(
                fields=["changed_at"],
                condition=models.Q(state=BatchState.RUNNING),
                name="import_running",
            ),
        ]

    rows_total: int
    rows_waiting: int

    def __str__(self) -> str:
        return self.filename or self.format

    @property
    def is_running(self) -> bool:
        return self.state == BatchState.RUNNING

    @property
    def row_counts(self) -> dict[str, int]:
        """How many rows are in each state; only by `with_counts`."""
        return {str(state): getattr(self, f"rows_{state}") for state in ArrivalState}

    @property
    def percent(self) -> int:
        """How many of a hundred rows are seen to; only by `with_counts`."""
        return 100 * (self.rows_total - self.rows_waiting) // max(1, self.rows_total)


class ImportRow(Arrival):
    """One thing of an import: a link, a text or a feed, and what came of it."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="rows")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=RowKind, default=RowKind.LINK)
    text = models.TextField(blank=True, help_text="Emptied once it is an item.")
    note = models.TextField(blank=True, help_text="The person's own words about a link.")
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    folder_name = models.CharField(max_length=200, blank=True)
    saved_at = models.DateTimeField(null=True, blank=True, help_text="When it was first saved.")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["batch", "key"], name="import_row_once")]
        indexes = [
            models.Index(fields=["batch", "state", "position"], name="import_row_by_state"),
            models.Index(fields=["key"], name="import_row_by_key"),
        ]
