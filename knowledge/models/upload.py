from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.conf import settings
from django.db import models

from knowledge.access import Access
from knowledge.models.content import Content


class UploadState(models.TextChoices):
    BEGUN = "begun"
    STORED = "stored"
    FINISHED = "finished"


class UploadQuerySet(models.QuerySet["Upload"]):
    def visible_to(self, access: Access) -> Self:
        """Only uploads that this very token began, or the owner in person."""
        return self.filter(owner_id=access.owner_id, token_id=access.token_id)


class Upload(models.Model):
    """A file on its way in, and then the original that a content was read from."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads"
    )
    token_id = models.UUIDField(null=True, blank=True, help_text="The token that began it.")
    filename = models.CharField(max_length=255)
    media_type = models.CharField(max_length=150)
    size = models.BigIntegerField(help_text="In bytes, as declared; the file must have no more.")
    state = models.CharField(max_length=10, choices=UploadState, default=UploadState.BEGUN)
    key = models.CharField(max_length=300, unique=True, help_text="Its name in the file store.")
    content = models.OneToOneField(
        Content, on_delete=models.SET_NULL, null=True, blank=True, related_name="upload"
    )
    expires_at = models.DateTimeField(help_text="It must be finished before.")
    kept_until = models.DateTimeField(
        null=True, blank=True, help_text="A token deleted its item; until then that can be undone."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = UploadQuerySet.as_manager()

    def __str__(self) -> str:
        return self.filename
