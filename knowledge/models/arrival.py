"""Something on its way into a library: an entry of a feed, a row of an import, a pasted link."""

from django.db import models
from django.utils import timezone

from knowledge.models.item import Item


class ArrivalState(models.TextChoices):
    WAITING = "waiting"
    ADDED = "added"
    THERE = "there"  # it was in the library before
    PRICED = "priced"  # a recording: it waits until the owner agrees to the price
    SKIPPED = "skipped"
    FAILED = "failed"


class Arrival(models.Model):
    """What is to be added by a job, what came of it, and when it is tried again."""

    url = models.TextField(blank=True)
    key = models.TextField(blank=True, help_text="By what it is known again.")
    title = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=10, choices=ArrivalState, default=ArrivalState.WAITING)
    step = models.CharField(max_length=10, blank=True, help_text="What its job is doing now.")
    reason = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    minutes = models.FloatField(null=True, blank=True, help_text="The length of its recording.")
    cost_usd = models.FloatField(null=True, blank=True)
    may_transcribe = models.BooleanField(
        default=False, help_text="The owner agrees to pay for a transcription."
    )
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now, help_text="Not to be tried before.")
    item = models.ForeignKey(
        Item, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.title or self.url

    @property
    def is_underway(self) -> bool:
        """Whether it is an item whose text is still to come."""
        return self.item is not None and self.item.content.is_at_work
