"""Events on their way into the record: one by one, or in a web process once a second.

What a killed process (kill -9) loses is at most the last second of the record of calls. What calls
change is recorded with the change itself, in its own transaction.
"""

import logging
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from django.db import close_old_connections, connection

EVERY_SEC = 1.0
MOST_WAITING = 500
"""So many are written without waiting for the second to be over."""
MOST_KEPT = 20_000
"""So many wait while the database does not answer; beyond these each new one drops the oldest."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """A row of the record; its fields are the columns, in this order."""

    token_id: UUID
    owner_id: int
    edge: str
    action: str
    target: str
    outcome: str
    latency_ms: int
    request_id: str
    at: datetime


_values_of = attrgetter(*(field.name for field in fields(NewEvent)))


class EventLog:
    """Writes events at once, or in batches while `batch` lasts."""

    def __init__(self) -> None:
        self._waiting: deque[NewEvent] = deque(maxlen=MOST_KEPT)
        self._is_due = threading.Event()
        self._writers = 0
        self._lock = threading.Lock()

    def add(self, event: NewEvent) -> None:
        self._waiting.append(event)
        if not self._writers:
            self.flush()
        elif len(self._waiting) >= MOST_WAITING:
            self._is_due.set()

    def flush(self) -> None:
        """Write what waits. What cannot be written is logged, and tried again while it fits."""
        with self._lock:
            events = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not events:
                return
            try:
                _write(events)
            except Exception:  # whatever it is, the writer goes on
                logger.exception("%s events could not be recorded", len(events))
                if self._writers:
                    self._waiting.extendleft(reversed(events))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Write once a second, by a thread of its own, and once more at the end."""
        over = threading.Event()
        writer = threading.Thread(target=self._write_until, args=(over,), name="events")
        self._writers += 1
        writer.start()
        try:
            yield
        finally:
            over.set()
            self._is_due.set()
            writer.join()
            self._writers -= 1
            self._flush_on_own_connection()  # what came while the writer wrote its last

    def _write_until(self, over: threading.Event) -> None:
        while not over.is_set():
            self._is_due.wait(EVERY_SEC)
            self._is_due.clear()
            self._flush_on_own_connection()
        self._flush_on_own_connection()

    def _flush_on_own_connection(self) -> None:
        if self._waiting:
            close_old_connections()
            self.flush()
            close_old_connections()


log = EventLog()
"""That of this process."""


def _write(events: list[NewEvent]) -> None:
    """All by one statement; of a token that is gone its owner keeps them, of an owner nobody."""
    columns = [list(column) for column in zip(*map(_values_of, events), strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, columns)


_INSERT = """
INSERT INTO tokens_event
    (token_id, owner_id, edge, action, target, outcome, latency_ms, request_id, at)
SELECT token.id, owner.id, edge, action, target, outcome, latency_ms, request_id, at
FROM unnest(%s::uuid[], %s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::int[],
            %s::text[], %s::timestamptz[])
    WITH ORDINALITY AS event
    (token_id, owner_id, edge, action, target, outcome, latency_ms, request_id, at, number)
JOIN auth_user AS owner ON owner.id = event.owner_id
LEFT JOIN tokens_token AS token ON token.id = event.token_id
ORDER BY number
"""
