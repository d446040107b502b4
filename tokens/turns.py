"""How many calls compute at once: fewer than run, for all of them share one interpreter.

A call that only waits, for a reader, a vendor or another site, gives its turn to the next one and
has another when it goes on.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from knowledge.api.asgi import Receive
from knowledge.errors import Busy
from tokens.lanes import Caller, Lane, Slot

RESUME_SEC = 60.0
"""Whoever waits longer to go on does so without a turn: what has begun is finished."""


@dataclass(slots=True)
class CallTurn:
    """One call's turn, which the threads that work for it may give up and take again."""

    lane: Lane
    caller: Caller
    _slot: Slot | None = None
    _is_over: bool = False
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    async def take(self, receive: Receive | None = None) -> None:
        """The first turn, or Busy."""
        self._slot = await self.lane.take(self.caller, receive)

    def release(self) -> None:
        """For good."""
        self._is_over = True
        self._give_up()

    def pause(self) -> None:
        """On a thread: let the next call compute."""
        self._loop.call_soon_threadsafe(self._give_up)

    def resume(self) -> None:
        """On a thread: wait for a turn, unless its call is over: the loop may be waiting for it."""
        if self._is_over:
            return
        asyncio.run_coroutine_threadsafe(self._take_again(), self._loop).result(2 * RESUME_SEC)

    def _has_ended(self) -> bool:
        return self._is_over

    def _give_up(self) -> None:
        if self._slot:
            self._slot.release()
            self._slot = None

    async def _take_again(self) -> None:
        if self._has_ended():  # its caller has left, and what it still does is not waited for
            return
        with suppress(Busy):
            slot = await self.lane.take(self.caller, wait_sec=RESUME_SEC)
            if self._has_ended():
                slot.release()
            else:
                self._slot = slot
