"""Jobs that shelve items, or judge them; those that a shelf itself needs are in `tasks`."""

from uuid import UUID

import dramatiq
from django.db import transaction
from django.utils import timezone

from knowledge import (
    full_screening,
    sweeping,
    tasks,  # noqa: F401 (makes the broker that these actors belong to)
)
from knowledge.crawling import crawl
from knowledge.errors import InternalError
from knowledge.findings import Found
from knowledge.models import Item, Source
from knowledge.scheduling import every
from knowledge.trust import reputation, scoring

_HOUR = 3_600_000
_SCORED_AT_ONCE = 500


# How good contributions are, and how far agents are trusted ----------------------------------


@dramatiq.actor(max_retries=8, min_backoff=5_000, time_limit=600_000)
def rescore_item(item_id: str) -> None:
    """Score a skill or unit as it is now."""
    scoring.rescore(UUID(item_id))


@every(900)
@dramatiq.actor(max_retries=0, time_limit=_HOUR)
def sweep_scores() -> None:
    """Score what has no score yet, or whose novelty could only be assumed."""
    for item_id in scoring.unscored(_SCORED_AT_ONCE):
        rescore_item.send(str(item_id))


@every(3600)
@dramatiq.actor(max_retries=0, time_limit=_HOUR)
def sweep_reputation() -> None:
    """Work every reputation out exactly, and weigh all judgments by them."""
    reputation.recompute()
    scoring.reweigh_all()


# The rest of long texts ------------------------------------------------------------------------


@dramatiq.actor(max_retries=8, min_backoff=5_000, time_limit=_HOUR)
def screen_item(item_id: str) -> None:
    """Screen all of an item of which only a part was read when it was written."""
    found = full_screening.screen(UUID(item_id))
    with transaction.atomic():
        if not full_screening.settle(UUID(item_id), found):
            screen_item.send(item_id)


def screen_the_rest(item: Item, found: Found) -> None:
    """Have a job read what a write's first look left out, in the caller's transaction."""
    if item.half_screened == found.is_whole:
        item.half_screened = not found.is_whole
        item.save(update_fields=["half_screened", "updated_at"])
    if not found.is_whole:
        screen_item.send(str(item.pk))


@every(900)
@dramatiq.actor(max_retries=0, time_limit=_HOUR)
def sweep_screenings() -> None:
    """Send again the screenings that a job server lost."""
    for item_id in sweeping.half_screened_items():
        screen_item.send(str(item_id))


# Documentation sources ------------------------------------------------------------------------


# A turn is short, but a scanned document that it comes upon may take an hour to read.
@dramatiq.actor(max_retries=8, min_backoff=5_000, time_limit=2 * _HOUR)
def crawl_source(source_id: str) -> None:
    """Crawl for a while; what is left waits for its next turn, behind the jobs of others."""
    wait_sec = crawl.take_turn(UUID(source_id))
    if wait_sec is not None:
        crawl_source.send_with_options(args=(source_id,), delay=int(wait_sec * 1000))


@every(300)
@dramatiq.actor(max_retries=0, time_limit=_HOUR)
def sweep_sources() -> None:
    """Go on with crawls whose job was lost, and begin those that are due again."""
    for source in Source.objects.filter(pk__in=sweeping.stuck_sources()):
        source.save(update_fields=["changed_at"])
        crawl_source.send(str(source.pk))
    for source_id in sweeping.given_up_sources():
        crawl.fail(source_id, InternalError("Its job died too often; crawl it again."))
    for source_id in crawl.stale(timezone.now()):
        with transaction.atomic():
            start_crawl(source_id)


def start_crawl(source_id: UUID) -> None:
    """Begin a crawl in the caller's transaction; one that runs already goes on."""
    source = crawl.held(source_id)
    if source is not None and not source.is_at_work:
        crawl.queue(source)
        crawl_source.send(str(source_id))
