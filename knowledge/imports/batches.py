"""What people ask of imports: read one, look at it, start it, watch it, try again."""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, IngestFailed, InvalidInput, not_found
from knowledge.imports import actors
from knowledge.ingest.adding import MAX_URL
from knowledge.ingest.arrivals import try_again
from knowledge.ingest.uploads import clean_filename
from knowledge.models import (
    ArrivalState,
    BatchState,
    ContentState,
    Feed,
    Folder,
    ImportBatch,
    ImportRow,
    Item,
    RowKind,
)
from knowledge.models.locking import lock_counted_rows
from knowledge.sources import canonical
from knowledge.sources.child import run_in_child
from knowledge.validation import MAX_TAG, MAX_TAGS, clean_tags, make_storable, one_of

MAX_BYTES = 50_000_000
MAX_LINKS = 500
MAX_RUNNING = 5
READ_SEC, READ_MB = 60, 1_500
ROWS_SHOWN = 100
NO_LINK = "there is no link in it"
LINKS_SHOWN_FOR = timedelta(days=1)

_LINK = re.compile(r"https?://[^\s<>\"']+", re.IGNORECASE)
_COUNTED = re.compile(r"(?:[ ._-]*(?:\(\d+\)|copy|\d[\d._T-]*))+$", re.IGNORECASE)
"""What programs put behind the name of a file that is there already, or of each day."""
_BARE = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?:[/?#:][^\s<>\"']*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How the rows of an import are to be added."""

    folder_id: UUID | None = None
    keeps_folders: bool = False
    tags: Collection[str] = ()
    may_transcribe: bool = False

    def checked_fields(self, access: Access) -> dict[str, Any]:
        """The model's fields to set, each within its rule."""
        if self.folder_id:
            Folder.objects.visible_to(access).all_of([self.folder_id])
        return {
            "folder_id": self.folder_id,
            "keeps_folders": self.keeps_folders,
            "tags": clean_tags(self.tags),
            "may_transcribe": self.may_transcribe,
        }


def links_in(text: str) -> list[str]:
    """The addresses in what somebody pasted: one a line, or anywhere in a text; each once."""
    return _read_lines(text)[0]


def _read_lines(text: str) -> tuple[list[str], list[str]]:
    """The addresses in a text, and the lines that have none."""
    has_whole_links = bool(_LINK.search(text))
    links: list[str] = []
    without: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        # Within prose, `node.js` is no address; alone on its line it is meant as one.
        words = [] if has_whole_links and " " in line else line.split()
        bare = [f"https://{word}" for word in words if _BARE.fullmatch(word)]
        found = _LINK.findall(line) or bare
        links += [link.rstrip(").,;]}") for link in found]
        without += [] if found else [line]
    return list(dict.fromkeys(links)), without


def add_links(access: Access, text: str, options: ImportOptions) -> ImportBatch:
    """Add every link of a text, by jobs."""
    _require(access)
    links, without = _read_lines(text)
    if not links:
        raise InvalidInput("There is no address in it; paste at least one link.", field="links")
    if len(links) > MAX_LINKS:
        raise InvalidInput(
            f"These are {len(links):,} links, and at most {MAX_LINKS} are taken at once; save "
            "them as a file and import that.",
            field="links",
        )
    with transaction.atomic():
        batch = ImportBatch.objects.create(
            owner_id=access.owner_id,
            format="links",
            left_out=[{"what": make_storable(line[:200]), "why": NO_LINK} for line in without],
            left_out_count=len(without),
            **options.checked_fields(access),
        )
        _create_rows(access, batch, [{"kind": "link", "url": link} for link in links])
        _start(batch)
    return get_import(access, batch.pk)


def read_import(access: Access, path: Path, *, filename: str) -> ImportBatch:
    """Read an export and keep its rows for a look at them; nothing is added yet."""
    _require(access)
    if path.stat().st_size > MAX_BYTES:
        raise InvalidInput(
            f"The file is larger than {MAX_BYTES // 1_000_000} MB; split it.", field="file"
        )
    try:
        told = run_in_child(
            "knowledge.imports.formats.reading:read",
            {"path": str(path)},
            seconds=READ_SEC,
            megabytes=READ_MB,
        )
    except IngestFailed as error:
        raise InvalidInput(error.message, field="file", **error.details) from None
    with transaction.atomic():
        batch = ImportBatch.objects.create(
            owner_id=access.owner_id,
            format=told["format"],
            filename=clean_filename(filename or "import"),
            left_out=[_storable(each) for each in told["left_out"]],
            left_out_count=told["left_out_count"],
        )
        _create_rows(access, batch, [_with_vault(each, batch.filename) for each in told["rows"]])
        _find_changed_notes(access, batch)
    return get_import(access, batch.pk)


def start_import(access: Access, batch_id: UUID, options: ImportOptions) -> ImportBatch:
    """Add what was previewed, by jobs; asked again, it goes on as it is."""
    _require(access)
    fields = options.checked_fields(access)
    with transaction.atomic():
        batch = _lock(access, batch_id)
        if batch.state == BatchState.PREVIEW:
            for name, value in fields.items():
                setattr(batch, name, value)
            _start(batch)
    return get_import(access, batch_id)


def cancel_import(access: Access, batch_id: UUID) -> ImportBatch | None:
    """Stop an import: what was added stays, the rest waits. A preview is forgotten."""
    _require(access)
    with transaction.atomic():
        batch = _lock(access, batch_id)
        if batch.state == BatchState.PREVIEW:
            batch.delete()
            return None
        if batch.state == BatchState.RUNNING:
            batch.state, batch.finished_at = BatchState.CANCELLED, timezone.now()
            batch.save(update_fields=["state", "finished_at", "changed_at"])
    return get_import(access, batch_id)


def resume_import(access: Access, batch_id: UUID, *, failed: bool = False) -> ImportBatch:
    """Go on with an import that was stopped, or try again what failed."""
    _require(access)
    with transaction.atomic():
        batch = _lock(access, batch_id)
        if batch.state == BatchState.PREVIEW:
            raise Conflict("This import has not begun; start it.")
        if failed:
            try_again(batch.rows.filter(state=ArrivalState.FAILED))
        _start(batch)
    return get_import(access, batch_id)


def retry_row(access: Access, batch_id: UUID, row_id: int) -> ImportBatch:
    """Try one failed row again, or agree to the price of one that is a recording."""
    return _reopen(access, batch_id, ImportRow.objects.filter(pk=row_id))


def agree_to_prices(access: Access, batch_id: UUID) -> ImportBatch:
    """Have all recordings of an import transcribed, at the prices that were told."""
    return _reopen(access, batch_id, ImportRow.objects.filter(state=ArrivalState.PRICED))


def drop_row(access: Access, batch_id: UUID, row_id: int) -> ImportBatch:
    """Leave out a row whose price is too high, or that failed for good."""
    _require(access)
    batch = _visible(access, batch_id)
    shut = batch.rows.filter(pk=row_id, state__in=(ArrivalState.PRICED, ArrivalState.FAILED))
    shut.update(state=ArrivalState.SKIPPED, reason="dropped", error="")
    return get_import(access, batch_id)


def list_imports(access: Access, *, limit: int = 20) -> list[ImportBatch]:
    """The caller's newest imports, with how far each is."""
    access.require(Capability.READ)
    return list(ImportBatch.objects.visible_to(access).with_counts()[:limit])


def list_recent_links(access: Access) -> list[ImportRow]:
    """The links that the caller pasted lately, the newest first, and what came of each."""
    access.require(Capability.READ)
    lately = timezone.now() - LINKS_SHOWN_FOR
    pasted = ImportBatch.objects.visible_to(access).filter(format="links", created_at__gte=lately)
    rows = ImportRow.objects.filter(batch__in=pasted).exclude(state=ArrivalState.SKIPPED)
    rows = rows.select_related("item__content")
    rows = rows.defer("text", "item__content__text", "item__content__locators")
    return list(rows.order_by("-batch__created_at", "position")[:ROWS_SHOWN])


def get_import(access: Access, batch_id: UUID) -> ImportBatch:
    """One import, with how far it is."""
    access.require(Capability.READ)
    batches = ImportBatch.objects.visible_to(access).select_related("folder").with_counts()
    batch = batches.filter(pk=batch_id).first()
    if batch is None:
        raise not_found("import")
    return batch


def list_rows(
    access: Access, batch_id: UUID, *, state: str | None = None, limit: int = ROWS_SHOWN
) -> list[ImportRow]:
    """The first rows of an import, or of those in one state."""
    rows = get_import(access, batch_id).rows.select_related("item__content")
    rows = rows.defer("text", "item__content__text", "item__content__locators")
    if state is not None:
        rows = rows.filter(state=one_of(state, ArrivalState.values, field="state"))
    return list(rows[:limit])


# Rows ------------------------------------------------------------------------------------------


def _require(access: Access) -> None:
    access.require(Capability.WRITE)
    access.require_whole_library()


def _visible(access: Access, batch_id: UUID) -> ImportBatch:
    batch = ImportBatch.objects.visible_to(access).filter(pk=batch_id).first()
    if batch is None:
        raise not_found("import")
    return batch


def _lock(access: Access, batch_id: UUID) -> ImportBatch:
    batches = ImportBatch.objects.visible_to(access).select_for_update(no_key=True)
    batch = batches.filter(pk=batch_id).first()
    if batch is None:
        raise not_found("import")
    return batch


def _start(batch: ImportBatch) -> None:
    lock_counted_rows(batch.owner_id)
    running = ImportBatch.objects.filter(owner_id=batch.owner_id, state=BatchState.RUNNING)
    if running.exclude(pk=batch.pk).exclude(format="links").count() >= MAX_RUNNING:
        raise Conflict(f"{MAX_RUNNING} imports are running; wait until one of them is done.")
    batch.state, batch.finished_at = BatchState.RUNNING, None
    batch.begun_at = batch.begun_at or timezone.now()
    batch.save()
    actors.start_lanes(batch)


def _reopen(access: Access, batch_id: UUID, rows: "QuerySet[ImportRow]") -> ImportBatch:
    _require(access)
    with transaction.atomic():
        batch = _lock(access, batch_id)
        if batch.state in (BatchState.PREVIEW, BatchState.CANCELLED):
            raise Conflict("This import is not running; start it, or go on with it, first.")
        mine = rows.filter(batch=batch)
        try_again(mine.filter(state=ArrivalState.PRICED), may_transcribe=True)
        try_again(mine.filter(state=ArrivalState.FAILED))
        _start(batch)
    return get_import(access, batch_id)


def _create_rows(access: Access, batch: ImportBatch, told: Iterable[dict[str, Any]]) -> None:
    rows: dict[str, ImportRow] = {}
    for each in told:
        row = _row(batch, len(rows), _storable(each))
        if row.key in rows:
            batch.left_out_count += 1
            batch.left_out.append({"what": str(row)[:200], "why": "it is in the file twice"})
        else:
            rows[row.key] = row
    batch.left_out = batch.left_out[:200]
    batch.save()
    ImportRow.objects.bulk_create(rows.values(), batch_size=1_000)
    _mark_those_there(access, batch)


def _row(batch: ImportBatch, position: int, told: dict[str, Any]) -> ImportRow:
    row = ImportRow(
        batch=batch,
        position=position,
        kind=told["kind"],
        url=told["url"],
        title=" ".join(told.get("title", "").split())[:500],
        text=told.get("text", ""),
        note=told.get("note", ""),
        tags=_tags(told.get("tags", ())),
        folder_name=" ".join(told.get("folder", "").split())[:200],
        saved_at=datetime.fromisoformat(told["saved_at"]) if told.get("saved_at") else None,
    )
    if row.title == row.url:
        row.title = ""
    row.key = _key(row)
    if row.kind != RowKind.TEXT and len(row.url) > MAX_URL:
        row.state, row.reason = ArrivalState.FAILED, "bad_url"
        row.error = f"The address has more than {MAX_URL:,} characters."
        row.url = row.url[:MAX_URL]
    return row


def _key(row: ImportRow) -> str:
    if row.kind == RowKind.TEXT:
        return "text:" + hashlib.sha256(f"{row.title}\0{row.text}".encode()).hexdigest()
    try:
        key = canonical.key(row.url)
    except IngestFailed as error:
        row.state, row.reason, row.error = ArrivalState.FAILED, "bad_url", error.message
        key = "bad:" + hashlib.sha256(row.url.encode()).hexdigest()
    return f"feed:{key}" if row.kind == RowKind.FEED else key


def _tags(told: Iterable[str]) -> list[str]:
    tags = (" ".join(tag.split())[:MAX_TAG] for tag in told)
    return list(dict.fromkeys(tag for tag in tags if tag))[:MAX_TAGS]


def _storable(told: dict[str, Any]) -> dict[str, Any]:
    return {
        name: make_storable(value)
        if isinstance(value, str)
        else [make_storable(each) for each in value]
        if isinstance(value, list)
        else value
        for name, value in told.items()
    }


def _mark_those_there(access: Access, batch: ImportBatch) -> None:
    """What the library has already is not added again."""
    waiting = batch.rows.filter(state=ArrivalState.WAITING)
    items = Item.objects.visible_to(access).exclude(content__state=ContentState.FAILED)
    linked = items.filter(content__links__key=OuterRef("key")).values("pk")[:1]
    _mark(waiting.filter(kind=RowKind.LINK), linked)
    earlier = ImportRow.objects.filter(
        key=OuterRef("key"), batch__owner_id=access.owner_id, state=ArrivalState.ADDED
    )
    texts, earlier = waiting.filter(kind=RowKind.TEXT), earlier.exclude(item=None)
    _mark(texts.filter(url=""), earlier.values("item")[:1])
    # The item of a note may say something else by now, which came from the same path.
    as_it_is = earlier.filter(item__content__text=OuterRef("text"))
    _mark(texts.exclude(url=""), as_it_is.values("item")[:1])
    keys = Feed.objects.visible_to(access).values_list("key", flat=True)
    followed = waiting.filter(kind=RowKind.FEED, key__in=[f"feed:{key}" for key in keys])
    followed.update(state=ArrivalState.THERE)


def _with_vault(told: dict[str, Any], filename: str) -> dict[str, Any]:
    """A note's path begins with its vault: a zip without one is known by its own name."""
    if told["kind"] != RowKind.TEXT or not told.get("url", "").startswith("./"):
        return told
    vault = _COUNTED.sub("", filename.rpartition(".")[0])
    return {**told, "url": f"{vault}/{told['url'].removeprefix('./')}"}


def _find_changed_notes(access: Access, batch: ImportBatch) -> None:
    """A note whose path was imported before is to change that item, and makes no new one."""
    notes = batch.rows.filter(kind=RowKind.TEXT, state=ArrivalState.WAITING).exclude(url="")
    paths = list(notes.values_list("url", flat=True))
    earlier = ImportRow.objects.filter(
        batch__owner_id=access.owner_id,
        kind=RowKind.TEXT,
        state__in=(ArrivalState.ADDED, ArrivalState.THERE),
        url__in=paths,
        item__content__owner_id=access.owner_id,
    )
    items = dict(earlier.exclude(batch=batch).order_by("pk").values_list("url", "item_id"))
    changed = list(notes.filter(url__in=items).only("pk", "url"))
    for row in changed:
        row.item_id = items[row.url]
    ImportRow.objects.bulk_update(changed, ["item"], batch_size=1_000)


def _mark(rows: "QuerySet[ImportRow]", item: "QuerySet[Any, Any]") -> None:
    rows.filter(Exists(item)).update(state=ArrivalState.THERE, item_id=Subquery(item))
