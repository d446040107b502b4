"""How many calls run at once: of one token, of one owner, and of everybody.

Fewer than there are database connections, so that there is always one for looking up a token and
for health checks. A call past its bound waits for its turn for a few seconds and is then refused as
`busy`. Whose owner has the fewest running is next, so that many calls of one owner hold up nobody
else. Used by the event loop of one process alone, so nothing here is locked.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from django.conf import settings

from knowledge.asks import READS, Ask
from knowledge.errors import Busy
from tokens.models import Token

WAITING_PER_RUNNING = 4
"""How many calls of an owner may wait, for each that may run."""
BODIES_PER_OWNER = 8
BODIES = 64


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that may run at once."""

    total: int
    per_owner: int
    per_token: int
    wait_sec: float


@dataclass(slots=True)
class _Waiting:
    token: Token
    turn: "asyncio.Future[None]"


@dataclass(slots=True)
class Slot:
    """One running call's place, given back once."""

    lane: "Lane"
    token: Token
    is_free: bool = False

    def release(self) -> None:
        if not self.is_free:
            self.is_free = True
            self.lane.give_back(self.token)


@dataclass(slots=True)
class Lane:
    """Calls of one kind."""

    bounds: Bounds
    _owners: Counter[object] = field(default_factory=Counter)
    _tokens: Counter[object] = field(default_factory=Counter)
    _waiting: list[_Waiting] = field(default_factory=list)

    async def take(self, token: Token) -> Slot:
        """A place for a call of this token, now or within the time to wait; else it is busy."""
        if not self._has_room(token):
            await self._wait(token)
        else:
            self._count(token, 1)
        return Slot(self, token)

    @asynccontextmanager
    async def hold(self, token: Token) -> AsyncIterator[None]:
        """A place for as long as this lasts."""
        slot = await self.take(token)
        try:
            yield
        finally:
            slot.release()

    def give_back(self, token: Token) -> None:
        """Have one call less running, and let the next one run."""
        self._count(token, -1)
        fitting = [each for each in self._waiting if self._has_room(each.token)]
        if fitting:
            following = min(fitting, key=lambda each: self._owners[each.token.owner_id])
            self._waiting.remove(following)
            self._count(following.token, 1)
            following.turn.set_result(None)

    async def _wait(self, token: Token) -> None:
        owners_waiting = sum(each.token.owner_id == token.owner_id for each in self._waiting)
        if owners_waiting >= self.bounds.per_owner * WAITING_PER_RUNNING:
            raise self._busy(token)
        waiting = _Waiting(token, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            await asyncio.wait_for(asyncio.shield(waiting.turn), self.bounds.wait_sec)
        except BaseException as error:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif waiting.turn.done():  # its turn came as it gave up
                self.give_back(token)
            if isinstance(error, TimeoutError):
                raise self._busy(token) from None
            raise

    def _has_room(self, token: Token) -> bool:
        return (
            self._owners.total() < self.bounds.total
            and self._owners[token.owner_id] < self.bounds.per_owner
            and self._tokens[token.pk] < self.bounds.per_token
        )

    def _count(self, token: Token, change: int) -> None:
        for counter, key in ((self._owners, token.owner_id), (self._tokens, token.pk)):
            counter[key] += change
            if not counter[key]:
                del counter[key]

    def _busy(self, token: Token) -> Busy:
        own = self.bounds.per_token, self.bounds.per_owner
        if self._tokens[token.pk] >= own[0]:
            who = f"{own[0]} calls of this token"
        elif self._owners[token.owner_id] >= own[1]:
            who = f"{own[1]} calls of this owner"
        else:
            who = "as many calls as this server takes"
        return Busy(f"There are {who} in progress already; wait for one of them, then try again.")


class CallSlots:
    """The places for calls: those that read apart from those that write, which may take long."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        bounds = bounds or Bounds(
            total=settings.CALLS_AT_ONCE,
            per_owner=settings.QUARRY_CALLS_PER_OWNER,
            per_token=settings.QUARRY_CALLS_PER_TOKEN,
            wait_sec=settings.QUARRY_BUSY_WAIT_SEC,
        )
        self.reads, self.writes = Lane(bounds), Lane(bounds)
        self.bodies = Lane(Bounds(BODIES, BODIES_PER_OWNER, BODIES_PER_OWNER, bounds.wait_sec))
        """Places for large bodies on their way in."""

    def lane_of(self, ask: Ask | None) -> Lane:
        """Where calls of this kind run; what is no ask only reads."""
        return self.reads if ask is None or ask.effect is READS else self.writes
