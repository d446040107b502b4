"""Jobs that score contributions and work out reputations."""

from uuid import UUID

import dramatiq

from knowledge.jobs.actors import HOUR
from knowledge.jobs.fairness import LONG_QUEUE
from knowledge.jobs.scheduling import every
from knowledge.trust import reputation, scoring

_SCORED_AT_ONCE = 500


@dramatiq.actor(max_retries=8, min_backoff=5_000, time_limit=600_000)
def rescore_item(item_id: str) -> None:
    """Score a skill or unit as it is now."""
    scoring.rescore(UUID(item_id))


@every(900)
@dramatiq.actor(max_retries=0, time_limit=HOUR)
def sweep_scores() -> None:
    """Score what has no score yet, or whose novelty could only be assumed."""
    for item_id in scoring.items_without_score(_SCORED_AT_ONCE):
        rescore_item.send(str(item_id))


@every(3600)
@dramatiq.actor(queue_name=LONG_QUEUE, max_retries=0, time_limit=HOUR)
def sweep_reputation() -> None:
    """Work every reputation out exactly, and weigh all judgments by them."""
    reputation.recompute()
    scoring.reweigh_all()
