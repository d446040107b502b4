"""What a caller may do with the items and folders that it can see."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InvalidInput, not_found
from knowledge.indexing import pipeline
from knowledge.indexing.preparing import Prepared
from knowledge.ingest import followups, sweeps
from knowledge.ingest.contents import queue_content, start_job
from knowledge.ingest.items import file_into, index_text
from knowledge.jobs.fairness import send_job
from knowledge.ledger import changes as record
from knowledge.ledger import quotas
from knowledge.library.display_rows import find_shown_item, read_folders
from knowledge.models import (
    Content,
    ContentState,
    Filing,
    Folder,
    IndexStatus,
    Item,
    ItemType,
    Step,
    Upload,
)
from knowledge.models.item import ItemQuerySet
from knowledge.models.locking import lock_contents_of, lock_item
from knowledge.models.naming import get_by_name_or_id, refuse_taken_name
from knowledge.moderation import quarantine
from knowledge.retrieval.scope import Narrowing, narrow
from knowledge.validation import (
    clean_line,
    clean_text,
    one_of,
    within,
)

MAX_RECENT = 100
MAX_PER_PAGE = 100
MAX_PAGE = 1_000_000
MAX_FOLDER_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """How a listing is narrowed; what is left None does not narrow."""

    folder_id: UUID | None = None
    archived: bool | None = None
    in_kb: bool | None = None
    type: str | None = None
    tag: str | None = None
    q: str | None = None
    since: str | datetime | None = None


Expectation = Callable[[Item], None]
"""A precondition (If-Match): refuses an item of another version; called on a locked row."""

Place = tuple[datetime, UUID]
"""Where an item stands among the newest: when it was made, and its id."""


def accept_any_version(item: Item) -> None:
    """Any state of an item will do."""


@dataclass(frozen=True, slots=True)
class Recent:
    """The first items of an order, and whether others follow."""

    items: list[Item]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing, and how long the whole of it is."""

    items: list[Item]
    total: int
    page: int
    per_page: int


def list_recent(access: Access, *, limit: int = 20, before: Place | None = None) -> Recent:
    """The newest items the caller may see, or those that follow a place in that order."""
    access.require(Capability.READ)
    within(limit, field="limit", low=1, high=MAX_RECENT)
    items = Item.objects.visible_to(access).filter(archived=False)
    if before is not None:
        items = items.older_than(*before)
    rows = list(_without_texts(_for_display(items, access)).newest_first()[: limit + 1])
    return Recent(rows[:limit], has_more=len(rows) > limit)


def items_titled(access: Access, beginning: str, *, limit: int = 100) -> Recent:
    """The newest items whose title begins like this, in any case."""
    access.require(Capability.READ)
    items = Item.objects.visible_to(access).filter(archived=False).with_title_prefix(beginning)
    rows = list(_without_texts(items.select_related("content")).newest_first()[: limit + 1])
    return Recent(rows[:limit], has_more=len(rows) > limit)


def list_items(access: Access, filters: ItemFilter, *, page: int = 1, per_page: int = 20) -> Page:
    """One page of the items the caller may see, newest first."""
    access.require(Capability.READ)
    within(page, field="page", low=1, high=MAX_PAGE)
    within(per_page, field="per_page", low=1, high=MAX_PER_PAGE)
    items = _condition_of(access, filters)
    start = (page - 1) * per_page
    rows = _without_texts(_for_display(items, access)).newest_first()[start : start + per_page]
    return Page(list(rows), items.count(), page, per_page)


def get_item(access: Access, item_id: UUID) -> Item:
    """One item with its content and the folders the caller may know it is in.

    It is in the caller's reach, or a skill or unit that is published to the caller.
    """
    access.require(Capability.READ)
    seen = find_shown_item(access, item_id)
    return seen or _item_for_display(access, Item.objects.published_to(access), item_id)


def visible_item(access: Access, item_id: UUID, *, for_update: bool = False) -> Item:
    """An item as it is shown, and with `for_update` held for the caller's transaction."""
    items = Item.objects.visible_to(access)
    if for_update:
        items = items.select_for_update(of=("self",))
    return _item_for_display(access, items, item_id)


def _item_for_display(access: Access, items: ItemQuerySet, item_id: UUID) -> Item:
    item = _for_display(items, access).with_attributes_for(access).filter(pk=item_id).first()
    if item is None:
        raise not_found("item")
    return item


def set_fields(item: Item, fields: Mapping[str, Any], ready: Prepared | None) -> None:
    """Change an item that the caller's transaction holds, and its place in the index with it."""
    must_index = needs_indexing(item, fields)
    for name, value in fields.items():
        setattr(item, name, value)
    item.save()
    if not item.in_kb:
        pipeline.remove_from_index(item)
    elif must_index:
        index_or_wait(item, ready)


@transaction.atomic
def delete_item(access: Access, item_id: UUID, *, expect: Expectation = accept_any_version) -> None:
    """Delete an item with its chunks, and its content unless others share it.

    One that is also filed out of the caller's reach only leaves the folders within it.
    """
    access.require(Capability.WRITE)
    item = _lock_with_content(access, item_id)
    expect(item)
    within_reach = [filing.pk for filing in item.seen_filings]
    if item.filings.exclude(pk__in=within_reach).exists():
        _unfile(access, item, item.seen_filings)
    else:
        _delete(access, item)


@transaction.atomic
def retry_item(access: Access, item_id: UUID) -> Item:
    """Try again what failed: to read or transcribe the source, or to embed its text."""
    access.require(Capability.WRITE)
    item = _lock_with_content(access, item_id)
    content = item.content
    if content.state == ContentState.FAILED:
        begin_again(access, content)
    elif content.is_ready and item.index_status == IndexStatus.FAILED:
        item.index_status, item.index_error = IndexStatus.KEYWORD, ""
        item.save(update_fields=["index_status", "index_error"])
        followups.send_embedding(item)
    else:
        raise Conflict("Nothing about this item has failed, so there is nothing to retry.")
    return visible_item(access, item_id)


@transaction.atomic
def file_item(access: Access, item_id: UUID, folder_ids: Collection[UUID]) -> Item:
    """Put an item in folders; every folder must be within the caller's reach."""
    access.require(Capability.WRITE)
    if not folder_ids:
        raise InvalidInput("folder_ids must name at least one folder.", field="folder_ids")
    item = visible_item(access, item_id, for_update=True)
    file_into(access, item, Folder.objects.visible_to(access).lock_all_of(folder_ids))
    return visible_item(access, item_id)


@transaction.atomic
def unfile_item(access: Access, item_id: UUID, folder_id: UUID) -> None:
    """Take an item out of a folder; taking it out twice is the same as once."""
    access.require(Capability.WRITE)
    item = visible_item(access, item_id, for_update=True)
    folder = _visible_folder(access, folder_id)
    _unfile(access, item, [f for f in item.seen_filings if f.folder_id == folder.pk])


def list_folders(access: Access) -> list[Folder]:
    """The caller's folders by name, with what it can see in each."""
    access.require(Capability.READ)
    return read_folders(access)


def create_folder(access: Access, name: str) -> Folder:
    """Make a folder; a scoped token may not, for its scope never grows."""
    access.require(Capability.WRITE)
    access.require_whole_library()
    name = clean_line(name, field="name", longest=MAX_FOLDER_NAME)
    with refuse_taken_name("folder"):
        folder = Folder.objects.create(owner_id=access.owner_id, name=name)
        record.folder_created(access, folder)
    return get_folder(access, folder.pk)


def rename_folder(access: Access, folder_id: UUID, name: str) -> Folder:
    """Give a folder another name; a scoped token may not, for a taken name tells of hidden ones."""
    access.require(Capability.WRITE)
    access.require_whole_library()
    name = clean_line(name, field="name", longest=MAX_FOLDER_NAME)
    with refuse_taken_name("folder"):
        folder = _visible_folder(access, folder_id, for_update=True)
        before, folder.name = folder.name, name
        folder.save(update_fields=["name"])
        record.folder_renamed(access, folder, before)
    return get_folder(access, folder_id)


@transaction.atomic
def delete_folder(access: Access, folder_id: UUID, *, cascade_items: bool = False) -> None:
    """Delete a folder; its items stay, unfiled from it, unless they are to go with it."""
    access.require(Capability.WRITE)
    access.require_whole_library()
    folder = _visible_folder(access, folder_id)
    if cascade_items:
        filed = Item.objects.visible_to(access).filter(folders=folder)
        lock_contents_of(filed)
        for item in filed.select_for_update(of=("self",)).order_by("pk"):
            _delete(access, item)
    # Locked only now: whoever adds to it locks a content first, and the record misses no filing.
    folder = _visible_folder(access, folder_id, for_update=True)
    record.folder_deleted(access, folder)
    folder.delete()


def get_folder(access: Access, folder_id: UUID) -> Folder:
    """One folder with what the caller can see in it."""
    folders = Folder.objects.visible_to(access).with_counts_for(access)
    folder = folders.filter(pk=folder_id).first()
    if folder is None:
        raise not_found("folder")
    return folder


def folder_by_name_or_id(access: Access, name_or_id: str) -> Folder:
    """A folder as people name it: its name in any case, or its id."""
    folders = Folder.objects.visible_to(access)
    hint = "The page Folders and POST /api/v1/folders make folders."
    return get_by_name_or_id(folders, name_or_id, noun="folder", hint=hint)


def _lock_with_content(access: Access, item_id: UUID) -> Item:
    lock_item(Item.objects.visible_to(access), item_id)
    return visible_item(access, item_id)


def _visible_folder(access: Access, folder_id: UUID, *, for_update: bool = False) -> Folder:
    folders = Folder.objects.visible_to(access)
    if for_update:
        folders = folders.select_for_update()
    folder = folders.filter(pk=folder_id).first()
    if folder is None:
        raise not_found("folder")
    return folder


def _for_display(items: ItemQuerySet, access: Access) -> ItemQuerySet:
    return items.select_related("content", "transform").with_folders_for(access)


def _without_texts(items: ItemQuerySet) -> ItemQuerySet:
    """A listing shows no text: a hundred long ones would be read for nothing."""
    return items.defer("content__text", "content__locators")


def _condition_of(access: Access, filters: ItemFilter) -> ItemQuerySet:
    """By the engine's own limits, and by what only a listing can ask for."""
    type_, tag = filters.type, filters.tag
    narrowing = Narrowing(
        folder_id=filters.folder_id,
        types=() if type_ is None else [one_of(type_, ItemType.values, field="type")],
        tags=() if tag is None else [tag],
        since=filters.since,
    )
    condition = Q()
    if filters.archived is not None:
        condition &= Q(archived=filters.archived)
    if filters.in_kb is not None:
        condition &= Q(in_kb=filters.in_kb)
    if filters.q is not None:
        words = clean_text(filters.q, field="q", shortest=1, longest=200)
        condition &= Q(custom_title__icontains=words) | Q(
            custom_title="", content__title__icontains=words
        )
    return narrow(access, Item.objects.visible_to(access).filter(condition), narrowing)


def begin_again(access: Access, content: Content) -> None:
    """Have a content that failed, and that the caller holds, read or transcribed once more."""
    step = Step.TRANSCRIBE if content.is_recording else Step.EXTRACT
    queue_content(content, step)
    if content.is_recording:
        quotas.reserve(access.owner_id, content.pk, content.duration_sec)
    start_job(content, owner_id=access.owner_id)


def index_or_wait(item: Item, ready: Prepared | None) -> None:
    """Index what is there; an item whose text is still to come waits for it."""
    # Read anew: its job may have finished, or begun, since the item was looked up.
    content = item.content
    content.refresh_from_db()
    if content.is_ready:
        index_text(item, ready)
        return
    has_failed = content.state == ContentState.FAILED
    item.index_status = IndexStatus.FAILED if has_failed else IndexStatus.PENDING
    item.index_error = content.error
    item.save(update_fields=["index_status", "index_error"])


def needs_indexing(item: Item, fields: Mapping[str, Any]) -> bool:
    """Whether these changes bring the item into the index, or change what it says there."""
    joins = fields.get("in_kb", item.in_kb) and not item.in_kb
    renamed = fields.get("custom_title", item.title) != item.title
    return joins or (renamed and bool(fields.get("in_kb", item.in_kb)))


def _unfile(access: Access, item: Item, filings: Collection[Filing]) -> None:
    """Take a locked item out of folders within the caller's reach."""
    record.item_unfiled(access, item, filings)
    named = [filing.pk for filing in filings]
    Filing.objects.visible_to(access).filter(pk__in=named).delete()


def _delete(access: Access, item: Item) -> None:
    record.item_deleted(access, item)
    quarantine.remember_deleted(item)
    pipeline.remove_from_index(item)
    content = item.content
    item.delete()
    if content.items.exists():
        return
    quotas.give_back(content.pk)
    if upload := getattr(content, "upload", None):
        _schedule_file_removal(access, upload)
    content.delete()


def _schedule_file_removal(access: Access, upload: Upload) -> None:
    """Have a file removed; of what is recorded, when that can no longer be undone."""
    if access.recorded_as is None:
        send_job(sweeps.remove_stored_file, str(upload.pk), owner_id=upload.owner_id)
        return
    upload.kept_until = timezone.now() + record.KEPT_FOR
    upload.save(update_fields=["kept_until"])
