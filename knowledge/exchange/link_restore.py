"""Restores what belongs to the items of an export: relations, versions, documentation sources.

As with items, missing rows are created and existing rows stay as they are.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from django.db import transaction

from knowledge.access import Access
from knowledge.crawling.documentation import MAX_SOURCES, SourceChanges
from knowledge.crawling.site import Site
from knowledge.errors import IngestFailed, InvalidInput
from knowledge.exchange.id_mapping import date_rows, places
from knowledge.exchange.import_screening import Admission
from knowledge.exchange.item_restore import FolderIds
from knowledge.exchange.link_records import PageRecord, RelationRecord, SourceRecord, VersionRecord
from knowledge.jobs.fairness import send_job
from knowledge.ledger import changes
from knowledge.models import (
    REGISTRY_TYPES,
    CrawlState,
    Item,
    ItemType,
    PageState,
    Relation,
    RelationType,
    Source,
    SourcePage,
    Version,
    Visibility,
)
from knowledge.models.locking import lock_counted_rows
from knowledge.moderation import quarantine
from knowledge.moderation.findings import each_once
from knowledge.registry import bundles
from knowledge.registry.contribution_screening import screen_skill, screen_unit
from knowledge.registry.published_items import TYPES
from knowledge.registry.skill_format import read_skill, skill_digest
from knowledge.registry.unit_format import read_unit
from knowledge.sources.addresses import read_url
from knowledge.trust import actors

Refuse: TypeAlias = Callable[[int, str], None]
"""Tells the line that is left out, and why."""

_SETTINGS = ("name", "include", "exclude", "depth", "max_pages", "start_url")
_GONE = "its item is not in the archive, and not in this library"


# Relations ------------------------------------------------------------------------------------


@transaction.atomic
def restore_relations(
    access: Access, numbered: Sequence[tuple[int, RelationRecord]], refuse: Refuse
) -> int:
    """Relate items that are both there; how many relations are new."""
    relating = _Relating(access, [record for _, record in numbered])
    made: list[tuple[Relation, RelationRecord]] = []
    for line, record in numbered:
        if reason := relating.why_not(record):
            refuse(line, reason)
        elif relation := relating.missing(record):
            made.append((relation, record))
    rows = [row for row, _ in made]
    Relation.objects.bulk_create(rows)
    date_rows(Relation, "created_at", rows, [record.created_at for _, record in made])
    for row in rows:
        changes.row_added(access, row)
    return len(rows)


class _Relating:
    """What is there of some relations: their items, themselves, or others in their place."""

    def __init__(self, access: Access, records: Sequence[RelationRecord]) -> None:
        self._access = access
        ends = {end for record in records for end in (record.source_id, record.target_id)}
        self._items = places(Item, access.owner_id, ends)
        seen = Item.objects.visible_to(access).filter(
            pk__in=[place.id for place in self._items.values()]
        )
        self._types: dict[UUID, str] = dict(seen.values_list("pk", "type"))
        self._here = places(Relation, access.owner_id, [record.id for record in records])
        self._known = {place.id for place in self._here.values() if place.is_there}
        hold = Relation.objects.visible_to(access).filter(source__in=seen, valid_until=None)
        self._in_force = set(hold.values_list("source_id", "target_id", "type"))

    def why_not(self, record: RelationRecord) -> str:
        source_id, target_id, type_ = self._edge(record)
        if source_id not in self._types or target_id not in self._types:
            return "one of its items is not in the archive, and not in this library"
        if source_id == target_id:
            return "an item cannot be related to itself"
        if type_ == RelationType.BELONGS_TO and self._types[target_id] != ItemType.PROJECT:
            return "belongs_to leads to a project"
        return ""

    def missing(self, record: RelationRecord) -> Relation | None:
        """The relation to create; None if it exists, or another one has replaced it."""
        pk, edge = self._here[record.id].id, self._edge(record)
        holds = record.valid_until is None
        if pk in self._known or (holds and edge in self._in_force):
            return None
        self._known.add(pk)
        if holds:
            self._in_force.add(edge)
        source_id, target_id, _ = edge
        return Relation(
            pk=pk,
            owner_id=self._access.owner_id,
            source_id=source_id,
            target_id=target_id,
            added_by_token=self._access.token_id,
            **record.fields,
        )

    def _edge(self, record: RelationRecord) -> tuple[UUID, UUID, str]:
        return self._items[record.source_id].id, self._items[record.target_id].id, record.type


# Versions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a version holds, as it is when it is contributed."""

    document: dict[str, Any]
    digest: str
    files: bundles.Stored
    admission: Admission


@transaction.atomic
def restore_versions(
    access: Access, item_id: UUID, numbered: Iterable[tuple[int, VersionRecord]], refuse: Refuse
) -> int:
    """All versions of an item that has none; they are read one by one, for each may be large."""
    pk = places(Item, access.owner_id, [item_id])[item_id].id
    items = Item.objects.visible_to(access).filter(type__in=REGISTRY_TYPES)
    item = items.select_related("content").filter(pk=pk).first()
    if item is not None and Version.objects.filter(item=item).exists():
        return 0
    admissions: dict[int, Admission] = {}
    for line, record in numbered:
        try:
            if item is None or record.number in admissions:
                raise InvalidInput(_GONE if item is None else "this version is there twice")
            admissions[record.number] = _restore_version(access, item, record)
        except InvalidInput as error:
            refuse(line, error.message)
    if item is not None and admissions:
        _mark_and_score(access, item, admissions[max(admissions)])
    return len(admissions)


def _restore_version(access: Access, item: Item, record: VersionRecord) -> Admission:
    read = _read_skill(record) if item.type == ItemType.SKILL else _read_unit(item, record)
    version = Version.objects.create(
        item=item,
        number=record.number,
        label=record.label,
        digest=read.digest,
        document=read.document,
        files=read.files,
        visibility=read.admission.visibility(record.visibility),
        added_by_agent=access.agent_id,
    )
    date_rows(Version, "created_at", [version], [record.created_at])
    changes.row_added(access, version, fields=changes.VERSION_FIELDS)
    return read.admission


def _read_skill(record: VersionRecord) -> _Reading:
    skill_md = record.document.get("skill_md")
    if not isinstance(skill_md, str):
        raise InvalidInput("document: skill_md must be a text", field="document")
    skill, bundle = read_skill(skill_md), bundles.read_bundle(record.files)
    return _Reading(
        document={"skill_md": skill.skill_md, "body": skill.body},
        digest=skill_digest(skill_md, bundle),
        files=bundles.as_stored(bundle),
        admission=Admission(screen_skill(skill.front, bundle, in_full=True).all),
    )


def _read_unit(item: Item, record: VersionRecord) -> _Reading:
    unit = read_unit(dict(record.document))
    if TYPES[unit.type] != item.type or record.files:
        raise InvalidInput(f"document: it is no {item.type} without files", field="document")
    admission = Admission(screen_unit(unit.document, in_full=True).all)
    return _Reading(unit.document, unit.digest, {}, admission)


def _mark_and_score(access: Access, item: Item, current: Admission) -> None:
    """Mark what its current version is suspected of and share that with nobody; have it scored."""
    item = Item.objects.select_for_update(of=("self",)).select_related("content").get(pk=item.pk)
    if current.suspicions:
        before = changes.values_of(item, ("visibility", "suspicions"))
        item.visibility = Visibility.PRIVATE
        item.suspicions = each_once([*item.suspicions, *current.suspicions])
        item.save(update_fields=[*before, "updated_at"])
        changes.item_changed(access, item, before)
    quarantine.quarantine_again(access, item, set(item.versions.values_list("digest", flat=True)))
    send_job(actors.rescore_item, str(item.pk), owner_id=item.owner_id)


# Documentation sources ------------------------------------------------------------------------


@transaction.atomic
def restore_source(
    access: Access, record: SourceRecord, folder_ids: FolderIds, restored: set[UUID]
) -> bool:
    """A source of this id or name is there, or is made: idle, and knowing what it has read.

    Those of the archive, which are noted in `restored`, may have the same name: in a library,
    sources that no token sees together do.
    """
    lock_counted_rows(access.owner_id)
    place = places(Source, access.owner_id, [record.id])[record.id]
    mine = Source.objects.visible_to(access)
    if not place.is_there:
        others = mine.filter(name__iexact=record.name).exclude(pk__in=restored)
        if others.exists():
            return False
    restored.add(place.id)
    if place.is_there:
        return False
    if mine.count() >= MAX_SOURCES:
        raise InvalidInput(f"there are {MAX_SOURCES} sources already")
    source = Source.objects.create(
        pk=place.id,
        owner_id=access.owner_id,
        folder_id=folder_ids.get(record.folder_id) if record.folder_id else None,
        state=CrawlState.DONE if record.was_crawled else CrawlState.NEW,
        crawl=int(record.was_crawled),
        finished_at=record.finished_at,
        added_by_token=access.token_id,
        added_by_agent=access.agent_id,
        **_settings(record),
    )
    date_rows(Source, "created_at", [source], [record.created_at])
    changes.row_added(access, source, fields=_SETTINGS)
    _make_pages(access, source, record)
    return True


def _settings(record: SourceRecord) -> dict[str, Any]:
    wished = SourceChanges(
        name=record.name,
        include=record.include,
        exclude=record.exclude,
        depth=record.depth,
        max_pages=record.max_pages,
    )
    try:
        start_url = read_url(record.start_url.partition("#")[0]).url
    except IngestFailed as error:
        raise InvalidInput(f"start_url: {error.message}", field="start_url") from None
    return {**wished.checked_fields(), "start_url": start_url}


def _make_pages(access: Access, source: Source, record: SourceRecord) -> None:
    """Each page of the site once; one whose item is missing is to be read anew."""
    item_ids = _free_items(access, record.item_ids)
    site = Site(source.start_url, 0)
    pages: dict[str, SourcePage] = {}
    for page in record.pages:
        if page.key not in pages and site.has(page.url):
            item_id = item_ids.pop(page.item_id, None) if page.item_id else None
            pages[page.key] = _page(source, page, item_id)
    SourcePage.objects.bulk_create(pages.values())


def _free_items(access: Access, item_ids: set[UUID]) -> dict[UUID, UUID]:
    """What these items are here, as far as they are of no other page."""
    here = places(Item, access.owner_id, item_ids)
    there = Item.objects.visible_to(access).filter(
        pk__in=[place.id for place in here.values()], source_page=None
    )
    free = set(there.values_list("pk", flat=True))
    return {pk: place.id for pk, place in here.items() if place.id in free}


def _page(source: Source, record: PageRecord, item_id: UUID | None) -> SourcePage:
    if record.item_id and item_id is None:
        record = record.as_queued()
    was_seen = record.state != PageState.QUEUED
    return SourcePage(
        source=source, seen_in=source.crawl if was_seen else 0, **record.fields(item_id)
    )
