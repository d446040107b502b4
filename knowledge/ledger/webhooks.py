"""Webhooks: which addresses are notified of an owner's items, and how messages are signed."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import (
    CapabilityDenied,
    Conflict,
    IngestFailed,
    InvalidInput,
    ProviderUnavailable,
    not_found,
)
from knowledge.ledger import changes
from knowledge.ledger.quotas import RESOURCE, Quota
from knowledge.models import Delivery, DeliveryState, Item, Webhook, WebhookEvent
from knowledge.models.locking import lock_counted_rows
from knowledge.models.prepared import send
from knowledge.models.webhook import every_event
from knowledge.sources.addresses import read_url
from knowledge.sources.http import stream
from knowledge.validation import clean_line, one_of

MAX_WEBHOOKS = 20
MAX_WEBHOOK_URL = 2_000
TEST_EVENT = "webhook.test"
ANSWER_SEC = 15
GONE = 410
_MAY_PASS = frozenset({408, 425, 429})
_LONGEST_ANSWER = 300


# What a caller asks for -----------------------------------------------------------------------


def list_webhooks(access: Access) -> list[Webhook]:
    """The owner's webhooks, oldest first."""
    _require_all(access)
    return list(Webhook.objects.visible_to(access).order_by("created_at", "pk"))


@transaction.atomic
def create_webhook(access: Access, url: str, events: Collection[str] | None = None) -> Webhook:
    """Have an address told of these events, or of every one; only now is its secret shown."""
    _require_all(access)
    url, events = check_webhook_url(url), check_events(every_event() if events is None else events)
    lock_counted_rows(access.owner_id)
    if Webhook.objects.visible_to(access).count() >= MAX_WEBHOOKS:
        raise Conflict(f"There are {MAX_WEBHOOKS} webhooks, the most there may be; delete one.")
    webhook = Webhook.objects.create(owner_id=access.owner_id, url=url, events=events)
    changes.webhook_created(access, webhook)
    return webhook


@transaction.atomic
def update_webhook(
    access: Access, webhook_id: UUID, *, url: str, events: Collection[str], is_active: bool
) -> Webhook:
    """Change where and of what a webhook is told; its secret stays."""
    webhook = _visible(access, webhook_id)
    before = changes.values_of(webhook, changes.WEBHOOK_FIELDS)
    webhook.url, webhook.events = check_webhook_url(url), check_events(events)
    webhook.is_active = is_active
    webhook.save(update_fields=["url", "events", "is_active"])
    changes.webhook_changed(access, webhook, before)
    return webhook


@transaction.atomic
def delete_webhook(access: Access, webhook_id: UUID) -> None:
    """Delete a webhook and its deliveries."""
    webhook = _visible(access, webhook_id)
    changes.webhook_deleted(access, webhook)
    webhook.delete()


def check_webhook_url(url: str) -> str:
    """A URL that may be told things; every address behind its name is vetted at each delivery."""
    url = clean_line(url, field="url", longest=MAX_WEBHOOK_URL)
    try:
        read_url(url)
    except IngestFailed as error:
        raise InvalidInput(error.message, field="url", **error.details) from None
    return url


def check_events(events: Collection[str]) -> list[str]:
    """Events that there are, each once."""
    if not events:
        raise InvalidInput("events must name at least one event.", field="events")
    known = every_event()
    return list(dict.fromkeys(one_of(event, known, field="events") for event in events))


# What is to be told ---------------------------------------------------------------------------


def announce(event: WebhookEvent, *items: Item) -> list[UUID]:
    """Create a delivery for each webhook and each item of an owner, in the caller's transaction.

    The caller sends a `deliver_webhook` job for each id that this answers.
    """
    if not items or not _has_webhook(items[0].owner_id):
        return []
    subscribers = list(_subscribers(items[0].owner_id, event))
    return [
        _create_delivery(webhook, event, item=_item_payload(item)).pk
        for item in items
        for webhook in subscribers
    ]


def announce_quota(owner_id: int, quota: Quota) -> list[UUID]:
    """Create a delivery for each webhook to notify that most of the month's quota is used."""
    shown = {
        "resource": RESOURCE,
        "tier": quota.tier,
        "cap_per_month": quota.cap_per_month,
        "used": quota.used,
    }
    event = WebhookEvent.QUOTA_NEAR
    return [
        _create_delivery(webhook, event, quota=shown).pk
        for webhook in _subscribers(owner_id, event)
    ]


def announce_test(webhook: Webhook) -> UUID:
    """Write down an event that means nothing, to see whether it arrives."""
    return _create_delivery(webhook, TEST_EVENT).pk


def queue_again(delivery_id: UUID) -> None:
    """Have a delivery sent once more, however it went before; the caller sends the job."""
    Delivery.objects.filter(pk=delivery_id).update(
        state=DeliveryState.QUEUED, attempts=0, changed_at=timezone.now()
    )


def _has_webhook(owner_id: int) -> bool:
    """Most owners have none, and this is asked at every addition: the ORM would take longer."""
    row = send(_HAS_WEBHOOK, [owner_id])
    return bool(row and row[0])


_HAS_WEBHOOK = "SELECT EXISTS (SELECT FROM knowledge_webhook WHERE owner_id = %s)"


def _subscribers(owner_id: int, event: WebhookEvent) -> Iterable[Webhook]:
    webhooks = Webhook.objects.visible_to(Access.whole_library(owner_id))
    return webhooks.filter(is_active=True, events__contains=[event])


def _create_delivery(webhook: Webhook, event: str, **about: Any) -> Delivery:
    delivery_id = uuid4()
    payload = {
        "id": str(delivery_id),
        "event": str(event),
        "created_at": timezone.now().isoformat(),
        **about,
    }
    return Delivery.objects.create(id=delivery_id, webhook=webhook, event=event, payload=payload)


def _item_payload(item: Item) -> dict[str, Any]:
    """Enough to know the item by and to fetch it; never its text."""
    content = item.content
    shown = {
        "user_item_id": str(item.pk),
        "content_id": str(content.pk),
        "title": item.title,
        "status": item.status,
        "kind": content.kind,
    }
    more = {"error": content.error, "suspected": item.suspected}
    return {**shown, **{name: value for name, value in more.items() if value}}


# How it is told -------------------------------------------------------------------------------


def deliver(delivery_id: UUID) -> None:
    """Send a delivery, unless that is settled; ProviderUnavailable if another try may do better."""
    queued = Delivery.objects.filter(pk=delivery_id, state=DeliveryState.QUEUED)
    delivery = queued.select_related("webhook").first()
    if delivery is None:
        return
    if not delivery.webhook.is_active:
        _record_attempt(delivery, DeliveryState.FAILED, "The webhook is switched off.", tries=0)
        return
    try:
        status = _post(delivery)
    except IngestFailed as error:
        _fail(delivery, error.message, may_pass=bool(error.details.get("may_pass")))
        return
    if 200 <= status < 300:
        _record_attempt(delivery, DeliveryState.DELIVERED, f"HTTP {status}")
        return
    if status == GONE:
        delivery.webhook.switch_off()
    _fail(delivery, _refusal(status), may_pass=status in _MAY_PASS or status >= 500)


def mark_failed(delivery_id: UUID) -> None:
    """Mark the delivery as failed after the last try; its last answer is the reason."""
    Delivery.objects.filter(pk=delivery_id, state=DeliveryState.QUEUED).update(
        state=DeliveryState.FAILED, changed_at=timezone.now()
    )


def body_of(delivery: Delivery) -> bytes:
    """The exact bytes that are sent, because the signature is over bytes."""
    return json.dumps(delivery.payload, ensure_ascii=False).encode()


def sign(key: bytes, *, message_id: str, timestamp: int, body: bytes) -> str:
    """The signature of a message, as Standard Webhooks defines it."""
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _post(delivery: Delivery) -> int:
    """The status that the receiver answers; what it says besides is not read."""
    webhook = delivery.webhook
    body = body_of(delivery)
    timestamp = int(time.time())
    message_id = str(delivery.pk)
    signature = sign(webhook.signing_key, message_id=message_id, timestamp=timestamp, body=body)
    headers = {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature,
    }
    with stream(
        webhook.url,
        method="POST",
        headers=headers,
        body=body,
        max_bytes=1_000,
        seconds=ANSWER_SEC,
        any_status=True,
        max_redirects=0,
    ) as (answer, _):
        return answer.status


def _refusal(status: int) -> str:
    if status == GONE:
        return "HTTP 410: the receiver wants no more, so the webhook is switched off."
    if 300 <= status < 400:
        return f"HTTP {status}: redirects are not followed; set the address where it leads."
    return f"HTTP {status}"


def _fail(delivery: Delivery, told: str, *, may_pass: bool) -> None:
    if not may_pass:
        _record_attempt(delivery, DeliveryState.FAILED, told)
        return
    _record_attempt(delivery, DeliveryState.QUEUED, told)
    raise ProviderUnavailable(f"The webhook was not told: {told}", may_pass=True)


def _record_attempt(delivery: Delivery, state: DeliveryState, told: str, *, tries: int = 1) -> None:
    Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.QUEUED).update(
        state=state,
        attempts=F("attempts") + tries,
        answer=told[:_LONGEST_ANSWER],
        changed_at=timezone.now(),
    )


def _visible(access: Access, webhook_id: UUID) -> Webhook:
    _require_all(access)
    webhook = Webhook.objects.visible_to(access).filter(pk=webhook_id).first()
    if webhook is None:
        raise not_found("webhook")
    return webhook


def _require_all(access: Access) -> None:
    """A webhook reports every item, so only a token that sees every item may have one."""
    access.require(Capability.WRITE)
    access.require_whole_library()
    if access.kb_only:
        raise CapabilityDenied(
            "This needs a token that sees items outside of the knowledge base too.",
            required=["whole_library"],
            have=sorted(access.capabilities),
        )
