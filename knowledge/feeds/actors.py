"""Jobs that poll feeds and add their entries."""

from functools import partial
from uuid import UUID

import dramatiq
from django.db import transaction
from django.utils import timezone

from knowledge.access import Access
from knowledge.feeds import polling
from knowledge.ingest import arrivals
from knowledge.ingest.adding import FoundLink, find_or_fetch
from knowledge.ingest.arrivals import refuse_unpaid
from knowledge.ingest.items import ItemOptions
from knowledge.jobs.actors import HOUR
from knowledge.jobs.fairness import LONG_QUEUE, send_job
from knowledge.jobs.notices import Topic, tell_owner
from knowledge.jobs.scheduling import every
from knowledge.models import ArrivalState, Content, Feed, FeedEntry
from knowledge.sources import links
from knowledge.sources.feeds import episode_of


@every(60)
@dramatiq.actor(max_retries=0, time_limit=600_000)
def poll_feeds() -> None:
    """Have every feed polled that is due; a poll also goes on with entries whose job was lost."""
    now = timezone.now()
    for feed_id, owner_id in polling.due(now):
        with transaction.atomic():
            if polling.take_slot(feed_id, now):
                send_job(poll_feed, str(feed_id), owner_id=owner_id)


@dramatiq.actor(max_retries=3, min_backoff=60_000, time_limit=600_000)
def poll_feed(feed_id: str) -> None:
    """Ask a feed once."""
    if polling.poll(UUID(feed_id)):
        send_job(add_entries, feed_id)


# A turn is short, but a document that an entry leads to may take an hour to read.
@dramatiq.actor(queue_name=LONG_QUEUE, max_retries=8, min_backoff=5_000, time_limit=2 * HOUR)
def add_entries(feed_id: str) -> None:
    """Add what waits for a while; what is left has its turn behind the jobs of others."""
    wait_sec = take_turn(UUID(feed_id))
    if wait_sec is not None:
        send_job(add_entries, feed_id, delay=int(wait_sec * 1000))


def take_turn(feed_id: UUID) -> float | None:
    """Add entries one by one; the seconds until the next turn, None if nothing is left."""
    return arrivals.take_turn(feed_id.int, partial(_next_entry, feed_id), _work)


def _next_entry(feed_id: UUID) -> FeedEntry | None:
    waiting = FeedEntry.objects.filter(feed_id=feed_id, state=ArrivalState.WAITING)
    # The feed is read anew each time: its owner may change it meanwhile.
    return waiting.select_related("feed").order_by("due_at", "-published_at", "pk").first()


def _work(entry: FeedEntry) -> None:
    arrivals.try_arrival(entry, partial(_add, entry))
    tell_owner(entry.feed.owner_id, Topic.ARRIVALS)


def _add(entry: FeedEntry) -> None:
    feed = entry.feed
    access = Access.whole_library(feed.owner_id)
    options = ItemOptions(tags=tuple(feed.tags), folder_id=feed.folder_id)
    item = arrivals.add_arrival(access, entry, options, find=partial(_find, feed, entry))
    if item is not None:
        arrivals.settle(entry, ArrivalState.ADDED, item=item)


def _find(feed: Feed, entry: FeedEntry) -> FoundLink:
    may_transcribe = feed.may_transcribe or entry.may_transcribe
    found = _find_episode(feed, entry) if entry.episode else find_or_fetch(entry.url)
    return refuse_unpaid(found, may_transcribe=may_transcribe)


def _find_episode(feed: Feed, entry: FeedEntry) -> FoundLink:
    if known := Content.objects.find_shared(entry.key):
        return FoundLink(key=entry.key, kind=known.kind, source=known)
    fetched = links.open_episode(episode_of(entry.episode), feed_url=feed.url)
    return FoundLink(key=entry.key, kind=fetched.kind, source=fetched.found, fetched=fetched)
