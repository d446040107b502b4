from collections.abc import Iterable
from typing import Self
from uuid import uuid4

from django.conf import settings
from django.db import models

from knowledge.models.prepared import insert_rows
from knowledge.text.languages import language_of


class TranscriptionStatus(models.TextChoices):
    NONE = "none"
    QUEUED = "queued"
    TRANSCRIBING = "transcribing"
    DONE = "done"
    FAILED = "failed"


class ContentState(models.TextChoices):
    READY = "ready"
    QUEUED = "queued"
    WORKING = "working"
    FAILED = "failed"


class Step(models.TextChoices):
    """What a job is doing for a content."""

    EXTRACT = "extract"
    TRANSCRIBE = "transcribe"
    INDEX = "index"


class ContentQuerySet(models.QuerySet["Content"]):
    def at_work(self) -> Self:
        """Contents whose text is still to come."""
        return self.filter(state__in=[ContentState.QUEUED, ContentState.WORKING])

    def find_shared(self, key: str) -> "Content | None":
        """The content that everybody shares under the key of an address, unless it failed."""
        shared = self.filter(owner=None).exclude(state=ContentState.FAILED)
        return shared.filter(links__key=key).first()

    def create_texts(self, owner_id: int, texts: Iterable[tuple[str, str, str]]) -> "list[Content]":
        """Texts with their titles that only their owner has, in a language that may be known."""
        contents = [
            Content(
                owner_id=owner_id,
                kind="text",
                title=title,
                text=text,
                language=language or language_of(text),
            )
            for title, text, language in texts
        ]
        insert_rows(contents)
        return contents


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
    canonical_url = models.TextField(
        "canonical key", null=True, blank=True, unique=True, help_text="Of a public address."
    )
    url = models.TextField(blank=True, help_text="The address that people open.")
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
    rung = models.CharField(
        "transcript by",
        max_length=20,
        blank=True,
        help_text="publisher, captions, or the name of the transcriber that made it.",
    )
    media_url = models.TextField(blank=True, help_text="Where the recording is fetched from.")
    notes = models.JSONField(
        default=dict,
        blank=True,
        help_text="What the transcriber needs to go on after its worker was killed.",
    )
    provider_ref = models.CharField(max_length=200, blank=True)
    cost_usd = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    state = models.CharField(max_length=10, choices=ContentState, default=ContentState.READY)
    step = models.CharField(max_length=10, choices=Step, blank=True)
    percent = models.PositiveSmallIntegerField(default=100)
    reason = models.CharField(max_length=40, blank=True, help_text="Why it failed, in one word.")
    error = models.TextField(blank=True, help_text="Why it failed, and what to do about it.")
    changed_at = models.DateTimeField(auto_now=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ContentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="unshared_content_has_an_owner",
                condition=models.Q(owner__isnull=False) | models.Q(canonical_url__isnull=False),
            )
        ]
        indexes = [
            models.Index(
                fields=["changed_at"],
                condition=models.Q(state__in=["queued", "working"]),
                name="content_at_work",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_ready(self) -> bool:
        return self.state == ContentState.READY

    @property
    def is_at_work(self) -> bool:
        """Whether its text is still to come."""
        return self.state in (ContentState.QUEUED, ContentState.WORKING)

    @property
    def is_shared(self) -> bool:
        """Whether other owners may have items of it."""
        return self.owner_id is None

    @property
    def is_recording(self) -> bool:
        """Whether its text must first be transcribed."""
        return self.transcription_status != TranscriptionStatus.NONE


class Link(models.Model):
    """An address that led to a content: the same one leads there again without a fetch."""

    key = models.TextField(primary_key=True)
    content = models.ForeignKey(Content, on_delete=models.CASCADE, related_name="links")

    def __str__(self) -> str:
        return self.key
