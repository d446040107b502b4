"""What Redis and RabbitMQ have in common: they are told of a job when its rows are committed."""

import logging
import threading
import time
from abc import abstractmethod
from collections.abc import Set
from functools import cached_property, partial
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.db import connection, transaction
from dramatiq.broker import Broker, MessageProxy
from dramatiq.errors import DecodeError
from dramatiq.message import Message

from knowledge.errors import ProviderUnavailable

logger = logging.getLogger(__name__)

RETRY_SEC = 1


class JobServer(Broker):
    """Hands a message over when the caller's transaction commits, and never if it rolls back.

    A message that the server does not take after the commit is left to the sweep of stuck rows.
    """

    where: str
    outages: ClassVar[tuple[type[Exception], ...]]

    @cached_property
    def draining(self) -> threading.Event:
        """Set when this process takes no more messages."""
        return threading.Event()

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        if isinstance(message, MessageProxy):
            return self._enqueue_retry(message, delay)
        if not connection.in_atomic_block:
            return self.enqueue_now(message, delay=delay)
        transaction.on_commit(partial(self._enqueue_committed, message, delay))
        return message

    def enqueue_now(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Send the message now, even if the caller's transaction is rolled back."""
        try:
            return self._hand_over(message, delay)
        except self.outages as error:
            raise ProviderUnavailable(f"{self.where} took no job: {reason(error)}") from error

    @abstractmethod
    def check(self) -> None:
        """Nothing, or `ProviderUnavailable` when the server does not answer."""

    @abstractmethod
    def names(self, ids: Set[str]) -> set[str]:
        """Those of the ids that a message here may be about, whether it waits or is being run."""

    @abstractmethod
    def count_waiting(self, queue: str) -> int:
        """The messages that wait in a queue, or `ProviderUnavailable`."""

    def _enqueue_committed(self, message: Message[Any], delay: int | None) -> None:
        try:
            self.enqueue_now(message, delay=delay)
        except ProviderUnavailable as error:
            logger.error("%s waits for the next sweep: %s", message, error)

    def _enqueue_retry(self, message: Any, delay: int | None) -> Message[Any]:
        """Wait for the server: Dramatiq acknowledges the message next, and that would lose it."""
        while True:
            try:
                return self._hand_over(message, delay)
            except self.outages as error:
                logger.warning("%s waits to be retried: %s", message, reason(error))
                time.sleep(RETRY_SEC)

    def _hand_over(self, message: Message[Any], delay: int | None) -> Message[Any]:
        return super().enqueue(message, delay=delay)


def place(url: str) -> str:
    """Where a URL leads, without the password in it."""
    parts = urlsplit(url)
    host = parts.hostname or "localhost"
    return f"{host}:{parts.port}" if parts.port else host


def reason(error: BaseException) -> str:
    """What happened, from within the errors that clients wrap it in."""
    inner = getattr(error, "exception", None) or next(iter(error.args), None)
    if isinstance(inner, BaseException):
        return reason(inner)
    return (str(error) or repr(error)).rstrip(".")


def arguments_of(encoded: bytes) -> set[str]:
    """The ids in a message's arguments; empty if the message cannot be decoded."""
    try:
        return {str(argument) for argument in Message.decode(encoded).args}
    except DecodeError:
        return set()
