"""Jobs on the database that Quarry already has: a Dramatiq broker that is its own outbox.

Or on a server of their own, by a setting.
"""

import threading
from collections.abc import Collection
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from uuid import UUID

import dramatiq
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, connection, connections
from dramatiq.broker import Broker, MessageProxy
from dramatiq.brokers.stub import StubBroker
from dramatiq.errors import QueueNotFound
from dramatiq.message import Message
from dramatiq.middleware import CurrentMessage, Middleware, Retries, TimeLimit

from knowledge.jobs.consumer import HeldMessage, PostgresConsumer
from knowledge.jobs.fairness import LONG_QUEUE, owner_of
from knowledge.jobs.servers.base import JobServer, arguments_of
from knowledge.models import Job
from knowledge.monitoring.logs import job_id
from knowledge.monitoring.metrics import JOB_SECONDS, JOBS

# The notification leaves with the caller's commit, and not at all when that rolls back.
_ENQUEUE = """
WITH added AS (
    INSERT INTO knowledge_job
        (id, queue, actor, owner_id, message, state, available_at, crashes, enqueued_at, error)
    VALUES (%s, %s, %s, %s, %s, 'queued', clock_timestamp() + %s * interval '1 millisecond', 0,
        clock_timestamp(), '')
    ON CONFLICT (id) DO NOTHING
    RETURNING available_at
)
SELECT pg_notify('knowledge_job', '') FROM added WHERE available_at <= clock_timestamp()
"""


# Each state by its own index; dead jobs, of which there may be many, are not looked at.
_LENGTHS = """
SELECT queue, sum(waiting)::int, sum(running)::int,
    greatest(extract(epoch FROM clock_timestamp() - min(due_since)), 0)::float8
FROM (
    SELECT queue, count(*) AS waiting, 0 AS running, min(available_at) AS due_since
    FROM knowledge_job WHERE state = 'queued' GROUP BY queue
    UNION ALL
    SELECT queue, 0, count(*), NULL FROM knowledge_job WHERE state = 'claimed' GROUP BY queue
) AS counted GROUP BY queue
"""


def configure_broker() -> None:
    """Make the broker that the settings ask for the one that every actor uses."""
    broker = broker_for(settings.QUARRY_BROKER_URL)
    # Here, for an actor of another queue may be the only one that this process knows.
    broker.declare_queue(LONG_QUEUE)
    dramatiq.set_broker(broker)


def check_broker() -> str:
    """Say where jobs queue, or raise `ProviderUnavailable` when that does not answer."""
    broker = broker_for(settings.QUARRY_BROKER_URL)
    if not isinstance(broker, JobServer):
        return "Postgres"
    broker.check()
    return broker.where


def enqueue_now(broker: Broker, message: Message[Any]) -> None:
    """Enqueue within the caller's transaction or, on a server, before it commits.

    The caller learns when that fails, and may roll back.
    """
    if isinstance(broker, JobServer):
        broker.enqueue_now(message)
    else:
        broker.enqueue(message)


def keeps_dead_jobs() -> bool:
    """Whether dead jobs are in the job table; with a server, those there are of another time."""
    return not isinstance(dramatiq.get_broker(), JobServer)


@dataclass(frozen=True, slots=True)
class QueueLength:
    """Jobs that wait and that run, and how long the oldest due one waits; None is not known."""

    waiting: int
    running: int | None = None
    oldest_sec: float | None = None


def queue_lengths() -> dict[str, QueueLength]:
    """Every queue, however empty it is."""
    broker = dramatiq.get_broker()
    if isinstance(broker, JobServer):
        return {name: QueueLength(broker.count_waiting(name)) for name in broker.queues}
    lengths = dict.fromkeys(sorted(broker.get_declared_queues()), QueueLength(0, 0, 0.0))
    with connection.cursor() as cursor:
        cursor.execute(_LENGTHS)
        return lengths | {name: QueueLength(*figures) for name, *figures in cursor.fetchall()}


def without_message(ids: Collection[UUID]) -> list[UUID]:
    """Those of the ids that no message is about: none waits for them, and none is being run."""
    names = {str(one) for one in ids}
    broker = dramatiq.get_broker()
    named = broker.names(names) if isinstance(broker, JobServer) else _names_in_job_table(names)
    return [one for one in ids if str(one) not in named]


def _names_in_job_table(names: set[str]) -> set[str]:
    named: set[str] = set()
    for encoded in Job.objects.values_list("message", flat=True).iterator():
        named |= arguments_of(bytes(encoded)) & names
    return named


def broker_for(url: str) -> Broker:
    """The broker that a value of QUARRY_BROKER_URL asks for, not yet connected to anything."""
    if not url:
        return PostgresBroker(job_middleware())
    if url == "stub://":
        return StubBroker(job_middleware())
    try:
        return _server_at(url)
    except ValueError:
        # Without the reason, which may quote a part of the password.
        raise ImproperlyConfigured(
            "QUARRY_BROKER_URL cannot be read; write redis://:password@host:6379/0 or "
            "amqp://user:password@host:5672/vhost, with special characters percent-encoded."
        ) from None


def _server_at(url: str) -> JobServer:
    scheme = url.partition(":")[0]
    if scheme in ("redis", "rediss"):
        from knowledge.jobs.servers.redis import RedisServer

        return RedisServer(url, job_middleware())
    if scheme in ("amqp", "amqps"):
        from knowledge.jobs.servers.rabbitmq import RabbitServer

        return RabbitServer(url, job_middleware())
    raise ImproperlyConfigured(
        f"QUARRY_BROKER_URL: there are no jobs over {scheme!r}; give a redis:// or amqp:// URL, "
        "or leave it empty for Postgres."
    )


def job_middleware() -> list[Middleware]:
    """What surrounds every job, outermost first."""
    return [CountJobs(), DjangoConnections(), Retries(), CurrentMessage(), TimeLimit()]


class CountJobs(Middleware):
    """Counts jobs by how they end; outermost, so that it sees what `Retries` made of them."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        job_id.set(message.message_id)
        self._thread.started = perf_counter()

    def after_process_message(
        self,
        broker: Broker,
        message: MessageProxy,
        *,
        result: Any = None,
        exception: BaseException | None = None,
    ) -> None:
        outcome = "done" if exception is None else "dead" if message.failed else "retried"
        JOBS.labels(message.queue_name, message.actor_name, outcome).inc()
        JOB_SECONDS.labels(message.actor_name).observe(perf_counter() - self._thread.started)
        job_id.set("")


class DjangoConnections(Middleware):
    """Gives each message usable database connections and takes them back afterwards."""

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        close_old_connections()

    def after_process_message(self, broker: Broker, message: MessageProxy, **ended: Any) -> None:
        for used in connections.all(initialized_only=True):
            if used.in_atomic_block:
                # A time limit that strikes in the exit of an atomic block leaves it open for
                # good, and nothing on this connection would be committed again.
                used.close()
                del connections[used.alias]
        close_old_connections()

    def before_worker_thread_shutdown(self, broker: Broker, thread: object) -> None:
        connections.close_all()


class PostgresBroker(Broker):
    """Keeps each message as a row; to enqueue is part of the caller's transaction."""

    def __init__(self, middleware: list[Middleware] | None = None) -> None:
        super().__init__(middleware)
        self.draining = threading.Event()

    def declare_queue(self, queue_name: str) -> None:
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = None
            self.emit_after("declare_queue", queue_name)

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Write the message, unless its id is there already; a retry waits for its `ack`."""
        self._require(message.queue_name)
        self.emit_before("enqueue", message, delay)
        if isinstance(message, HeldMessage):
            message.retry_in = delay or 0
        else:
            _insert(message, delay or 0)
        self.emit_after("enqueue", message, delay)
        return message

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30000) -> PostgresConsumer:
        self._require(queue_name)
        return PostgresConsumer(queue_name, prefetch, self.draining)

    def _require(self, queue_name: str) -> None:
        if queue_name not in self.queues:
            raise QueueNotFound(queue_name)  # type: ignore[no-untyped-call]


def _insert(message: Message[Any], delay: int) -> None:
    job_id, owner_id = UUID(message.message_id), owner_of(message)
    about: list[Any] = [job_id, message.queue_name, message.actor_name, owner_id]
    with connection.cursor() as cursor:
        cursor.execute(_ENQUEUE, [*about, message.encode(), delay])
