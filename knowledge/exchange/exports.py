"""Exports as files: asked for, made by a job, downloaded by a signed link, removed in time."""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.core.signing import BadSignature, TimestampSigner
from django.db import connection, transaction
from django.db.models import Func, IntegerField, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, NotFound, QuarryError, not_found
from knowledge.exchange.exporting import export_library
from knowledge.models import Export, ExportState, Item
from knowledge.models.export import UNFINISHED
from knowledge.models.locking import lock_counted_rows
from knowledge.storage import live_store

MAX_DIRECT_ITEMS = 100
MAX_DIRECT_BYTES = 500_000
"""Of text: 250 items with 2 MB took the web process 150 ms, half as much again as a request may."""
MAX_UNFINISHED = 3
MOST_KEPT = 3
"""Files of one owner; an older one goes when a new export is asked for."""
LINK_SEC = 15 * 60
_PIECE = 256 * 1024
_TELL_EVERY_SEC = 2.0


# What a caller asks for -----------------------------------------------------------------------


@transaction.atomic
def start_export(access: Access) -> Export:
    """Have a job write all that the caller sees to a file; the caller sends the job."""
    access.require(Capability.READ)
    lock_counted_rows(access.owner_id)
    mine = Export.objects.filter(owner_id=access.owner_id)
    if mine.filter(state__in=UNFINISHED).count() >= MAX_UNFINISHED:
        raise Conflict(
            f"{MAX_UNFINISHED} exports of this library are being made; wait for one of them.",
            retry_after_sec=10,
        )
    kept = mine.filter(state=ExportState.READY).order_by("-created_at")
    older = list(kept.values_list("pk", flat=True)[MOST_KEPT - 1 :])
    mine.filter(pk__in=older).update(expires_at=timezone.now())
    return Export.objects.create(
        owner_id=access.owner_id,
        token_id=access.token_id,
        folder_ids=None if access.folder_ids is None else sorted(access.folder_ids),
        kb_only=access.kb_only,
        items_total=Item.objects.visible_to(access).count(),
    )


def get_export(access: Access, export_id: UUID) -> Export:
    """One export of the caller's, with how far it is."""
    access.require(Capability.READ)
    export = Export.objects.visible_to(access).filter(pk=export_id).first()
    if export is None:
        raise not_found("export")
    return export


def list_exports(access: Access) -> list[Export]:
    """The caller's exports that there still are, the newest first."""
    access.require(Capability.READ)
    return list(Export.objects.visible_to(access)[: MOST_KEPT + MAX_UNFINISHED])


def sign_export(export: Export) -> str:
    """What lets whoever has it download the file for a while, without another credential."""
    return _signer().sign(str(export.pk)).partition(":")[2]


def open_signed(export_id: UUID, signature: str) -> "ExportFile":
    """The file of an export by its signed link."""
    try:
        _signer().unsign(f"{export_id}:{signature}", max_age=LINK_SEC)
    except BadSignature:
        raise not_found("export", hint="GET /exports/{id} gives a new link") from None
    export = Export.objects.filter(pk=export_id, expires_at__gt=timezone.now()).first()
    return _file_of(export)


def open_export(access: Access, export_id: UUID) -> "ExportFile":
    """The file of an export of the caller's."""
    return _file_of(get_export(access, export_id))


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A finished export that may be read."""

    export: Export
    size: int

    def read(self, start: int, count: int) -> Iterator[bytes]:
        """So many of its bytes, from `start` on."""
        with live_store().open_read(self.export.key, start=start) as file:
            while count > 0 and (piece := file.read(min(count, _PIECE))):
                count -= len(piece)
                yield piece


def export_small(access: Access) -> "SpooledArchive":
    """A small library at once: written to a temporary file first, so that its reader may be slow.

    All is written when this returns; a library that is too large for it is refused.
    """
    access.require(Capability.READ)
    _refuse_large(access)
    with tempfile.TemporaryFile() as file:
        for piece in export_library(access):
            file.write(piece)
        file.flush()
        return SpooledArchive(os.dup(file.fileno()))


def _refuse_large(access: Access) -> None:
    items = Item.objects.visible_to(access)
    count = items.count()
    size = 0
    if count <= MAX_DIRECT_ITEMS:
        # The length in bytes is known without reading the text.
        length = Func("content__text", function="octet_length", output_field=IntegerField())
        size = items.aggregate(size=Coalesce(Sum(length), 0))["size"]
    if count > MAX_DIRECT_ITEMS or size > MAX_DIRECT_BYTES:
        raise Conflict(
            f"This library is too large to be sent at once ({count:,} items); POST /export makes "
            "a file of it that you can download.",
            reason="too_large",
            items=count,
        )


class SpooledArchive(Iterator[bytes]):
    """The pieces of a temporary file, which goes with the last of them or when it is closed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        self._sent = 0

    def __next__(self) -> bytes:
        piece = b""
        if self._descriptor is not None:
            piece = os.pread(self._descriptor, _PIECE, self._sent)
        if not piece:
            self.close()
            raise StopIteration
        self._sent += len(piece)
        return piece

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.close()  # an answer that nobody began to read is never closed


def _file_of(export: Export | None) -> ExportFile:
    if export is None:
        raise not_found("export")
    if export.is_unfinished:
        raise Conflict("This export is not ready yet; ask for its state.", retry_after_sec=2)
    size = live_store().size_of(export.key) if export.state == ExportState.READY else None
    if size is None:
        raise NotFound("This export has no file; ask for a new one.")
    return ExportFile(export, size)


def _signer() -> TimestampSigner:
    return TimestampSigner(salt="knowledge.exchange.exports")


# What the job does ----------------------------------------------------------------------------


def write_export(export_id: UUID) -> None:
    """Make the file, from the beginning whenever an earlier job did not get to its end."""
    export = Export.objects.filter(pk=export_id, state__in=UNFINISHED).first()
    if export is None:
        return
    Export.objects.filter(pk=export_id).update(state=ExportState.WORKING, changed_at=timezone.now())
    descriptor, name = tempfile.mkstemp(prefix="quarry-export-")
    try:
        with os.fdopen(descriptor, "wb") as draft, _progress_of(export_id) as progress:
            for piece in export_library(export.access, on_progress=progress.note):
                draft.write(piece)
            size = draft.tell()
        live_store().put(export.key, Path(name))
    finally:
        Path(name).unlink()
    Export.objects.filter(pk=export_id).update(
        state=ExportState.READY,
        size=size,
        items_done=progress.done,
        items_total=progress.done,
        changed_at=timezone.now(),
    )


def fail_export(export_id: UUID, error: QuarryError) -> None:
    """Say why there is no file."""
    Export.objects.filter(pk=export_id, state__in=UNFINISHED).update(
        state=ExportState.FAILED, error=error.message, changed_at=timezone.now()
    )


def remove_expired() -> None:
    """Remove the files of exports whose time is over, and then their rows."""
    for export in Export.objects.filter(expires_at__lte=timezone.now()):
        # The file first: a row without its file is swept again, a file without its row never.
        live_store().delete(export.key)
        export.delete()


class _Progress:
    """Notes now and then how far an export is, on a connection of its own.

    The export reads in one read-only transaction, in which nothing can be written.
    """

    def __init__(self, export_id: UUID) -> None:
        self._export_id = export_id
        self._told_at = time.monotonic()
        self._is_telling = threading.Lock()
        self.done = 0
        self.teller = ThreadPoolExecutor(1, thread_name_prefix="export-progress")

    def note(self, done: int, total: int) -> None:
        self.done = done
        now = time.monotonic()
        if now - self._told_at > _TELL_EVERY_SEC and self._is_telling.acquire(blocking=False):
            self._told_at = now
            self.teller.submit(self._tell, done, total)

    def _tell(self, done: int, total: int) -> None:
        try:
            Export.objects.filter(pk=self._export_id).update(
                items_done=done, items_total=total, changed_at=timezone.now()
            )
        finally:
            connection.close()
            self._is_telling.release()


@contextmanager
def _progress_of(export_id: UUID) -> Iterator[_Progress]:
    progress = _Progress(export_id)
    try:
        yield progress
    finally:
        progress.teller.shutdown()
