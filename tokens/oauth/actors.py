"""The job that deletes what OAuth leaves behind."""

import dramatiq

from knowledge.ingest import tasks  # noqa: F401 (makes the broker that this actor belongs to)
from knowledge.jobs.scheduling import every
from tokens.oauth import connections


@every(3600)
@dramatiq.actor(max_retries=0, time_limit=600_000)
def sweep_connections() -> None:
    """Delete codes and tokens that are over, and clients that never connected."""
    connections.sweep()
