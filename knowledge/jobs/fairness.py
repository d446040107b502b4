"""Nobody's work waits for all of another's: two queues, and a limit for each owner.

What takes long has a queue of its own, and every queue leaves a place to other owners.
"""

import threading
from collections import Counter
from typing import Any

from dramatiq import Actor
from dramatiq.broker import Broker, Consumer, MessageProxy
from dramatiq.common import q_name
from dramatiq.message import Message
from dramatiq.middleware import CurrentMessage

LONG_QUEUE = "long"
"""For what may take minutes, so that it never comes before what takes a moment."""

FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 500, 30_000


def send_job(
    actor: Actor[..., Any],
    *args: object,
    owner_id: int | None = None,
    is_long: bool = False,
    delay: int | None = None,
) -> None:
    """Send a job for an owner, in the caller's transaction; long work goes to its own queue.

    What a job sends is for its own owner, unless another is named.
    """
    if owner_id is None:
        sender = CurrentMessage.get_current_message()
        owner_id = owner_of(sender) if sender else 0
    message = actor.message_with_options(args=args, owner_id=owner_id)
    if is_long:
        message = message.copy(queue_name=LONG_QUEUE)
    actor.broker.enqueue(message, delay=delay)


def owner_of(message: Message[Any] | MessageProxy) -> int:
    """For whom a message is; 0 is nobody in particular, or was sent by an older version."""
    return int(message.options.get("owner_id") or 0)


def most_of_one_owner(places: int) -> int:
    """How many of a worker's places in a queue one owner may have: all but one."""
    return max(1, places - 1)


class OwnerLimit(Consumer):
    """Before a consumer of a job server: puts a message back whose owner has enough running.

    A server gives messages out in their order alone, so the message goes to the delay queue.
    """

    def __init__(self, broker: Broker, queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout)  # type: ignore[call-arg]
        self.broker = broker
        self.draining: threading.Event = broker.draining  # type: ignore[attr-defined]
        self.is_delay_queue = q_name(queue_name) != queue_name
        self.most = most_of_one_owner(prefetch)
        self.running: Counter[int] = Counter()
        self.mutex = threading.Lock()

    def __next__(self) -> Any:
        message: Any = super().__next__()
        if message is None or self.is_delay_queue:
            return message
        if self._take_place(owner_of(message)):
            message.place_in = self
            return message
        self._put_back(message)
        return None

    def ack(self, message: Any) -> None:
        self._free_place(message)
        super().ack(message)

    def nack(self, message: Any) -> None:
        self._free_place(message)
        super().nack(message)

    def _take_place(self, owner_id: int) -> bool:
        with self.mutex:
            if self.draining.is_set() or self.running[owner_id] >= self.most:
                return False
            self.running[owner_id] += 1
            return True

    def _free_place(self, message: Any) -> None:
        # A message may outlive the consumer that it came from, and its place went with that.
        if getattr(message, "place_in", None) is self:
            message.place_in = None
            with self.mutex:
                self.running -= Counter([owner_of(message)])  # which keeps no zeros

    def _put_back(self, message: Any) -> None:
        """Longer each time, or a thousand jobs of one owner would go round and round."""
        count = int(message.options.get("put_back", 0))
        message.options["put_back"] = count + 1
        self.broker.enqueue(message, delay=min(FIRST_PAUSE_MS * 2**count, LONGEST_PAUSE_MS))
        super().ack(message)
