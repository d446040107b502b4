"""An export brought back: what is not there yet is added, and nothing is ever overwritten.

An archive may have been made by anybody, and its ids and addresses may be somebody else's. So an id
that another owner has is replaced by one that follows from it, and a content is never shared on the
archive's word: it is linked to a shared one that says the same to the letter, or kept as the
owner's own.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby, islice
from typing import Any, BinaryIO, TypeVar
from uuid import UUID

from django.db import IntegrityError, connection
from pydantic import ValidationError

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, IngestFailed, InvalidInput, PayloadTooLarge
from knowledge.exchange import feed_restore, item_restore, link_restore, reading_restore
from knowledge.exchange.exporting import (
    CONTENTS,
    FEEDS,
    FOLDERS,
    HIGHLIGHTS,
    ITEMS,
    MANIFEST,
    PROGRESS,
    RELATIONS,
    SAVED_SEARCHES,
    SOURCES,
    VERSIONS,
    OnProgress,
)
from knowledge.exchange.feed_records import FeedRecord
from knowledge.exchange.item_records import ItemRecord
from knowledge.exchange.item_restore import Batch, FolderIds, Group
from knowledge.exchange.link_records import RelationRecord, SourceRecord, VersionRecord
from knowledge.exchange.reading_records import (
    HighlightRecord,
    ProgressRecord,
    SavedSearchRecord,
)
from knowledge.exchange.records import ContentRecord, FolderRecord, Manifest, Record
from knowledge.locks import Lock
from knowledge.storage.zips import Archive

MOST_FOLDERS = 100_000
MOST_ENTRIES = 2_000_000
"""Of the archive's directory, which has a row for each item's Markdown too."""
MOST_LINES = 20_000_000
MOST_PROBLEMS = 100
"""Lines that could not be taken; with one more the import stops."""
_LINES_AT_ONCE = 500
_REQUIRED = {MANIFEST: 10_000, FOLDERS: 10_000, CONTENTS: 16_000_000, ITEMS: 1_000_000}
"""In bytes of a line: a content may have two million characters, and a place for each sentence."""
_LONGEST = {
    **_REQUIRED,
    RELATIONS: 10_000,
    VERSIONS: 20_000_000,
    SOURCES: 20_000_000,
    FEEDS: 20_000_000,
    HIGHLIGHTS: 100_000,
    PROGRESS: 10_000,
    SAVED_SEARCHES: 50_000,
}
"""With those that older archives lack; a skill has its files with it, a source its pages."""
_ROOM, _SWELLING = 256_000_000, 100
"""What may always be inflated, and how many times the archive's own size."""
_BATCH_ITEMS, _BATCH_CHARACTERS, _BATCH_RELATIONS = 50, 1_000_000, 500

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that was left out, and why."""

    file: str
    line: int
    message: str


@dataclass(slots=True)
class ImportReport:
    """What came of an import: how much is new, was there already, or could not be taken."""

    folders: int = 0
    contents: int = 0
    items: int = 0
    relations: int = 0
    versions: int = 0
    sources: int = 0
    feeds: int = 0
    highlights: int = 0
    saved_searches: int = 0
    skipped: int = 0
    failed: int = 0
    problems: list[Problem] = field(default_factory=list)
    """Those that failed."""

    items_done: int = field(default=0, compare=False)
    items_total: int = field(default=0, compare=False)
    lines: int = field(default=0, compare=False)
    on_lines: "Callable[[ImportReport], None]" = field(
        default=lambda report: None, repr=False, compare=False
    )
    """Called every so many lines; what it raises ends the import."""

    def leave_out(self, file: str, line: int, message: str) -> None:
        if self.failed >= MOST_PROBLEMS:
            raise InvalidInput(
                f"More than {MOST_PROBLEMS} lines of this archive could not be taken, so the "
                "import has stopped; what was taken before is kept. Mend the lines that are "
                "listed, or export the library again.",
                field="body",
            )
        self.failed += 1
        self.problems.append(Problem(file, line, message))

    def count_line(self) -> None:
        self.lines += 1
        if self.lines > MOST_LINES:
            raise PayloadTooLarge(
                f"This archive has more than {MOST_LINES:,} lines; export a folder at a time."
            )
        if self.lines % _LINES_AT_ONCE == 0:
            self.on_lines(self)

    def as_data(self) -> dict[str, Any]:
        """The counts and the problems, as JSON has them."""
        counts = {name: getattr(self, name) for name in COUNTS}
        return {**counts, "problems": [asdict(problem) for problem in self.problems]}


COUNTS = (
    *("folders", "contents", "items", "relations", "versions", "sources"),
    *("feeds", "highlights", "saved_searches", "skipped", "failed"),
)


def check_may_import(access: Access) -> None:
    """Refuse whoever may not import before anything is read."""
    access.require(Capability.WRITE)
    access.require_whole_library()


def import_library(
    access: Access,
    file: BinaryIO,
    *,
    report: ImportReport | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> ImportReport:
    """Add what an export has and the library lacks; stopped half way, run it again.

    A report that is given tells how far it came, however it ends.
    """
    check_may_import(access)
    report = report or ImportReport()
    with _import_lock(access.owner_id), _bad_archive_is_bad_input():
        archive = _open_archive(file)
        report.items_total = total = _manifest(archive).counts.items
        folder_ids = _folders(access, archive, report)
        done = 0
        for batch in _batches(_groups(archive, report)):
            done += sum(len(group.items) for group in batch)
            _restore_batch(access, batch, folder_ids, report)
            report.items_done = min(done, total)
            on_progress(report.items_done, total)
            report.on_lines(report)
        _links(access, archive, folder_ids, report)
        _reading(access, archive, folder_ids, report)
    return report


@contextmanager
def _import_lock(owner_id: int) -> Iterator[None]:
    """One import at a time into a library; a dead one's hold ends with it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [Lock.IMPORT, owner_id])
        if not cursor.fetchone()[0]:
            raise Conflict(
                "Another import into this library is running; wait until it is done.",
                reason="still_running",
            )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [Lock.IMPORT, owner_id])


@contextmanager
def _bad_archive_is_bad_input() -> Iterator[None]:
    try:
        yield
    except zipfile.BadZipFile as error:
        raise InvalidInput(
            f"This archive cannot be imported: {error}. Send one that Quarry exported, whole; "
            "what was taken before is kept and will be skipped.",
            field="body",
        ) from None


# The archive ----------------------------------------------------------------------------------


def _open_archive(file: BinaryIO) -> Archive:
    archive = Archive(file, _LONGEST.keys(), most_entries=MOST_ENTRIES)
    for name in _REQUIRED:
        if name not in archive:
            raise zipfile.BadZipFile(f"{name} is missing in it")
    room = max(_ROOM, _SWELLING * archive.length)
    if archive.inflated_size > room:
        raise PayloadTooLarge(
            f"This archive inflates to {archive.inflated_size:,} bytes, and at most {room:,} are "
            "taken of one of its size; export the library again, or a folder at a time.",
            max_bytes=room,
        )
    return archive


def _manifest(archive: Archive) -> Manifest:
    lines = archive.lines(MANIFEST, longest=_LONGEST[MANIFEST])
    try:
        return Manifest.model_validate_json(next(lines, b""))
    except ValidationError as error:
        raise zipfile.BadZipFile(f"{MANIFEST}: {_first_fault(error)}") from None


def _records(archive: Archive, name: str, kind: type[R], report: ImportReport) -> Iterator[R]:
    return (record for _, record in _numbered_records(archive, name, kind, report))


def _numbered_records(
    archive: Archive, name: str, kind: type[R], report: ImportReport
) -> Iterator[tuple[int, R]]:
    """Each line as a record, but for those that are none; an older archive may lack all."""
    lines = archive.lines(name, longest=_LONGEST[name]) if name in archive else ()
    for number, line in enumerate(lines, start=1):
        report.count_line()
        try:
            yield number, kind.model_validate_json(line)
        except ValidationError as error:
            report.leave_out(name, number, _first_fault(error))


def _first_fault(error: ValidationError) -> str:
    """The first thing that is wrong with a line, without its values."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def _groups(archive: Archive, report: ImportReport) -> Iterator[Group]:
    """Each content with its items, read side by side: both files are in the contents' order."""
    items = _records(archive, ITEMS, ItemRecord, report)
    item = next(items, None)
    for content in _records(archive, CONTENTS, ContentRecord, report):
        while item and item.content_id < content.id:
            item = _leave_out(item, items, report)
        mine: list[ItemRecord] = []
        while item and item.content_id == content.id:
            mine.append(item)
            item = next(items, None)
            if len(mine) == _BATCH_ITEMS:
                yield Group(content, mine)
                mine = []
        if mine:
            yield Group(content, mine)
    while item:
        item = _leave_out(item, items, report)


def _leave_out(
    item: ItemRecord, items: Iterator[ItemRecord], report: ImportReport
) -> ItemRecord | None:
    report.leave_out(ITEMS, 0, f"{item.id}: its content {item.content_id} is not in {CONTENTS}")
    return next(items, None)


def _batches(groups: Iterator[Group]) -> Iterator[Batch]:
    """As much as one transaction writes: so little that nobody waits long for it."""
    batch: Batch = []
    items = characters = 0
    for group in groups:
        batch.append(group)
        items += len(group.items)
        characters += len(group.content.text)
        if items >= _BATCH_ITEMS or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, items, characters = [], 0, 0
    if batch:
        yield batch


# Rows -----------------------------------------------------------------------------------------


def _folders(access: Access, archive: Archive, report: ImportReport) -> FolderIds:
    """The folders here that those of the archive are."""
    ids: FolderIds = {}
    for record in _records(archive, FOLDERS, FolderRecord, report):
        if len(ids) >= MOST_FOLDERS:
            raise PayloadTooLarge(f"This archive has more than {MOST_FOLDERS:,} folders.")
        with _integrity_error_as_conflict():
            ids[record.id], is_new = item_restore.restore_folder(access, record)
        report.folders += is_new
    return ids


def _restore_batch(
    access: Access, batch: Batch, folder_ids: FolderIds, report: ImportReport
) -> None:
    with _integrity_error_as_conflict():
        kept = item_restore.restore_batch(access, batch, folder_ids)
    report.items += kept.items
    report.contents += kept.contents
    report.skipped += kept.skipped


def _links(access: Access, archive: Archive, folder_ids: FolderIds, report: ImportReport) -> None:
    """What hangs on the items, once all of them are there."""
    versions = _numbered_records(archive, VERSIONS, VersionRecord, report)
    for item_id, mine in groupby(versions, key=lambda numbered: numbered[1].item_id):
        with _integrity_error_as_conflict():
            refuse = partial(report.leave_out, VERSIONS)
            report.versions += link_restore.restore_versions(access, item_id, mine, refuse)
    relations = _numbered_records(archive, RELATIONS, RelationRecord, report)
    while some := list(islice(relations, _BATCH_RELATIONS)):
        with _integrity_error_as_conflict():
            refuse = partial(report.leave_out, RELATIONS)
            report.relations += link_restore.restore_relations(access, some, refuse)
    restored: set[UUID] = set()
    for line, source in _numbered_records(archive, SOURCES, SourceRecord, report):
        try:
            with _integrity_error_as_conflict():
                report.sources += link_restore.restore_source(access, source, folder_ids, restored)
        except InvalidInput as error:
            report.leave_out(SOURCES, line, error.message)
    for line, feed in _numbered_records(archive, FEEDS, FeedRecord, report):
        try:
            with _integrity_error_as_conflict():
                report.feeds += feed_restore.restore_feed(access, feed, folder_ids)
        except (InvalidInput, IngestFailed) as error:
            report.leave_out(FEEDS, line, error.message)


def _reading(access: Access, archive: Archive, folder_ids: FolderIds, report: ImportReport) -> None:
    """What its owner marked and kept; the notes are items, and are there by now."""
    highlights = _numbered_records(archive, HIGHLIGHTS, HighlightRecord, report)
    while marks := list(islice(highlights, _BATCH_RELATIONS)):
        with _integrity_error_as_conflict():
            refuse = partial(report.leave_out, HIGHLIGHTS)
            report.highlights += reading_restore.restore_highlights(access, marks, refuse)
    progress = _numbered_records(archive, PROGRESS, ProgressRecord, report)
    while some := list(islice(progress, _BATCH_RELATIONS)):
        with _integrity_error_as_conflict():
            refuse = partial(report.leave_out, PROGRESS)
            reading_restore.restore_progress(access, some, refuse)
    for line, saved in _numbered_records(archive, SAVED_SEARCHES, SavedSearchRecord, report):
        is_new, fault = reading_restore.restore_saved_search(access, saved, folder_ids)
        report.saved_searches += is_new
        if fault:
            report.leave_out(SAVED_SEARCHES, line, fault)


@contextmanager
def _integrity_error_as_conflict() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise Conflict(
            "Somebody changed the same rows at this very moment; import the archive again, "
            "and it goes on from here.",
            reason="changed",
        ) from None
