from django.db import models

from knowledge.models.item import Item


class TransformState(models.TextChoices):
    WAITING = "waiting"  # for its item to be ready
    QUEUED = "queued"
    DONE = "done"
    FAILED = "failed"


class Transform(models.Model):
    """A summary of one item, written by a model: tl;dr, key points, quotes with their places."""

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="transform")
    state = models.CharField(max_length=10, choices=TransformState, default=TransformState.WAITING)
    tldr = models.TextField(blank=True)
    key_points = models.JSONField(default=list, blank=True)
    quotes = models.JSONField(
        default=list, blank=True, help_text="Each with its text and its locator."
    )
    model = models.CharField(max_length=100, blank=True)
    cost_usd = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    error = models.TextField(blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.item_id} ({self.state})"
