from uuid import uuid4

from django.conf import settings
from django.db import models


class TranscriptionStatus(models.TextChoices):
    NONE = "none"
    QUEUED = "queued"
    TRANSCRIBING = "transcribing"
    DONE = "done"
    FAILED = "failed"


class Content(models.Model):
    """What a source said. A public URL's content is shared; anything else has one owner."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="contents",
        help_text="Empty for a public page that every owner's items may share.",
    )
    kind = models.CharField(max_length=20, default="text")
    canonical_url = models.TextField(null=True, blank=True, unique=True)
    title = models.CharField(max_length=500)
    author = models.CharField(max_length=500, blank=True)
    language = models.CharField(max_length=20, blank=True, db_index=True)
    published_at = models.DateTimeField(null=True, blank=True)
    duration_sec = models.FloatField(null=True, blank=True)
    text = models.TextField()
    locators = models.JSONField(default=list, blank=True)
    transcription_status = models.CharField(
        max_length=20, choices=TranscriptionStatus, default=TranscriptionStatus.NONE
    )
    provider_ref = models.CharField(max_length=200, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="unshared_content_has_an_owner",
                condition=models.Q(owner__isnull=False) | models.Q(canonical_url__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.title
