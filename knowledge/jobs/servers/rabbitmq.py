"""Jobs on RabbitMQ."""

import logging
import threading
from collections.abc import Set
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pika
from dramatiq.broker import MessageProxy
from dramatiq.brokers.rabbitmq import RabbitmqBroker, _RabbitmqConsumer
from dramatiq.errors import ConnectionClosed
from dramatiq.message import Message
from dramatiq.middleware import Middleware
from pika.exceptions import AMQPError

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.fairness import OwnerLimit
from knowledge.jobs.servers.base import JobServer, place, reason

_PATIENCE = {
    "heartbeat": "15",
    "blocked_connection_timeout": "30",
    "socket_timeout": "5",
    "stack_timeout": "5",
}
"""Seconds, unless the URL says otherwise."""


class RabbitServer(JobServer, RabbitmqBroker):
    """Keeps messages in RabbitMQ, which gives them out again when a worker's connection ends."""

    outages = (AMQPError, ConnectionClosed, OSError)

    def __init__(self, url: str, middleware: list[Middleware]) -> None:
        self.where = f"RabbitMQ at {place(url)}"
        urls = [_with_timeouts(one) for one in url.split(";")]
        super().__init__(url=urls, confirm_delivery=True, middleware=middleware)
        # One connection to send by, and not one for each thread: every request is a thread of
        # its own, and Dramatiq never closes theirs.
        self.state: Any = SimpleNamespace()
        self.sending = threading.RLock()
        # It logs, with tracebacks, what it also raises.
        logging.getLogger("pika").setLevel(logging.CRITICAL)

    @property
    def consumer_class(self) -> type["_Consumer"]:
        return _Consumer

    def declare_queue(self, queue_name: str, *, ensure: bool = False) -> None:
        with self.sending:
            super().declare_queue(queue_name, ensure=ensure)

    def check(self) -> None:
        try:
            pika.BlockingConnection(self.parameters).close()
        except self.outages as error:
            raise ProviderUnavailable(f"{self.where} does not answer: {reason(error)}") from error

    def names(self, ids: Set[str]) -> set[str]:
        """All names while any message waits: RabbitMQ cannot list the messages of a queue."""
        waiting = [self.get_queue_message_counts(queue)[:2] for queue in self.queues]
        return set(ids) if any(map(any, waiting)) else set()

    def count_waiting(self, queue: str) -> int:
        try:
            return int(self.get_queue_message_counts(queue)[0])
        except self.outages as error:
            raise ProviderUnavailable(f"{self.where} does not answer: {reason(error)}") from error

    def get_queue_message_counts(self, queue_name: str) -> tuple[int, int, int]:
        with self.sending:
            del self.connection  # RabbitMQ has closed it if nothing was sent for a while
            return super().get_queue_message_counts(queue_name)

    def _hand_over(self, message: Message[Any], delay: int | None) -> Message[Any]:
        with self.sending:
            return super()._hand_over(message, delay)


class _Consumer(OwnerLimit, _RabbitmqConsumer):
    """Leaves a place to other owners, and settles only what it gave out itself.

    RabbitMQ counts anew on a new connection: a job that outlived the old one would settle the
    message of another.
    """

    def __next__(self) -> Any:
        message = super().__next__()
        if message is not None:
            message.given_by = self
        return message

    def ack(self, message: MessageProxy) -> None:
        if message.given_by is self:
            super().ack(message)

    def nack(self, message: MessageProxy) -> None:
        if message.given_by is self:
            super().nack(message)


def _with_timeouts(url: str) -> str:
    parts = urlsplit(url)
    query = _PATIENCE | dict(parse_qsl(parts.query))
    return parts._replace(query=urlencode(query)).geturl()
