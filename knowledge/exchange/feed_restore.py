"""Restores the feeds that somebody followed; one that is followed here stays as it is."""

from typing import Any

from django.db import transaction

from knowledge.access import Access
from knowledge.errors import InvalidInput
from knowledge.exchange.feed_records import FeedRecord
from knowledge.exchange.id_mapping import date_rows, items_here, places
from knowledge.exchange.item_restore import FolderIds
from knowledge.feeds.following import MAX_FEEDS, FeedChanges, clean_feed_url
from knowledge.ledger import changes
from knowledge.models import Feed, FeedEntry, FeedState
from knowledge.models.locking import lock_counted_rows
from knowledge.sources import canonical

_SETTINGS = ("url", "title", "tags", "max_entries", "may_transcribe")


@transaction.atomic
def restore_feed(access: Access, record: FeedRecord, folder_ids: FolderIds) -> bool:
    """A feed of this id or address is followed, or is now: asked soon, unless it was paused."""
    settings = _settings(record)
    lock_counted_rows(access.owner_id)
    place = places(Feed, access.owner_id, [record.id])[record.id]
    mine = Feed.objects.visible_to(access)
    if place.is_there or mine.filter(key=settings["key"]).exists():
        return False
    if mine.count() >= MAX_FEEDS:
        raise InvalidInput(f"there are {MAX_FEEDS} feeds already")
    feed = Feed.objects.create(
        pk=place.id,
        owner_id=access.owner_id,
        folder_id=folder_ids.get(record.folder_id) if record.folder_id else None,
        state=FeedState.PAUSED if record.is_paused else FeedState.ACTIVE,
        **settings,
    )
    date_rows(Feed, "created_at", [feed], [record.created_at])
    changes.row_added(access, feed, fields=_SETTINGS)
    items = items_here(access, record.item_ids)
    entries = {
        each.guid_hash: FeedEntry(
            feed=feed, **each.fields(items.get(each.item_id) if each.item_id else None)
        )
        for each in record.entries
    }
    FeedEntry.objects.bulk_create(entries.values())
    return True


def _settings(record: FeedRecord) -> dict[str, Any]:
    wished = FeedChanges(
        title=record.title,
        tags=record.tags,
        max_entries=record.max_entries,
        may_transcribe=record.may_transcribe,
    )
    url = clean_feed_url(record.url)
    return {**wished.checked_fields(), "url": url, "key": canonical.key(url)}
