"""Jobs that screen the rest of long texts."""

from uuid import UUID

import dramatiq
from django.db import transaction

from knowledge.jobs import stuck_rows
from knowledge.jobs.actors import HOUR
from knowledge.jobs.fairness import LONG_QUEUE, send_job
from knowledge.jobs.scheduling import every
from knowledge.models import Item
from knowledge.moderation import full_screening
from knowledge.moderation.findings import ScreeningResult


@dramatiq.actor(queue_name=LONG_QUEUE, max_retries=8, min_backoff=5_000, time_limit=HOUR)
def screen_item(item_id: str) -> None:
    """Screen all of an item of which only a part was read when it was written."""
    found = full_screening.screen(UUID(item_id))
    with transaction.atomic():
        if not full_screening.record_findings(UUID(item_id), found):
            send_job(screen_item, item_id)


def screen_the_rest(item: Item, found: ScreeningResult) -> None:
    """Have a job read what a write's first look left out, in the caller's transaction."""
    if item.half_screened == found.is_whole:
        item.half_screened = not found.is_whole
        item.save(update_fields=["half_screened", "updated_at"])
    if not found.is_whole:
        send_job(screen_item, str(item.pk), owner_id=item.owner_id)


@every(900)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_screenings() -> None:
    """Send again the screenings that a job server lost."""
    for item in Item.objects.filter(pk__in=stuck_rows.half_screened_items()):
        send_job(screen_item, str(item.pk), owner_id=item.owner_id)
