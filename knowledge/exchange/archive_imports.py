"""Archives that jobs bring in: sent, worked off with progress, cancelled, and told of."""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import dramatiq
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InternalError, InvalidInput, QuarryError, not_found
from knowledge.exchange.importing import ImportReport, check_may_import, import_library
from knowledge.jobs import stuck_rows
from knowledge.jobs.actors import HOUR, MAX_RETRIES, is_last_try, may_pass
from knowledge.jobs.fairness import LONG_QUEUE, send_job
from knowledge.jobs.scheduling import every
from knowledge.models import ArchiveImport, ArchiveState
from knowledge.models.archive_import import UNFINISHED_IMPORTS
from knowledge.models.locking import lock_counted_rows
from knowledge.storage import live_store

MAX_UNFINISHED = 3
ROWS_SHOWN = 5
KEPT_FOR = timedelta(days=30)
SAVED_EVERY_SEC = 1.0
ANOTHER_RUNS_MS = 5_000


class Cancelled(Exception):
    """Whoever sent the archive wants no more of it."""


# What a caller asks for -----------------------------------------------------------------------


def start_import(access: Access, path: Path) -> ArchiveImport:
    """Have a job bring in an archive, which is copied from this file first."""
    check_may_import(access)
    _refuse_no_zip(path)
    with transaction.atomic():
        lock_counted_rows(access.owner_id)
        unfinished = ArchiveImport.objects.filter(
            owner_id=access.owner_id, state__in=UNFINISHED_IMPORTS
        )
        if unfinished.count() >= MAX_UNFINISHED:
            raise Conflict(
                f"{MAX_UNFINISHED} imports into this library wait or run; wait for one of them, "
                "or cancel it.",
                reason="still_running",
            )
        row = ArchiveImport.objects.create(
            owner_id=access.owner_id,
            token_id=access.token_id,
            agent_id=access.agent_id,
            action_id=access.action_id,
            kb_only=access.kb_only,
            report=ImportReport().as_data(),
        )
    try:
        live_store().put(row.key, path)
    except QuarryError:
        row.delete()
        raise
    send_job(import_archive, str(row.pk), owner_id=row.owner_id)
    return row


def _refuse_no_zip(path: Path) -> None:
    """The rest is for the job to find out: a directory alone may take seconds to read."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise InvalidInput(
                "This archive cannot be imported: it is no zip archive. Send one that Quarry "
                "exported, whole.",
                field="body",
            )


def get_import(access: Access, import_id: UUID) -> ArchiveImport:
    """One import of the caller's: how far it is, and which lines it could not take."""
    access.require(Capability.READ)
    row = ArchiveImport.objects.visible_to(access).filter(pk=import_id).first()
    if row is None:
        raise not_found("import")
    return row


def list_imports(access: Access) -> list[ArchiveImport]:
    """The caller's newest imports."""
    access.require(Capability.READ)
    return list(ArchiveImport.objects.visible_to(access)[:ROWS_SHOWN])


def cancel_import(access: Access, import_id: UUID) -> ArchiveImport:
    """End an import: what was added stays. One that is over stays as it is."""
    check_may_import(access)
    row = get_import(access, import_id)
    _unfinished(row.pk).update(state=ArchiveState.CANCELLED, changed_at=timezone.now())
    return get_import(access, import_id)


# What the job does ----------------------------------------------------------------------------


@dramatiq.actor(
    queue_name=LONG_QUEUE, max_retries=MAX_RETRIES, min_backoff=5_000, time_limit=12 * HOUR
)
def import_archive(import_id: str) -> None:
    """Bring an archive in; after an outage it goes on, for what is there is skipped."""
    row = _unfinished(UUID(import_id)).first()
    if row is None:
        _remove_file(UUID(import_id))
        return
    try:
        _work(row)
    except Conflict as error:
        if error.details.get("reason") == "still_running":
            send_job(import_archive, import_id, delay=ANOTHER_RUNS_MS)
        elif is_last_try():
            _fail(row, error)
        else:
            raise
    except QuarryError as error:
        if may_pass(error) and not is_last_try():
            raise
        _fail(row, error)
    except Exception:
        if is_last_try():
            _fail(row, InternalError("Something went wrong here; send it again."))
        raise


def _work(row: ArchiveImport) -> None:
    _unfinished(row.pk).update(state=ArchiveState.WORKING, changed_at=timezone.now())
    report = ImportReport(on_lines=_saver(row))
    try:
        with live_store().local_copy(row.key) as path, path.open("rb") as file:
            import_library(_access_of(row), file, report=report)
    except Cancelled:
        _remove_file(row.pk)
    except Conflict:
        raise
    except QuarryError:
        _save(row, report)
        raise
    else:
        _save(row, report)
        _unfinished(row.pk).update(state=ArchiveState.DONE)
        _remove_file(row.pk)


def _saver(row: ArchiveImport) -> Callable[[ImportReport], None]:
    """Saves now and then how far the import is, and ends it when it is cancelled."""
    saved_at = time.monotonic()

    def save(report: ImportReport) -> None:
        nonlocal saved_at
        if time.monotonic() - saved_at < SAVED_EVERY_SEC:
            return
        saved_at = time.monotonic()
        if not _save(row, report):
            raise Cancelled

    return save


def _save(row: ArchiveImport, report: ImportReport) -> bool:
    """Write what came of it so far; False if it is cancelled."""
    rows = ArchiveImport.objects.filter(pk=row.pk)
    rows.update(
        report=report.as_data(),
        items_done=report.items_done,
        items_total=report.items_total,
        changed_at=timezone.now(),
    )
    return rows.filter(state__in=UNFINISHED_IMPORTS).exists()


def _fail(row: ArchiveImport, error: QuarryError) -> None:
    _unfinished(row.pk).update(
        state=ArchiveState.FAILED, error=error.message, changed_at=timezone.now()
    )
    _remove_file(row.pk)


def _access_of(row: ArchiveImport) -> Access:
    """Whoever sent it; a token's reach was checked then, and is that of the whole library."""
    return Access(
        owner_id=row.owner_id,
        capabilities=frozenset(Capability),
        folder_ids=None,
        kb_only=row.kb_only,
        token_id=row.token_id,
        agent_id=row.agent_id,
        action_id=row.action_id,
    )


def _remove_file(import_id: UUID) -> None:
    live_store().delete(ArchiveImport(pk=import_id).key)


def _unfinished(import_id: UUID) -> QuerySet[ArchiveImport]:
    return ArchiveImport.objects.filter(pk=import_id, state__in=UNFINISHED_IMPORTS)


@every(300)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_archives() -> None:
    """Send again the jobs of archives that were lost, and forget imports that are long over."""
    for row in ArchiveImport.objects.filter(pk__in=stuck_rows.stuck_archives()):
        row.save(update_fields=["changed_at"])
        send_job(import_archive, str(row.pk), owner_id=row.owner_id)
    lost = InternalError("Its job died too often; send it again, then tell the operator.")
    for row in ArchiveImport.objects.filter(pk__in=stuck_rows.archives_of_dead_jobs()):
        _fail(row, lost)
    over = ArchiveImport.objects.exclude(state__in=UNFINISHED_IMPORTS)
    for row in over.filter(changed_at__lt=timezone.now() - KEPT_FOR):
        _remove_file(row.pk)
        row.delete()
