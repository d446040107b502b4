"""Sweeps: periodic jobs, sent by one worker at a time.

Every worker runs the scheduler, and the one whose session holds its lock acts. The lock is free
the moment that session ends, however it ends.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import psycopg
from django.db import connection, transaction
from django.utils import timezone
from dramatiq import Actor

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.broker import enqueue_now
from knowledge.jobs.consumer import OUTAGE, open_session
from knowledge.locks import Lock
from knowledge.models import Schedule

logger = logging.getLogger(__name__)

TICK_SEC = 1.0
MAX_BACKOFF_SEC = 10.0

_MESSAGE_IDS = UUID("5e0d3cb8-6f3c-4b62-9a57-0d5f4c1c7a11")

# The second upsert of a slot changes no row, even if two workers believe to have the lock.
_TAKE_SLOT = """
INSERT INTO knowledge_schedule AS schedule (name, last_run_at) VALUES (%s, %s)
ON CONFLICT (name) DO UPDATE SET last_run_at = EXCLUDED.last_run_at
WHERE schedule.last_run_at < EXCLUDED.last_run_at
"""


@dataclass(frozen=True, slots=True)
class Sweep:
    """An actor without arguments that is sent once in each slot of so many seconds."""

    name: str
    every: int
    actor: Actor[[], Any]

    def slot(self, now: datetime) -> datetime:
        """When the present slot began: the same moment for every process."""
        elapsed = int(now.timestamp())
        return datetime.fromtimestamp(elapsed - elapsed % self.every, UTC)


SWEEPS: dict[str, Sweep] = {}


def every(seconds: int) -> Callable[[Actor[[], Any]], Actor[[], Any]]:
    """Have the actor below sent once in so many seconds."""

    def register(actor: Actor[[], Any]) -> Actor[[], Any]:
        SWEEPS[actor.actor_name] = Sweep(actor.actor_name, seconds, actor)
        return actor

    return register


def due(now: datetime) -> list[Sweep]:
    """The sweeps that nobody has sent in their present slot."""
    last_runs = dict(Schedule.objects.values_list("name", "last_run_at"))
    return [
        sweep
        for sweep in SWEEPS.values()
        if sweep.name not in last_runs or last_runs[sweep.name] < sweep.slot(now)
    ]


def run_scheduler(stop: threading.Event) -> None:
    """Send what is due, whenever it is this process's turn, until told to stop."""
    scheduler = _Scheduler()
    try:
        while not stop.wait(scheduler.pause):
            scheduler.tick()
    finally:
        scheduler.close()


class _Scheduler:
    def __init__(self) -> None:
        self.session: psycopg.Connection[Any] | None = None
        self.holds_lock = False
        self.failures = 0

    @property
    def pause(self) -> float:
        return min(TICK_SEC * (1 + self.failures), MAX_BACKOFF_SEC)

    def tick(self) -> None:
        try:
            if self._has_the_turn():
                _send_due()
            self.failures = 0
        except Exception as error:  # whatever it is, a worker without sweeps would go unnoticed
            self._back_off(error)
        finally:
            connection.close()

    def close(self) -> None:
        with suppress(*OUTAGE):
            if self.session is not None:
                self.session.close()
        self.session = None

    def _has_the_turn(self) -> bool:
        if self.session is None:
            self.session = open_session("quarry scheduler")
            self.holds_lock = False
        self.holds_lock = _ask(self.session, holds_lock=self.holds_lock)
        return self.holds_lock

    def _back_off(self, error: Exception) -> None:
        expected = isinstance(error, (*OUTAGE, ProviderUnavailable))
        if not self.failures:
            logger.warning("The scheduler pauses: %s", error, exc_info=not expected)
        self.failures += 1
        if not isinstance(error, ProviderUnavailable):
            self.close()


def _ask(session: psycopg.Connection[Any], *, holds_lock: bool) -> bool:
    """Whether the session has the lock; one that had it is asked too, for it may be gone."""
    if holds_lock:
        return session.execute("SELECT true").fetchone() == (True,)
    return session.execute("SELECT pg_try_advisory_lock(%s)", [Lock.SCHEDULER]).fetchone() == (
        True,
    )


def _send_due() -> None:
    now = timezone.now()
    for sweep in due(now):
        _send(sweep, sweep.slot(now))


@transaction.atomic
def _send(sweep: Sweep, slot: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_SLOT, [sweep.name, slot])
        if cursor.rowcount:
            message = sweep.actor.message().copy(message_id=_message_id(sweep, slot))
            enqueue_now(sweep.actor.broker, message)


def _message_id(sweep: Sweep, slot: datetime) -> str:
    return str(uuid5(_MESSAGE_IDS, f"{sweep.name} {slot.isoformat()}"))
