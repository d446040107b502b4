"""What people ask of their feeds: follow one, change it, look at its entries, let it go."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, IngestFailed, InvalidInput, not_found
from knowledge.feeds import actors, polling
from knowledge.feeds.fetching import find_feed
from knowledge.ingest.arrivals import try_again
from knowledge.jobs.fairness import send_job
from knowledge.models import ArrivalState, Feed, FeedEntry, FeedState, Folder
from knowledge.models.feed import MAX_ENTRIES_PER_POLL
from knowledge.models.locking import lock_counted_rows
from knowledge.sources import canonical
from knowledge.sources.addresses import read_url
from knowledge.sources.extracted import MAX_PAGE_URL
from knowledge.validation import clean_line, clean_tags, clean_text, one_of, within

MAX_FEEDS = 500
MAX_TITLE = 500
ENTRIES_SHOWN = 100
DEFAULT_ENTRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedChanges:
    """Changes to a feed; a field that is None stays as it is."""

    title: str | None = None
    tags: Collection[str] | None = None
    max_entries: int | None = None
    may_transcribe: bool | None = None

    def checked_fields(self) -> dict[str, Any]:
        """The model's fields to set, each within its rule."""
        fields: dict[str, Any] = {}
        if self.title is not None:
            fields["title"] = clean_line(self.title, field="title", longest=MAX_TITLE)
        if self.tags is not None:
            fields["tags"] = clean_tags(self.tags)
        if self.max_entries is not None:
            fields["max_entries"] = within(
                self.max_entries, field="max_entries", low=1, high=MAX_ENTRIES_PER_POLL
            )
        if self.may_transcribe is not None:
            fields["may_transcribe"] = self.may_transcribe
        return fields


def list_feeds(access: Access) -> list[Feed]:
    """The caller's feeds by name, with how many of their entries are in each state."""
    access.require(Capability.READ)
    feeds = Feed.objects.visible_to(access).select_related("folder").with_counts()
    return list(feeds.order_by("title", "pk"))


def get_feed(access: Access, feed_id: UUID) -> Feed:
    """One feed, with how many of its entries are in each state."""
    access.require(Capability.READ)
    feeds = Feed.objects.visible_to(access).select_related("folder").with_counts()
    feed = feeds.filter(pk=feed_id).first()
    if feed is None:
        raise not_found("feed")
    return feed


def list_entries(access: Access, feed_id: UUID, *, state: str | None = None) -> list[FeedEntry]:
    """A feed's newest entries, what came of each, and its item where there is one."""
    entries = get_feed(access, feed_id).entries.select_related("item__content")
    entries = entries.defer("item__content__text", "item__content__locators")
    if state is not None:
        entries = entries.filter(state=one_of(state, ArrivalState.values, field="state"))
    return list(entries[:ENTRIES_SHOWN])


def follow_feed(
    access: Access, *, url: str, folder_id: UUID | None = None, changes: FeedChanges | None = None
) -> Feed:
    """Follow the feed at an address, or the one that a page there names; its newest come first."""
    access.require(Capability.WRITE)
    fields = (changes or FeedChanges()).checked_fields()
    if folder_id:
        Folder.objects.visible_to(access).all_of([folder_id])
    refuse_followed(access, url)
    found = find_feed(clean_feed_url(url))
    refuse_followed(access, found.url)
    title = " ".join(found.entries.title.split())[:MAX_TITLE] or found.url[:MAX_TITLE]
    with transaction.atomic():
        lock_counted_rows(access.owner_id)
        if folder_id:
            Folder.objects.visible_to(access).lock_all_of([folder_id])
        if Feed.objects.visible_to(access).count() >= MAX_FEEDS:
            raise Conflict(f"You follow {MAX_FEEDS} feeds already; let one go first.")
        feed, is_new = Feed.objects.visible_to(access).get_or_create(
            owner_id=access.owner_id,
            key=canonical.key(found.url),
            defaults={
                "url": found.url,
                "title": title,
                "site_url": found.entries.site_url[:MAX_PAGE_URL],
                "folder_id": folder_id or access.filing_folder_id,
                "etag": found.etag,
                "last_modified": found.last_modified,
                "polled_at": timezone.now(),
                "next_poll_at": timezone.now() + polling.interval(),
                **fields,
            },
        )
        if is_new:
            polling.record_entries(feed, found.entries.entries, reason="older")
            send_job(actors.add_entries, str(feed.pk), owner_id=feed.owner_id)
    return get_feed(access, feed.pk)


def refuse_followed(access: Access, url: str) -> None:
    """A feed is followed once; asked for again, say so before anything is fetched."""
    followed = (
        Feed.objects.visible_to(access).filter(key=canonical.key(clean_feed_url(url))).first()
    )
    if followed is not None:
        raise Conflict(f"You follow this feed already, as {followed.title}.", reason="followed")


def update_feed(access: Access, feed_id: UUID, changes: FeedChanges) -> Feed:
    """Change what is given; it holds from the next poll on."""
    access.require(Capability.WRITE)
    fields = changes.checked_fields()
    Feed.objects.visible_to(access).filter(pk=get_feed(access, feed_id).pk).update(
        **fields, changed_at=timezone.now()
    )
    return get_feed(access, feed_id)


@transaction.atomic
def file_feed(access: Access, feed_id: UUID, folder_id: UUID | None) -> Feed:
    """Say where new entries go; what is there stays where it is."""
    access.require(Capability.WRITE)
    if folder_id:
        Folder.objects.visible_to(access).lock_all_of([folder_id])
    feed = get_feed(access, feed_id)
    Feed.objects.visible_to(access).filter(pk=feed.pk).update(folder_id=folder_id)
    return get_feed(access, feed_id)


@transaction.atomic
def poll_now(access: Access, feed_id: UUID) -> Feed:
    """Ask a feed at once, and again from now on if it was paused."""
    access.require(Capability.WRITE)
    feed = get_feed(access, feed_id)
    state = FeedState.ACTIVE if feed.state == FeedState.PAUSED else feed.state
    Feed.objects.visible_to(access).filter(pk=feed.pk).update(
        state=state, failures=0, next_poll_at=timezone.now() + polling.interval()
    )
    send_job(actors.poll_feed, str(feed.pk), owner_id=feed.owner_id)
    return get_feed(access, feed_id)


def pause_feed(access: Access, feed_id: UUID) -> Feed:
    """Ask a feed no more until its owner wants it again."""
    access.require(Capability.WRITE)
    feed = get_feed(access, feed_id)
    Feed.objects.visible_to(access).filter(pk=feed.pk).update(
        state=FeedState.PAUSED, reason="", error=""
    )
    return get_feed(access, feed_id)


def unfollow_feed(access: Access, feed_id: UUID) -> None:
    """Let a feed go; the items of its entries stay."""
    access.require(Capability.WRITE)
    get_feed(access, feed_id).delete()


@transaction.atomic
def add_entry(access: Access, feed_id: UUID, entry_id: int) -> None:
    """Add an entry that failed, was skipped, or whose price its owner agrees to."""
    access.require(Capability.WRITE)
    feed = get_feed(access, feed_id)
    open_states = (ArrivalState.FAILED, ArrivalState.SKIPPED, ArrivalState.PRICED)
    entries = feed.entries.filter(pk=entry_id, state__in=open_states).exclude(key="")
    agreed = entries.filter(state=ArrivalState.PRICED).exists()
    if not try_again(entries, may_transcribe=True if agreed else None):
        raise not_found("entry that could be added")
    send_job(actors.add_entries, str(feed.pk), owner_id=feed.owner_id)


def clean_feed_url(url: str) -> str:
    """The address of a feed as it is kept."""
    url = clean_text(url, field="url", shortest=1, longest=MAX_PAGE_URL).strip()
    url = url if "://" in url else f"https://{url}"
    try:
        return read_url(url.partition("#")[0]).url
    except IngestFailed as error:
        raise InvalidInput(error.message, field="url") from None
