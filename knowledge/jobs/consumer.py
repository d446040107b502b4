"""How a worker takes messages from the job table, and owns them for as long as it lives.

Claims are held by an advisory lock of the worker's session: they are free the moment it dies.
"""

import logging
import socket
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from dramatiq.broker import Consumer, MessageProxy
from dramatiq.errors import ConnectionClosed, DecodeError
from dramatiq.message import Message

from knowledge.jobs.fairness import most_of_one_owner
from knowledge.locks import new_worker_key
from knowledge.validation import make_storable

logger = logging.getLogger(__name__)

POLL_SEC = 0.5
CONFIRM_SEC = 0.25
"""A worker is dead when its lock is missing twice, this far apart: time to mend a connection."""
RECOVERY_SEC = 3.0
"""After an outage nobody is called dead before every worker has had time to reconnect."""
MAX_BACKOFF_SEC = 1.0
MAX_CRASHES = 20
"""More than the kills of one bad day: most jobs that a worker dies with did not kill it."""
MAX_ERROR_CHARS = 10_000
MOST_TURNS = 1_000
"""So many owners' last turns are remembered."""
OUTAGE = (psycopg.Error, DatabaseError)
# Notice within seconds that the machine at the other end is gone, on both ends.
_KEEPALIVES = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}

# Owners have turns: of those who may, the one whose last turn is the longest ago comes first. A
# recursive CTE finds the owners by one look at the index for each, however many jobs one has. More
# than one job of each, for other workers may be about to claim the first. Materialized, or the
# planner may run the subquery, and claim, more than once.
_CLAIM = """
WITH RECURSIVE owners (id) AS (
    (SELECT owner_id FROM knowledge_job WHERE queue = %(queue)s AND state = 'queued'
        ORDER BY owner_id LIMIT 1)
    UNION ALL
    SELECT (SELECT owner_id FROM knowledge_job
        WHERE queue = %(queue)s AND state = 'queued' AND owner_id > owners.id
        ORDER BY owner_id LIMIT 1)
    FROM owners WHERE owners.id IS NOT NULL
), heads AS MATERIALIZED (
    SELECT head.id, head.available_at, turns.number AS last_turn
    FROM owners CROSS JOIN LATERAL (
        SELECT id, available_at FROM knowledge_job
        WHERE queue = %(queue)s AND state = 'queued' AND owner_id = owners.id
            AND available_at <= now()
        ORDER BY available_at LIMIT 4
    ) AS head
    LEFT JOIN unnest(%(turns)s::bigint[]) WITH ORDINALITY AS turns (owner, number)
        ON turns.owner = owners.id
    WHERE NOT owners.id = ANY(%(full)s::bigint[])
), due AS MATERIALIZED (
    SELECT job.id FROM knowledge_job AS job JOIN heads ON heads.id = job.id
    WHERE job.state = 'queued'
    ORDER BY heads.last_turn NULLS FIRST, heads.available_at
    LIMIT %(room)s FOR UPDATE OF job SKIP LOCKED
)
UPDATE knowledge_job AS job SET state = 'claimed', worker = %(worker)s
FROM due WHERE job.id = due.id RETURNING job.id::text, job.owner_id, job.message
"""
_FINISH = "DELETE FROM knowledge_job WHERE id = %s AND worker = %s"
_PUT_BACK = """
UPDATE knowledge_job SET state = 'queued', worker = NULL, message = %s, error = %s,
    available_at = now() + %s * interval '1 millisecond'
WHERE id = %s AND worker = %s
"""
_BURY = """
UPDATE knowledge_job SET state = 'dead', worker = NULL, error = %s WHERE id = %s AND worker = %s
"""
_RELEASE = """
WITH freed AS (
    UPDATE knowledge_job SET state = 'queued', worker = NULL
    WHERE state = 'claimed' AND worker = %s AND NOT id = ANY(%s::uuid[]) RETURNING id
)
SELECT pg_notify('knowledge_job', '') FROM freed
"""
_UNLOCKED_WORKERS = """
SELECT worker FROM (
    SELECT DISTINCT worker FROM knowledge_job WHERE state = 'claimed' AND worker <> %s
) AS claims WHERE pg_try_advisory_xact_lock(worker)
"""
# Taking the dead worker's lock keeps it from coming back to life in the middle of this. The
# first time a job keeps its place; then it lets others go first, and a pause that differs parts
# the one that kills from those that were only beside it.
_FREE_CLAIMS_OF_THE_DEAD = """
WITH freed AS (
    UPDATE knowledge_job SET worker = NULL, crashes = crashes + 1,
        available_at = CASE WHEN crashes = 0 THEN available_at
            ELSE now() + random() * power(2, least(crashes, 4)) * interval '1 second' END,
        state = CASE WHEN crashes + 1 < %s THEN 'queued' ELSE 'dead' END,
        error = 'The worker died while it held this job.'
    WHERE state = 'claimed' AND worker = ANY(%s) AND pg_try_advisory_xact_lock(worker)
    RETURNING id
)
SELECT pg_notify('knowledge_job', '') FROM freed
"""


class HeldMessage(MessageProxy):
    """A message that a worker has claimed."""

    def __init__(self, message: Message[Any], job_id: str, worker: int) -> None:
        super().__init__(message)
        self.claim = (job_id, worker)
        # A retry is written by `ack`, in one step. Were it a write of its own, an outage between
        # the two would lose the message.
        self.retry_in: int | None = None

    def error_text(self) -> str:
        error = self._exception
        return _storable("".join(traceback.format_exception(error)) if error else "Rejected.")


def _storable(text: str) -> str:
    """The end of a text, as Postgres takes it."""
    return make_storable(text[-MAX_ERROR_CHARS:], nul="")


class PostgresConsumer(Consumer):
    """Claims one queue's messages on a connection of its own, and mends that when it breaks.

    The consumer's thread waits and claims; worker threads settle what they have run. Owners take
    turns, and no owner has all the places.
    """

    def __init__(self, queue_name: str, prefetch: int, draining: threading.Event) -> None:
        self.queue_name = queue_name
        self.prefetch = prefetch
        self.draining = draining
        self.key = new_worker_key()
        self.held: dict[str, int] = {}
        """Each message that is claimed, with its owner."""
        self.turns: dict[int, None] = {}
        """Owners by their last turn, the longest ago first."""
        self.mutex = threading.RLock()
        self.session: psycopg.Connection[Any] | None = None
        self.failures = 0
        self.suspects: list[int] = []
        self.next_look = 0.0
        self.nudges, self.nudger = socket.socketpair()
        self.nudges.setblocking(False)
        self.nudger.setblocking(False)

    def __next__(self) -> HeldMessage | None:
        try:
            message = self._claim()
            self.failures = 0
            if message is None:
                self._wait()
            return message
        except OUTAGE as error:
            self._back_off(error)
            return None

    def ack(self, message: HeldMessage) -> None:  # type: ignore[override]
        if message.retry_in is None:
            self._finish_message(message, _FINISH)
        else:
            self._finish_message(
                message, _PUT_BACK, message.encode(), message.error_text(), message.retry_in
            )

    def nack(self, message: HeldMessage) -> None:  # type: ignore[override]
        self._finish_message(message, _BURY, message.error_text())

    def close(self) -> None:
        """Release the messages that are still claimed, and the advisory lock."""
        with self.mutex, suppress(*OUTAGE):
            if self.session is not None:
                self.session.execute(_RELEASE, [self.key, []])
        self._disconnect()
        self.nudges.close()
        self.nudger.close()

    def _claim(self) -> HeldMessage | None:
        with suppress(BlockingIOError):
            self.nudges.recv(4096)
        with self.mutex:
            session = self._connect()
            self._free_claims_of_the_dead(session)
            row = session.execute(_CLAIM, self._claim_values()).fetchone()
            if row is None:
                return None
            job_id, owner_id, encoded = row
            self._note_turn(owner_id)
            try:
                message = Message.decode(bytes(encoded))
            except DecodeError as error:
                session.execute(_BURY, [_storable(f"{error} {error.error}"), job_id, self.key])
                return None
            self.held[job_id] = owner_id
            return HeldMessage(message, job_id, self.key)

    def _claim_values(self) -> dict[str, Any]:
        # Asking for none, when there is no room, still notices a broken connection.
        has_room = len(self.held) < self.prefetch and not self.draining.is_set()
        most = most_of_one_owner(self.prefetch)
        running = Counter(self.held.values())
        return {
            "queue": self.queue_name,
            "turns": list(self.turns),
            "full": [owner_id for owner_id, count in running.items() if count >= most],
            "room": int(has_room),
            "worker": self.key,
        }

    def _note_turn(self, owner_id: int) -> None:
        self.turns.pop(owner_id, None)
        self.turns[owner_id] = None
        if len(self.turns) > MOST_TURNS:
            del self.turns[next(iter(self.turns))]

    def _wait(self) -> None:
        """Sleep until a message may be there: a notification, a free place, or the next poll."""
        session = self.session
        if session is not None:
            until_look = self.next_look - time.monotonic()
            wait([session.fileno(), self.nudges], min(POLL_SEC, max(until_look, 0.01)))

    def _finish_message(self, message: HeldMessage, sql: str, *values: object) -> None:
        with self.mutex:
            try:
                settled = self._connect().execute(sql, [*values, *message.claim]).rowcount
            except OUTAGE as error:
                self._disconnect()
                raise ConnectionClosed(str(error)) from error  # type: ignore[no-untyped-call]
            self.held.pop(message.claim[0], None)
        if not settled:
            logger.warning("%s ran, but its claim was lost to another worker.", message)
        self._wake_loop()

    def _connect(self) -> psycopg.Connection[Any]:
        if self.session is None:
            session = open_session(f"quarry worker: {self.queue_name}")
            try:
                self._take_lock(session)
            except BaseException:
                session.close()
                raise
            self.session = session
        return self.session

    def _take_lock(self, session: psycopg.Connection[Any]) -> None:
        """Hold this consumer's key on the session, and only the claims that we know of."""
        lock = session.execute("SELECT pg_try_advisory_lock(%s)", [self.key]).fetchone()
        if lock != (True,):
            raise psycopg.OperationalError("The worker's lock is not free yet.")
        session.execute(_RELEASE, [self.key, list(self.held)])
        session.add_notify_handler(lambda _: self._wake_loop())
        session.execute("LISTEN knowledge_job")

    def _disconnect(self) -> None:
        with self.mutex:
            if self.session is not None:
                self.session.close()
            self.session = None
            self.suspects = []
            self.next_look = time.monotonic() + RECOVERY_SEC

    def _back_off(self, error: Exception) -> None:
        self._disconnect()
        if self.failures:
            time.sleep(min(0.1 * self.failures, MAX_BACKOFF_SEC))
        else:
            logger.warning("The consumer of %s lost the database: %s", self.queue_name, error)
        self.failures += 1

    def _free_claims_of_the_dead(self, session: psycopg.Connection[Any]) -> None:
        if time.monotonic() < self.next_look:
            return
        if self.suspects:
            session.execute(_FREE_CLAIMS_OF_THE_DEAD, [MAX_CRASHES, self.suspects])
        self.suspects = [key for (key,) in session.execute(_UNLOCKED_WORKERS, [self.key])]
        self.next_look = time.monotonic() + (CONFIRM_SEC if self.suspects else POLL_SEC)

    def _wake_loop(self) -> None:
        with suppress(OSError):
            self.nudger.send(b"!")


def open_session(application: str) -> psycopg.Connection[Any]:
    """A connection with Django's parameters, but neither from its pool nor bound to a thread."""
    params = _KEEPALIVES | connections[DEFAULT_DB_ALIAS].get_connection_params()
    on_the_server = [f"-c tcp_{name}={value}" for name, value in _KEEPALIVES.items()]
    params["options"] = " ".join([params.get("options", ""), *on_the_server])
    params["application_name"] = application
    return psycopg.connect(**params, autocommit=True)
