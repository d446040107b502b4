from __future__ import annotations

import base64
import secrets
from typing import Self
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from knowledge.access import Access

SECRET_PREFIX = "whsec_"  # noqa: S105 - what every secret begins with


class WebhookEvent(models.TextChoices):
    ITEM_READY = "item.ready"
    ITEM_FAILED = "item.failed"
    ITEM_SUSPECTED = "item.suspected"
    QUOTA_NEAR = "quota.near"


def new_webhook_secret() -> str:
    """As Standard Webhooks writes it, so that receivers can use any library for that."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def every_event() -> list[str]:
    return [str(event) for event in WebhookEvent]


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def visible_to(self, access: Access) -> Self:
        """Only for a caller who may see all that a webhook tells: the owner's whole library."""
        if access.folder_ids is not None or access.kb_only:
            return self.none()
        return self.filter(owner_id=access.owner_id)


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

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return self.url

    def switch_off(self) -> None:
        """Deactivate the webhook; no error if it is deleted at the same moment."""
        Webhook.objects.filter(pk=self.pk).update(is_active=False)

    @property
    def signing_key(self) -> bytes:
        return base64.b64decode(self.secret.removeprefix(SECRET_PREFIX))


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
        return f"{self.event} to {self.webhook}"
