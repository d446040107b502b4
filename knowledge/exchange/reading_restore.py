"""Restores what somebody read: highlights, progress and saved searches.

As with items, missing rows are created and existing rows stay as they are.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from django.db import transaction

from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.exchange.id_mapping import date_rows, items_here, places
from knowledge.exchange.item_restore import FolderIds
from knowledge.exchange.reading_records import (
    HighlightRecord,
    ProgressRecord,
    SavedSearchRecord,
)
from knowledge.ledger import changes
from knowledge.models import Highlight, ReadingProgress, SavedSearch
from knowledge.reading.saved_searches import save_search

Refuse: TypeAlias = Callable[[int, str], None]
"""Tells the line that is left out, and why."""

_GONE = "its item is not in the archive, and not in this library"


@transaction.atomic
def restore_highlights(
    access: Access, numbered: Sequence[tuple[int, HighlightRecord]], refuse: Refuse
) -> int:
    """Mark passages of items that are there; how many marks are new."""
    records = [record for _, record in numbered]
    ends = {each.item_id for each in records} | {each.note_id for each in records if each.note_id}
    items = items_here(access, ends)
    here = places(Highlight, access.owner_id, [record.id for record in records])
    made: dict[UUID, tuple[Highlight, HighlightRecord]] = {}
    for line, record in numbered:
        place = here[record.id]
        if record.item_id not in items:
            refuse(line, _GONE)
        elif not place.is_there and place.id not in made:
            row = Highlight(
                pk=place.id,
                owner_id=access.owner_id,
                item_id=items[record.item_id],
                note_id=items.get(record.note_id) if record.note_id else None,
                **record.fields,
            )
            made[place.id] = row, record
    rows = [row for row, _ in made.values()]
    Highlight.objects.bulk_create(rows)
    date_rows(Highlight, "created_at", rows, [record.created_at for _, record in made.values()])
    for row in rows:
        changes.row_added(access, row, fields=["item_id", "quote", "note_id"])
    return len(rows)


@transaction.atomic
def restore_progress(
    access: Access, numbered: Sequence[tuple[int, ProgressRecord]], refuse: Refuse
) -> None:
    """How far items were read that nobody has opened here."""
    items = items_here(access, {record.item_id for _, record in numbered})
    rows = []
    for line, record in numbered:
        if record.item_id in items:
            item_id = items[record.item_id]
            rows.append(
                ReadingProgress(item_id=item_id, share=record.share, changed_at=record.changed_at)
            )
        else:
            refuse(line, _GONE)
    ReadingProgress.objects.bulk_create(rows, ignore_conflicts=True)


def restore_saved_search(
    access: Access, record: SavedSearchRecord, folder_ids: FolderIds
) -> tuple[bool, str]:
    """Keep a search whose id and name are free; whether it is new, or why it cannot be."""
    place = places(SavedSearch, access.owner_id, [record.id])[record.id]
    mine = SavedSearch.objects.visible_to(access)
    if place.is_there or mine.filter(name__iexact=record.name).exists():
        return False, ""
    try:
        saved = save_search(access, record.name, _query_here(record.query, folder_ids), pk=place.id)
    except QuarryError as error:
        return False, error.message
    date_rows(SavedSearch, "created_at", [saved], [record.created_at])
    return True, ""


def _query_here(query: str, folder_ids: FolderIds) -> str:
    """With the ids that its folders have here."""
    names = {str(old): str(new) for old, new in folder_ids.items()}
    return urlencode([(name, names.get(value, value)) for name, value in parse_qsl(query)])
