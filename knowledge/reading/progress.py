"""How far a person has read an item."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput, not_found
from knowledge.models import Item, ReadingProgress

FINISHED = 0.97
"""The share from which an item counts as read: few scroll to the very last line."""


def save_progress(access: Access, item_id: UUID, share: float) -> ReadingProgress:
    """Note where the person is, further on or back again."""
    access.require(Capability.WRITE)
    if not 0 <= share <= 1:
        raise InvalidInput("share must be between 0 and 1.", field="share")
    with transaction.atomic():
        items = Item.objects.visible_to(access).select_for_update(of=("self",), no_key=True)
        if not items.filter(pk=item_id).values_list("pk").first():
            raise not_found("item")
        progress, _ = ReadingProgress.objects.visible_to(access).update_or_create(
            item_id=item_id, defaults={"share": share, "changed_at": timezone.now()}
        )
    return progress


def progress_of(access: Access, item_ids: Collection[UUID]) -> dict[UUID, float]:
    """The share that is read of each of these items that was begun."""
    access.require(Capability.READ)
    rows = ReadingProgress.objects.visible_to(access).filter(pk__in=item_ids)
    return dict(rows.values_list("pk", "share"))


def unfinished_items(access: Access, *, limit: int = 5) -> list[ReadingProgress]:
    """What was begun and not finished, with its item, the latest first."""
    access.require(Capability.READ)
    begun = ReadingProgress.objects.visible_to(access).filter(
        share__gt=0, share__lt=FINISHED, item__archived=False
    )
    rows = begun.select_related("item__content").defer(
        "item__content__text", "item__content__locators"
    )
    return list(rows.order_by("-changed_at")[:limit])
