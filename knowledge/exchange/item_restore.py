"""Creates the rows of an export's records that are missing, and leaves existing rows alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Lower

from knowledge.access import Access
from knowledge.errors import IngestFailed
from knowledge.exchange import import_screening
from knowledge.exchange.id_mapping import Place, date_rows, places
from knowledge.exchange.import_screening import Admission
from knowledge.exchange.item_records import ItemRecord
from knowledge.exchange.records import ContentRecord, FolderRecord
from knowledge.indexing import preparing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest.items import index_text
from knowledge.ledger import changes
from knowledge.models import (
    MEMORY_TYPES,
    REGISTRY_TYPES,
    UNIT_TYPES,
    Filing,
    Folder,
    IndexStatus,
    Item,
    Transform,
    Visibility,
)
from knowledge.models.content import Content, ContentState, Link
from knowledge.models.locking import lock_contents
from knowledge.sources import canonical


@dataclass(frozen=True, slots=True)
class Group:
    """A content and items of it."""

    content: ContentRecord
    items: Sequence[ItemRecord]


Batch: TypeAlias = list[Group]
FolderIds: TypeAlias = dict[UUID, UUID]
"""Folders of an archive, and what they are here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How much of a batch is new, and how many items were there already."""

    items: int
    contents: int
    skipped: int


@transaction.atomic
def restore_folder(access: Access, record: FolderRecord) -> tuple[UUID, bool]:
    """The id of the owner's folder of this id or name, and whether it had to be made."""
    place = places(Folder, access.owner_id, [record.id])[record.id]
    if place.is_there:
        return place.id, False
    names = Folder.objects.visible_to(access).annotate(lower=Lower("name"))
    if named := names.filter(lower=Lower(Value(record.name))).first():
        return named.pk, False
    folder = Folder.objects.create(pk=place.id, owner_id=access.owner_id, name=record.name)
    Folder.objects.filter(pk=folder.pk).update(created_at=record.created_at)
    changes.folder_created(access, folder)
    return folder.pk, True


def restore_batch(access: Access, batch: Batch, folder_ids: FolderIds) -> Kept:
    """Make what is missing of a batch, whole or not at all; it is found by word at once."""
    asked = [item for group in batch for item in group.items]
    here = places(Item, access.owner_id, [item.id for item in asked])
    new = _without_known(batch, here)
    # Cutting and screening are slow, and done before any row is held.
    ready = {group.content.id: _cut(group) for group in new}
    admissions = _admissions(new)
    projects = _projects(access, new)
    with transaction.atomic():
        contents, made = _contents(access, [group.content for group in new])
        records = [record for group in new for record in group.items]
        items = []
        for record in records:
            item = _item(access, record, here[record.id].id, contents[record.content_id])
            _map_project(item, projects)
            _show(access, item, admissions[record.id])
            items.append(item)
        _make_items(items, records)
        _make_filings(access, items, records, folder_ids)
        _make_transforms(items, records)
        for item, record in zip(items, records, strict=True):
            admissions[record.id].hold(item)
            if item.in_kb and item.content.is_ready:
                index_text(item, ready[record.content_id], is_new=True)
    return Kept(items=len(items), contents=made, skipped=len(asked) - len(items))


def _without_known(batch: Batch, here: dict[UUID, Place]) -> Batch:
    """The items that are not there, each once, with their contents."""
    seen = {pk for pk, place in here.items() if place.is_there}
    new = []
    for group in batch:
        fresh = {item.id: item for item in group.items if item.id not in seen}
        seen |= fresh.keys()
        if fresh:
            new.append(Group(group.content, list(fresh.values())))
    return new


def _cut(group: Group) -> Prepared | None:
    is_needed = any(item.in_kb for item in group.items)
    return preparing.prepare_without_vectors(group.content.text) if is_needed else None


def _admissions(batch: Batch) -> dict[UUID, Admission]:
    return {
        record.id: import_screening.of_item(record, group.content)
        for group in batch
        for record in group.items
    }


def _projects(access: Access, batch: Batch) -> dict[str, str]:
    """What the projects that are named in a batch are here, or will be."""
    named = {
        UUID(str(record.attributes["project"]))
        for group in batch
        for record in group.items
        if record.type in MEMORY_TYPES and "project" in record.attributes
    }
    here = places(Item, access.owner_id, named)
    return {str(pk): str(place.id) for pk, place in here.items()}


# Contents -------------------------------------------------------------------------------------


def _contents(access: Access, records: Sequence[ContentRecord]) -> tuple[dict[UUID, Content], int]:
    """What each record is here, and how many had to be made."""
    found = _equal_shared_contents(records)
    rest = [record for record in records if record.id not in found]
    here = places(Content, access.owner_id, [record.id for record in rest])
    there = _lock_contents(access.owner_id, (place.id for place in here.values() if place.is_there))
    made = {}
    for record in rest:
        place = here[record.id]
        content = there.get(place.id)
        if content is None:
            content = made[place.id] = Content(
                pk=place.id, owner_id=access.owner_id, percent=_percent(record), **record.fields
            )
        found[record.id] = content
    Content.objects.bulk_create(made.values())
    return found, len(made)


def _equal_shared_contents(records: Sequence[ContentRecord]) -> dict[UUID, Content]:
    """The shared contents whose text equals that of the records exactly.

    Knowing the whole text gives the right to the shared content; knowing its address does not.
    """
    wanted = [record for record in records if record.url and record.text]
    addresses = {record.id: _key(record.url) for record in wanted}
    links = Link.objects.filter(key__in=set(addresses.values()) - {""})
    led_to = dict(links.values_list("key", "content_id"))
    ids = {pk: (pk, led_to.get(key)) for pk, key in addresses.items()}
    shared = _lock_contents(None, (pk for some in ids.values() for pk in some if pk))
    return {
        record.id: twin
        for record in wanted
        for pk in ids[record.id]
        if pk in shared and _is_equal(twin := shared[pk], record)
    }


def _is_equal(content: Content, record: ContentRecord) -> bool:
    return content.is_ready and ContentRecord.of(content).says_what(record)


def _lock_contents(owner_id: int | None, content_ids: Iterable[UUID]) -> dict[UUID, Content]:
    """Lock contents of an owner, or shared ones, until this transaction ends; in order of id."""
    contents = Content.objects.filter(owner_id=owner_id)
    return lock_contents(contents).in_bulk(set(content_ids))


def _key(url: str) -> str:
    try:
        return canonical.key(url)
    except IngestFailed:
        return ""


def _percent(record: ContentRecord) -> int:
    return 100 if record.state == "ready" else 0


# Items ----------------------------------------------------------------------------------------


def _item(access: Access, record: ItemRecord, item_id: UUID, content: Content) -> Item:
    item = Item(
        pk=item_id,
        owner_id=access.owner_id,
        content=content,
        added_by_token=access.token_id,
        added_by_agent=access.agent_id,
        **record.fields,
    )
    item.in_kb = item.in_kb or access.kb_only
    if item.in_kb:
        has_failed = content.state == ContentState.FAILED
        item.index_status = IndexStatus.FAILED if has_failed else IndexStatus.PENDING
        item.index_error = content.error
    return item


def _map_project(item: Item, projects: dict[str, str]) -> None:
    if item.type in MEMORY_TYPES and "project" in item.attributes:
        item.attributes["project"] = projects[item.attributes["project"]]


def _show(access: Access, item: Item, admission: Admission) -> None:
    """The exported visibility, if there are no findings and no other owner has the same id."""
    item.suspicions = admission.suspicions
    is_shared = item.type in REGISTRY_TYPES
    item.visibility = admission.visibility(item.visibility) if is_shared else Visibility.PRIVATE
    unit_id = item.attributes.get("unit_id") if item.type in UNIT_TYPES else None
    if unit_id and item.visibility != Visibility.PRIVATE:
        same = Item.objects.offered_to(access).filter(type__in=UNIT_TYPES)
        others = same.exclude(owner_id=access.owner_id)
        if others.filter(attributes__contains={"unit_id": unit_id}).exists():
            item.visibility = Visibility.PRIVATE


def _make_items(items: list[Item], records: Sequence[ItemRecord]) -> None:
    Item.objects.bulk_create(items)
    date_rows(Item, "created_at", items, [record.created_at for record in records])


def _make_filings(
    access: Access, items: list[Item], records: Sequence[ItemRecord], folder_ids: FolderIds
) -> None:
    """File each item where it was, as far as the archive has the folder."""
    filings: list[Filing] = []
    dates: list[datetime] = []
    for item, record in zip(items, records, strict=True):
        filed_at = {
            folder_ids[filing.folder_id]: filing.filed_at
            for filing in record.filings
            if filing.folder_id in folder_ids
        }
        filings += [Filing(item=item, folder_id=folder_id) for folder_id in filed_at]
        dates += filed_at.values()
    Filing.objects.bulk_create(filings)
    date_rows(Filing, "filed_at", filings, dates)
    changes.items_added(access, items, filings)


def _make_transforms(items: list[Item], records: Sequence[ItemRecord]) -> None:
    told = [
        (item, record.transform)
        for item, record in zip(items, records, strict=True)
        if record.transform
    ]
    transforms = [Transform(item=item, **transform.fields) for item, transform in told]
    Transform.objects.bulk_create(transforms)
    date_rows(Transform, "changed_at", transforms, [transform.changed_at for _, transform in told])
