"""Jobs that crawl documentation sources."""

from uuid import UUID

import dramatiq
from django.db import transaction
from django.utils import timezone

from knowledge.crawling import crawl
from knowledge.errors import InternalError
from knowledge.jobs import stuck_rows
from knowledge.jobs.actors import HOUR
from knowledge.jobs.fairness import LONG_QUEUE, send_job
from knowledge.jobs.scheduling import every
from knowledge.models import Source


# A turn is short, but a scanned document that it comes upon may take an hour to read.
@dramatiq.actor(queue_name=LONG_QUEUE, max_retries=8, min_backoff=5_000, time_limit=2 * HOUR)
def crawl_source(source_id: str) -> None:
    """Crawl for a while; what is left waits for its next turn, behind the jobs of others."""
    wait_sec = crawl.take_turn(UUID(source_id))
    if wait_sec is not None:
        send_job(crawl_source, source_id, delay=int(wait_sec * 1000))


@every(300)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_sources() -> None:
    """Go on with crawls whose job was lost, and begin those that are due again."""
    for source in Source.objects.filter(pk__in=stuck_rows.stuck_sources()):
        source.save(update_fields=["changed_at"])
        send_job(crawl_source, str(source.pk), owner_id=source.owner_id)
    for source_id in stuck_rows.sources_of_dead_jobs():
        crawl.fail(source_id, InternalError("Its job died too often; crawl it again."))
    for source_id in crawl.stale(timezone.now()):
        with transaction.atomic():
            start_crawl(source_id)


def start_crawl(source_id: UUID) -> None:
    """Begin a crawl in the caller's transaction; one that runs already goes on."""
    source = crawl.lock_source(source_id)
    if source is not None and not source.is_at_work:
        crawl.queue(source)
        send_job(crawl_source, str(source_id), owner_id=source.owner_id)
