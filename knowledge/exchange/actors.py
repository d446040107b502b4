"""Jobs that make exports, and the sweep that removes their files."""

from uuid import UUID

import dramatiq
from django.db import transaction

from knowledge.access import Access
from knowledge.errors import InternalError, QuarryError
from knowledge.exchange import exports
from knowledge.jobs import stuck_rows
from knowledge.jobs.actors import HOUR, MAX_RETRIES, is_last_try, may_pass
from knowledge.jobs.fairness import LONG_QUEUE, send_job
from knowledge.jobs.scheduling import every
from knowledge.models import Export


@dramatiq.actor(
    queue_name=LONG_QUEUE, max_retries=MAX_RETRIES, min_backoff=5_000, time_limit=2 * HOUR
)
def make_export(export_id: str) -> None:
    """Write one export's file."""
    try:
        exports.write_export(UUID(export_id))
    except QuarryError as error:
        if may_pass(error) and not is_last_try():
            raise
        exports.fail_export(UUID(export_id), error)


@transaction.atomic
def start_export(access: Access) -> Export:
    """Have a job write all that the caller sees to a file."""
    export = exports.start_export(access)
    send_job(make_export, str(export.pk), owner_id=export.owner_id)
    return export


@every(300)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_exports() -> None:
    """Remove files whose time is over, and send again the jobs that were lost."""
    exports.remove_expired()
    for export in Export.objects.filter(pk__in=stuck_rows.stuck_exports()):
        export.save(update_fields=["changed_at"])
        send_job(make_export, str(export.pk), owner_id=export.owner_id)
    lost = InternalError("Its job died too often; ask again, then tell the operator.")
    for export_id in stuck_rows.exports_of_dead_jobs():
        exports.fail_export(export_id, lost)
