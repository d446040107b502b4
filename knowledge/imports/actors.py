"""Jobs that work an import off, row by row."""

from datetime import timedelta
from uuid import UUID

import dramatiq
from django.utils import timezone

from knowledge.imports import rows
from knowledge.jobs.actors import HOUR
from knowledge.jobs.fairness import LONG_QUEUE, send_job
from knowledge.jobs.scheduling import every
from knowledge.models import BatchState, ImportBatch

STUCK_AFTER = timedelta(minutes=10)
PREVIEW_KEPT = timedelta(days=1)


# A turn is short, but a document that a row leads to may take an hour to read.
@dramatiq.actor(queue_name=LONG_QUEUE, max_retries=8, min_backoff=5_000, time_limit=2 * HOUR)
def work_import(batch_id: str, lane: int) -> None:
    """Work for a while; what is left has its turn behind the jobs of others."""
    wait_sec = rows.take_turn(UUID(batch_id), lane)
    if wait_sec is not None:
        send_job(work_import, batch_id, lane, delay=int(wait_sec * 1000))


def start_lanes(batch: ImportBatch) -> None:
    """Send an import's jobs; a lane that is being worked on is not worked on twice."""
    for lane in range(rows.LANES):
        send_job(work_import, str(batch.pk), lane, owner_id=batch.owner_id)


@every(300)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_imports() -> None:
    """Go on with imports whose job was lost, and forget previews that nobody confirmed."""
    now = timezone.now()
    running = ImportBatch.objects.filter(state=BatchState.RUNNING)
    for batch in running.filter(changed_at__lt=now - STUCK_AFTER):
        batch.save(update_fields=["changed_at"])
        start_lanes(batch)
    previews = ImportBatch.objects.filter(state=BatchState.PREVIEW)
    previews.filter(created_at__lt=now - PREVIEW_KEPT).delete()
