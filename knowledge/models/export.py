from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from knowledge.access import Access, Capability

KEPT_FOR = timedelta(days=1)


class ExportState(models.TextChoices):
    QUEUED = "queued"
    WORKING = "working"
    READY = "ready"
    FAILED = "failed"


UNFINISHED = (ExportState.QUEUED, ExportState.WORKING)


def _expiry() -> datetime:
    return timezone.now() + KEPT_FOR


class ExportQuerySet(models.QuerySet["Export"]):
    def visible_to(self, access: Access) -> Self:
        """Only exports that this very token began, or the owner in person, with today's reach."""
        own = self.filter(owner_id=access.owner_id, token_id=access.token_id)
        own = own.filter(kb_only=access.kb_only, expires_at__gt=timezone.now())
        if access.folder_ids is None:
            return own.filter(folder_ids=None)
        return own.filter(folder_ids=sorted(access.folder_ids))


class Export(models.Model):
    """A library, or the part of it that a token reaches, as a file that a job makes."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="exports"
    )
    token_id = models.UUIDField(null=True, blank=True, help_text="The token that asked for it.")
    folder_ids = ArrayField(
        models.UUIDField(), null=True, blank=True, help_text="None is the whole library."
    )
    kb_only = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=ExportState, default=ExportState.QUEUED)
    items_done = models.PositiveIntegerField(default=0)
    items_total = models.PositiveIntegerField(default=0)
    size = models.BigIntegerField(default=0, help_text="Of the file, in bytes.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    expires_at = models.DateTimeField(default=_expiry, help_text="The file is removed then.")

    objects = ExportQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["owner", "-created_at"], name="export_newest_by_owner")]

    def __str__(self) -> str:
        return f"Export of {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def key(self) -> str:
        """Its name in the file store."""
        return f"exports/{self.pk}"

    @property
    def access(self) -> Access:
        """Whoever asked for it, with the reach that they had."""
        return Access(
            owner_id=self.owner_id,
            capabilities=frozenset({Capability.READ}),
            folder_ids=None if self.folder_ids is None else frozenset(self.folder_ids),
            kb_only=self.kb_only,
            token_id=self.token_id,
        )

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    @property
    def percent(self) -> int:
        """How many of a hundred items are written."""
        return 100 * self.items_done // self.items_total if self.items_total else 0
