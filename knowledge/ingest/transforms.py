"""Asking for an item's summary: by a caller, or beside what is being added."""

from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, ProviderUnavailable, not_found
from knowledge.ingest.followups import summarize_item
from knowledge.jobs.fairness import send_job
from knowledge.models import Item, Transform, TransformState
from knowledge.models.key_locks import lock_keys
from knowledge.providers import live_summarizer

LOST_AFTER = timedelta(hours=6)
"""Longer than all tries of a job take: what is queued since then can be asked for again."""


def transform_item(access: Access, item_id: UUID) -> Transform:
    """Have an item summed up by a job, anew if it was before; one under way is left at it."""
    access.require(Capability.WRITE)
    item = Item.objects.visible_to(access).select_related("content").filter(pk=item_id).first()
    if item is None:
        raise not_found("item")
    if not item.content.is_ready:
        raise Conflict(
            "The item's text is not there yet, so there is nothing to sum up; ask when it is ready."
        )
    live_summarizer()  # refuses here, and not in the job, when it lacks its key
    with transaction.atomic():
        lock_keys(Item, [item.pk])
        if not Item.objects.visible_to(access).filter(pk=item.pk).exists():
            raise not_found("item")
        transform = _lock_transform(item)
        if not _is_under_way(transform):
            _queue(transform)
    return transform


def estimate_transform(access: Access, item_id: UUID) -> float:
    """About what a summary of the item would cost, in US dollars; nothing is spent."""
    access.require(Capability.READ)
    items = Item.objects.visible_to(access).filter(pk=item_id)
    text = items.values_list("content__text", flat=True).first()
    if text is None:
        raise not_found("item")
    return live_summarizer().estimate_usd(text)


def want_transform(item: Item) -> Transform:
    """Request a summary of an item that is being added; it starts when the text is ready.

    Runs within the caller's transaction. A reason against it is stored on the row.
    """
    transform = _lock_transform(item)
    try:
        live_summarizer()
    except (ProviderUnavailable, ImproperlyConfigured) as error:
        transform.state, transform.error = TransformState.FAILED, str(error)
        transform.save()
        return transform
    if item.content.is_ready:
        _queue(transform)
    return transform


def _lock_transform(item: Item) -> Transform:
    """Get or create the item's transform, and lock it."""
    transform, _ = Transform.objects.select_for_update().get_or_create(item=item)
    return transform


def _is_under_way(transform: Transform) -> bool:
    if transform.state != TransformState.QUEUED:
        return False
    return timezone.now() - transform.changed_at < LOST_AFTER


def _queue(transform: Transform) -> None:
    transform.state, transform.error = TransformState.QUEUED, ""
    transform.save()
    send_job(summarize_item, str(transform.item_id), owner_id=transform.item.owner_id)
