from __future__ import annotations

from typing import Any, Self
from uuid import uuid4

from django.conf import settings
from django.db import models

from knowledge.access import Access


class ArchiveState(models.TextChoices):
    QUEUED = "queued"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED_IMPORTS = (ArchiveState.QUEUED, ArchiveState.WORKING)


class ArchiveImportQuerySet(models.QuerySet["ArchiveImport"]):
    def visible_to(self, access: Access) -> Self:
        """Only imports that this very token began, or for the owner in person all of theirs."""
        own = self.filter(owner_id=access.owner_id)
        return own if access.token_id is None else own.filter(token_id=access.token_id)


class ArchiveImport(models.Model):
    """An export of a library on its way in by a job, and what came of it."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="archive_imports"
    )
    token_id = models.UUIDField(null=True, blank=True, help_text="The token that sent it.")
    agent_id = models.CharField(max_length=200, blank=True)
    action_id = models.UUIDField(null=True, blank=True, help_text="By which it can be undone.")
    kb_only = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=ArchiveState, default=ArchiveState.QUEUED)
    items_done = models.PositiveIntegerField(default=0)
    items_total = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict, blank=True, help_text="What came of it so far.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = ArchiveImportQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["owner", "-created_at"], name="archive_newest_by_owner")]

    def __str__(self) -> str:
        return f"Import of {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def key(self) -> str:
        """The archive's name in the file store."""
        return f"imports/{self.pk}"

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED_IMPORTS

    @property
    def percent(self) -> int:
        """How many of a hundred items are seen to."""
        return 100 * self.items_done // self.items_total if self.items_total else 0

    @property
    def fields(self) -> dict[str, Any]:
        """What a client is told: the state, and the counts of the report beside it."""
        own = ("id", "state", "items_done", "items_total", "error", "created_at")
        return {**self.report, **{name: getattr(self, name) for name in own}}
