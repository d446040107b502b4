"""Hands notices to whoever is subscribed in this process: one LISTEN, however many there are."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from knowledge.jobs.consumer import OUTAGE, open_session
from knowledge.jobs.notices import CHANNEL, Topic

RECONNECT_SEC = 2.0
LOOK_UP_SEC = 1.0


class Subscription:
    """One subscriber: the topics that changed since it last looked, and a wake-up call."""

    def __init__(self, owner_id: int) -> None:
        self.owner_id = owner_id
        self.topics: set[Topic] = set()
        self.awake = asyncio.Event()
        self.is_over = False

    def wake(self, *topics: Topic) -> None:
        self.topics.update(topics)
        self.awake.set()

    def take(self) -> list[Topic]:
        """What has changed, in a fixed order; from now on nothing has."""
        taken = sorted(self.topics)
        self.topics.clear()
        self.awake.clear()
        return taken


class Hub:
    """All subscriptions of this process; used from its event loop alone.

    The connection is opened with the first subscription and closed after the last.
    """

    def __init__(self) -> None:
        self._subscriptions: dict[int, set[Subscription]] = {}
        self._leave: threading.Event | None = None

    def count(self, owner_id: int) -> int:
        return len(self._subscriptions.get(owner_id, ()))

    @contextmanager
    def subscribe(self, owner_id: int) -> Iterator[Subscription]:
        """Be told of one owner's changes for as long as this block lasts."""
        subscription = Subscription(owner_id)
        self._subscriptions.setdefault(owner_id, set()).add(subscription)
        if self._leave is None:
            self._start()
        try:
            yield subscription
        finally:
            self._subscriptions[owner_id].discard(subscription)
            if not self._subscriptions[owner_id]:
                del self._subscriptions[owner_id]
            if not self._subscriptions and self._leave is not None:
                self._leave.set()
                self._leave = None

    def close(self) -> None:
        """End every subscription: the server is about to stop."""
        for subscription in self._all():
            subscription.is_over = True
            subscription.wake()

    def _all(self) -> list[Subscription]:
        return [each for several in self._subscriptions.values() for each in several]

    def _start(self) -> None:
        self._leave = threading.Event()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(loop, self._leave), daemon=True).start()

    def _listen(self, loop: asyncio.AbstractEventLoop, leave: threading.Event) -> None:
        while not leave.is_set() and not loop.is_closed():
            try:
                with open_session("quarry notices") as session:
                    session.execute(f"LISTEN {CHANNEL}")
                    _call(loop, self._wake_all)  # whatever happened until now was not heard
                    while not leave.is_set():
                        for notice in session.notifies(timeout=LOOK_UP_SEC):
                            _call(loop, self._deliver, notice.payload)
            except OUTAGE:
                leave.wait(RECONNECT_SEC)

    def _wake_all(self) -> None:
        for subscription in self._all():
            subscription.wake(*Topic)

    def _deliver(self, payload: str) -> None:
        owner_id, _, topic = payload.partition(" ")
        for subscription in self._subscriptions.get(int(owner_id), ()):
            subscription.wake(Topic(topic))


def _call(loop: asyncio.AbstractEventLoop, *work: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(*work)  # type: ignore[arg-type]


hub = Hub()
