"""Jobs that clean up: lost jobs are sent again, and what nobody needs any more is removed."""

from uuid import UUID

import dramatiq

from knowledge.errors import InternalError
from knowledge.indexing import generations
from knowledge.ingest import contents, extraction
from knowledge.ingest.followups import send_embedding
from knowledge.jobs import stuck_rows
from knowledge.jobs.actors import HOUR, MAX_RETRIES
from knowledge.jobs.scheduling import every
from knowledge.ledger import changes, idempotency, quotas
from knowledge.models import Content, Item
from knowledge.storage import leftovers


@dramatiq.actor(max_retries=MAX_RETRIES, min_backoff=10_000, time_limit=600_000)
def remove_stored_file(upload_id: str) -> None:
    """Remove the file of an upload whose content is gone."""
    leftovers.remove_file(UUID(upload_id))


@every(900)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_uploads() -> None:
    """Remove the files of all uploads that nobody finished, and whose content is gone."""
    leftovers.remove_expired()


@every(300)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_lost_jobs() -> None:
    """Send again what a job server lost, and say so of what killed its workers too often."""
    for content in Content.objects.filter(pk__in=stuck_rows.stuck_contents()):
        content.save(update_fields=["changed_at"])
        contents.start_job(content)
    for item in Item.objects.filter(pk__in=stuck_rows.stuck_items()):
        item.save(update_fields=["updated_at"])
        send_embedding(item)
    lost = InternalError("Its job died too often; retry, then tell the operator.")
    for content_id in stuck_rows.contents_of_dead_jobs():
        contents.fail_content(content_id, lost)
    for item_id in stuck_rows.items_of_dead_jobs():
        generations.mark_embedding_failed(item_id, lost.message)


@every(3600)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_leftovers() -> None:
    """Give back and remove what was kept for contents and calls that are gone."""
    quotas.release_stale_reservations()
    extraction.remove_abandoned_media()
    idempotency.forget_old()
    changes.forget_old()
