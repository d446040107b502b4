"""Polls a feed: what is new waits to be added, and a feed that fails says why and is left alone."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from knowledge.errors import IngestFailed, QuarryError
from knowledge.feeds.fetching import FetchedFeed, fetch_feed
from knowledge.jobs.notices import Topic, tell_owner
from knowledge.models import ArrivalState, Feed, FeedEntry, FeedState
from knowledge.sources import canonical
from knowledge.sources.feeds import Entry
from knowledge.validation import make_storable

MOST_READ = 500
"""Of the entries that a feed lists, the newest."""
MOST_KEPT = 1_000
LONGEST_PAUSE = timedelta(days=1)
MOST_FAILURES = 30
"""In a row; by then it has not answered for about a month."""
_GONE_FOR_GOOD = 410
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def due(now: datetime) -> list[tuple[UUID, int]]:
    """Feeds that are to be polled now, each with its owner."""
    feeds = Feed.objects.filter(next_poll_at__lte=now).exclude(state=FeedState.PAUSED)
    return list(feeds.order_by("next_poll_at").values_list("pk", "owner_id")[:500])


def take_slot(feed_id: UUID, now: datetime) -> bool:
    """Set the next poll; whether this caller is the one to do the present one."""
    waiting = Feed.objects.filter(pk=feed_id, next_poll_at__lte=now)
    return bool(waiting.update(next_poll_at=now + interval()))


def interval() -> timedelta:
    return timedelta(minutes=settings.QUARRY_FEED_POLL_MINUTES)


def poll(feed_id: UUID) -> bool:
    """Ask a feed once, and write down what is new; whether anything waits to be added."""
    feed = Feed.objects.filter(pk=feed_id).exclude(state=FeedState.PAUSED).first()
    if feed is None:
        return False
    try:
        fetched = fetch_feed(feed.url, etag=feed.etag, last_modified=feed.last_modified)
    except QuarryError as error:
        _record_failure(feed, error)
    else:
        _record_success(feed, fetched)
    tell_owner(feed.owner_id, Topic.ARRIVALS)
    return feed.entries.filter(state=ArrivalState.WAITING).exists()


def record_entries(feed: Feed, entries: Iterable[Entry], *, reason: str) -> None:
    """Write down the entries that are new: the newest wait, and the others are skipped."""
    newest = sorted(entries, key=lambda entry: entry.published_at or _LONG_AGO, reverse=True)
    listed = {_hash(entry.guid): entry for entry in reversed(newest[:MOST_READ])}
    known = set(feed.entries.filter(guid_hash__in=listed).values_list("guid_hash", flat=True))
    feed.entries.filter(guid_hash__in=known).update(seen_at=timezone.now())
    new = [_row(feed, name, entry) for name, entry in listed.items() if name not in known]
    waiting = [row for row in reversed(new) if row.state == ArrivalState.WAITING]
    for row in waiting[feed.max_entries :]:
        row.state, row.reason = ArrivalState.SKIPPED, reason
    FeedEntry.objects.bulk_create(new, ignore_conflicts=True)
    _forget_old(feed)


@transaction.atomic
def _record_success(feed: Feed, fetched: FetchedFeed | None) -> None:
    feed.state, feed.reason, feed.error, feed.failures = FeedState.ACTIVE, "", "", 0
    feed.polled_at = timezone.now()
    if fetched is not None:
        feed.etag, feed.last_modified = fetched.etag, fetched.last_modified
        record_entries(feed, fetched.entries.entries, reason="over_limit")
    feed.save(update_fields=[*_POLLED, "etag", "last_modified"])


_POLLED = ("state", "reason", "error", "failures", "polled_at", "changed_at")


def _record_failure(feed: Feed, error: QuarryError) -> None:
    feed.failures += 1
    feed.polled_at = timezone.now()
    feed.reason = str(error.details.get("reason", error.code))[:40]
    feed.error = error.message
    is_gone = error.details.get("status") == _GONE_FOR_GOOD
    if is_gone or feed.failures >= MOST_FAILURES:
        feed.state = FeedState.PAUSED
    else:
        feed.state = FeedState.FAILING
        pause = interval() * 2 ** min(feed.failures, 10)
        feed.next_poll_at = timezone.now() + min(pause, max(LONGEST_PAUSE, interval()))
    feed.save(update_fields=[*_POLLED, "next_poll_at"])


def _row(feed: Feed, guid_hash: str, entry: Entry) -> FeedEntry:
    row = FeedEntry(
        feed=feed,
        guid_hash=guid_hash,
        title=make_storable(entry.title)[:500],
        url=make_storable(entry.link),
        published_at=entry.published_at,
        episode=entry.episode,
    )
    try:
        row.key = _key(feed, entry)
    except IngestFailed as error:
        row.state, row.reason, row.error = ArrivalState.SKIPPED, "no_link", error.message
    return row


def _key(feed: Feed, entry: Entry) -> str:
    return (
        canonical.episode_key(feed.url, entry.guid) if entry.episode else canonical.key(entry.link)
    )


def _hash(guid: str) -> str:
    return hashlib.sha256(guid.encode("utf-8", "surrogatepass")).hexdigest()


def _forget_old(feed: Feed) -> None:
    """Drop entries that the feed has not listed for long, so that no feed fills the table."""
    oldest = feed.entries.order_by("-seen_at", "-pk").values_list("pk", flat=True)[MOST_KEPT:]
    FeedEntry.objects.filter(pk__in=list(oldest)).delete()
