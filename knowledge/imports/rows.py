"""Works off the rows of an import: each is added once, and says what came of it."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Mod
from django.utils import timezone

from knowledge.access import Access
from knowledge.errors import Conflict, NameTaken
from knowledge.feeds import following
from knowledge.indexing.preparing import Prepared, prepare
from knowledge.ingest import arrivals
from knowledge.ingest.adding import FoundLink, add_text, find_or_fetch
from knowledge.ingest.arrivals import refuse_unpaid
from knowledge.ingest.items import ItemOptions, create_item, rewrite_item
from knowledge.jobs.notices import Topic, tell_owner
from knowledge.ledger import changes
from knowledge.library.items import create_folder
from knowledge.models import (
    ArrivalState,
    BatchState,
    Content,
    Folder,
    ImportBatch,
    ImportRow,
    Item,
    RowKind,
)
from knowledge.models.locking import lock_item
from knowledge.text.languages import language_of
from knowledge.validation import MAX_TAGS

LANES = 2
"""How many rows of one import are worked on at once, each lane its own part of them."""


def take_turn(batch_id: UUID, lane: int) -> float | None:
    """Work on a lane for a while; the seconds until its next turn, None if nothing is left."""
    wait = arrivals.take_turn(batch_id.int + lane, partial(_next_row, batch_id, lane), _work)
    if wait is None:
        finish_if_done(batch_id)
    return wait


def finish_if_done(batch_id: UUID) -> None:
    """An import is done when no row waits any more."""
    with transaction.atomic():
        batch = ImportBatch.objects.select_for_update(no_key=True).filter(pk=batch_id).first()
        if batch is None or batch.state != BatchState.RUNNING:
            return
        if not batch.rows.filter(state=ArrivalState.WAITING).exists():
            batch.state, batch.finished_at = BatchState.DONE, timezone.now()
            batch.save(update_fields=["state", "finished_at", "changed_at"])
            tell_owner(batch.owner_id, Topic.ARRIVALS)


def _next_row(batch_id: UUID, lane: int) -> ImportRow | None:
    waiting = ImportRow.objects.filter(
        batch_id=batch_id, batch__state=BatchState.RUNNING, state=ArrivalState.WAITING
    )
    mine = waiting.annotate(lane=Mod(F("position"), LANES)).filter(lane=lane)
    return mine.select_related("batch").order_by("due_at", "position").first()


def _work(row: ImportRow) -> None:
    add = {RowKind.LINK: _add_link, RowKind.TEXT: _add_text, RowKind.FEED: _follow}
    access = Access.whole_library(row.batch.owner_id)
    arrivals.try_arrival(row, partial(add[RowKind(row.kind)], access, row))
    ImportBatch.objects.filter(pk=row.batch_id).update(changed_at=timezone.now())
    tell_owner(access.owner_id, Topic.ARRIVALS)


def _add_link(access: Access, row: ImportRow) -> None:
    options = _options(access, row)
    may_transcribe = row.batch.may_transcribe or row.may_transcribe

    def find() -> FoundLink:
        return refuse_unpaid(find_or_fetch(row.url), may_transcribe=may_transcribe)

    item = arrivals.add_arrival(access, row, options, find=find)
    if item is None:
        return
    with transaction.atomic():  # a note comes with the word that it is there, or not at all
        _set_saved(access, item, row.saved_at)
        if row.note:
            _add_note(access, row, item, options)
        arrivals.settle(row, ArrivalState.ADDED, item=item)


def _add_note(access: Access, row: ImportRow, item: Item, options: ItemOptions) -> None:
    title = f"Notes: {item.title}"[:500]
    text = f"{row.note}\n\nAbout {row.url}"
    note = add_text(access, title=title, text=text, tags=options.tags)
    if options.folder_id:
        Folder.objects.visible_to(access).lock_all_of([options.folder_id])
        note.filings.create(folder_id=options.folder_id)


def _add_text(access: Access, row: ImportRow) -> None:
    options = _options(access, row)
    there = None if row.item_id else text_imported_before(access, row.key)
    if there:
        row.text = ""
        arrivals.settle(row, ArrivalState.THERE, item=there)
        return
    prepared = prepare(row.text, row.title)
    if row.item_id and _update_note(access, row, prepared):
        return
    with transaction.atomic():
        content = Content.objects.create(
            owner_id=access.owner_id,
            kind="markdown",
            title=row.title,
            text=row.text,
            language=language_of(row.text),
        )
        item = create_item(access, content, options, prepared)
        _set_saved(access, item, row.saved_at)
        row.text = ""
        arrivals.settle(row, ArrivalState.ADDED, item=item)


@transaction.atomic
def _update_note(access: Access, row: ImportRow, prepared: Prepared) -> bool:
    """Give the item of the same path the note's new text; not if somebody else shares it.

    It is recorded under the import's id, so that its owner can undo it.
    """
    recorded = replace(access, action_id=row.batch_id)
    mine = Item.objects.visible_to(access).filter(content__owner_id=access.owner_id)
    item = lock_item(mine, row.item_id) if row.item_id else None
    if item is None:
        return False
    rewrite_item(recorded, item, title=row.title, text=row.text, prepared=prepared)
    before = {"tags": item.tags}
    item.tags = list(dict.fromkeys([*item.tags, *row.tags]))[:MAX_TAGS]
    item.save(update_fields=["tags", "updated_at"])
    changes.item_changed(recorded, item, before)
    row.text = ""
    arrivals.settle(row, ArrivalState.ADDED, item=item, reason="updated")
    return True


def text_imported_before(access: Access, key: str) -> Item | None:
    """The item of the same text from an earlier import, if it is still there."""
    earlier = ImportRow.objects.filter(
        key=key, batch__owner_id=access.owner_id, state=ArrivalState.ADDED
    )
    return Item.objects.visible_to(access).filter(pk__in=earlier.values("item")).first()


def _follow(access: Access, row: ImportRow) -> None:
    changes = following.FeedChanges(
        tags=[*row.tags, *row.batch.tags], may_transcribe=row.batch.may_transcribe
    )
    try:
        following.follow_feed(
            access, url=row.url, folder_id=_folder_id(access, row), changes=changes
        )
    except Conflict as error:
        if error.details.get("reason") != "followed":
            raise
        arrivals.settle(row, ArrivalState.THERE)
    else:
        arrivals.settle(row, ArrivalState.ADDED)


def _options(access: Access, row: ImportRow) -> ItemOptions:
    tags = tuple(dict.fromkeys([*row.tags, *row.batch.tags]))[:50]
    return ItemOptions(title=row.title, tags=tags, folder_id=_folder_id(access, row))


def _folder_id(access: Access, row: ImportRow) -> UUID | None:
    """The folder of a row: of its own name in the export, or the one chosen for all."""
    if not (row.batch.keeps_folders and row.folder_name):
        return row.batch.folder_id
    named = Folder.objects.visible_to(access).filter(name__iexact=row.folder_name)
    if folder := named.first():
        return folder.pk
    try:
        return create_folder(access, row.folder_name).pk
    except NameTaken:  # the other lane was quicker
        return named.values_list("pk", flat=True).first()


def _set_saved(access: Access, item: Item, saved_at: datetime | None) -> None:
    """The item's age is that of the bookmark, as with an archive."""
    if saved_at is not None and saved_at < timezone.now():
        Item.objects.visible_to(access).filter(pk=item.pk).update(created_at=saved_at)
