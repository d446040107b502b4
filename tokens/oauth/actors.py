"""The job that deletes what OAuth leaves behind."""

import dramatiq

from knowledge.jobs.actors import HOUR
from knowledge.jobs.scheduling import every
from tokens.oauth import connections


@every(3600)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_connections() -> None:
    """Delete codes and tokens that are over, and clients that never connected."""
    connections.sweep()
