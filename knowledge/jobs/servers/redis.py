"""Jobs on Redis."""

from collections.abc import Iterator, Set
from itertools import chain
from typing import Any

import redis
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.errors import ConnectionClosed
from dramatiq.middleware import Middleware
from redis.backoff import NoBackoff
from redis.retry import Retry

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.fairness import OwnerLimit
from knowledge.jobs.servers.base import JobServer, arguments_of, place, reason

HEARTBEAT_MS = 5000
"""A worker that Redis has not heard of for so long is dead, and its messages are free."""


class RedisServer(JobServer, RedisBroker):
    """Keeps messages in Redis, where every look for work also looks for dead workers."""

    outages = (redis.RedisError,)

    def __init__(self, url: str, middleware: list[Middleware]) -> None:
        self.where = f"Redis at {place(url)}"
        client = _Client.from_url(
            url, socket_connect_timeout=5, socket_timeout=10, retry=Retry(NoBackoff(), 1)
        )
        super().__init__(  # type: ignore[no-untyped-call]
            client=client,
            namespace="quarry",
            middleware=middleware,
            heartbeat_timeout=HEARTBEAT_MS,
            maintenance_chance=1_000_000,
        )

    @property
    def consumer_class(self) -> type["_Consumer"]:
        return _Consumer

    def check(self) -> None:
        try:
            self.client.ping()
        except redis.RedisError as error:
            raise ProviderUnavailable(f"{self.where} does not answer: {reason(error)}") from error

    def names(self, ids: Set[str]) -> set[str]:
        named: set[str] = set()
        for encoded in self._messages():
            named |= arguments_of(encoded) & ids
        return named

    def count_waiting(self, queue: str) -> int:
        try:
            return int(self.client.llen(f"{self.namespace}:{queue}"))
        except redis.RedisError as error:
            raise ProviderUnavailable(f"{self.where} does not answer: {reason(error)}") from error

    def _messages(self) -> Iterator[bytes]:
        """Every message, until it is acknowledged."""
        for queue in chain(self.queues, self.delay_queues):
            for _, encoded in self.client.hscan_iter(f"{self.namespace}:{queue}.msgs", count=1000):
                yield encoded


class _Consumer(OwnerLimit, _RedisConsumer):
    """Leaves a place to other owners."""


class _Gone(redis.ConnectionError, ConnectionClosed):
    """Known to those parts of Dramatiq that expect Redis's error and to those that do not."""


class _Client(redis.Redis):
    def execute_command(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise _Gone(str(error)) from error
