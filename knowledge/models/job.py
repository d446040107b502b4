from uuid import uuid4

from django.db import models
from django.db.models.functions import Now


class JobState(models.TextChoices):
    QUEUED = "queued"
    CLAIMED = "claimed"
    DEAD = "dead"


class Job(models.Model):
    """One message to a worker: queued until due, claimed while a worker lives, gone when done."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    queue = models.CharField(max_length=100)
    actor = models.CharField(max_length=200)
    owner_id = models.BigIntegerField(
        default=0, db_default=0, help_text="For whom it is; 0 is nobody in particular."
    )
    message = models.BinaryField(help_text="The message as Dramatiq encodes it.")
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    available_at = models.DateTimeField(db_default=Now(), help_text="Not to be run before this.")
    worker = models.BigIntegerField(
        null=True, blank=True, help_text="The advisory lock of the worker that holds it."
    )
    crashes = models.PositiveSmallIntegerField(
        default=0, help_text="How many workers died while they held it."
    )
    enqueued_at = models.DateTimeField(db_default=Now())
    error = models.TextField(blank=True, help_text="How it last failed.")

    class Meta:
        db_table = "knowledge_job"
        constraints = [
            models.CheckConstraint(
                name="job_claimed_by_a_worker",
                condition=models.Q(state=JobState.CLAIMED, worker__isnull=False)
                | (~models.Q(state=JobState.CLAIMED) & models.Q(worker__isnull=True)),
            )
        ]
        indexes = [
            models.Index(
                name="job_next_of_owner",
                fields=["queue", "owner_id", "available_at"],
                condition=models.Q(state=JobState.QUEUED),
            ),
            models.Index(
                name="job_claims", fields=["worker"], condition=models.Q(state=JobState.CLAIMED)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor} ({self.state})"

    @property
    def message_text(self) -> str:
        """The encoded message as text, for people to read."""
        return bytes(self.message).decode(errors="replace")
