import secrets
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class WebhookEvent(models.TextChoices):
    ITEM_READY = "item.ready"
    ITEM_FAILED = "item.failed"
    QUOTA_NEAR = "quota.near"


def new_webhook_secret() -> str:
    return f"whsec_{secrets.token_urlsafe(32)}"


def every_event() -> list[str]:
    return [str(event) for event in WebhookEvent]


class Webhook(models.Model):
    """An address that is told, signed, what became of an owner's items."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.URLField(max_length=2000)
    secret = models.CharField(max_length=100, default=new_webhook_secret, editable=False)
    events = ArrayField(models.CharField(max_length=20, choices=WebhookEvent), default=every_event)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.url


class DeliveryState(models.TextChoices):
    QUEUED = "queued"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(models.Model):
    """One event for one webhook, and how sending it went."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=20, choices=WebhookEvent)
    payload = models.JSONField()
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    answer = models.CharField(max_length=300, blank=True, help_text="How the last try went.")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"
