"""How many calls run at once: of one token, of one owner, and of everybody.

Fewer than there are database connections, so that there is always one for looking up a token and
for health checks. A call past its bound waits for its turn for a few seconds and is then refused as
`busy`. Long calls take a second place among few, so that there is always one for short ones.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from django.conf import settings

from knowledge.api.asgi import Receive
from knowledge.asks import READS, Ask
from knowledge.monitoring.turns import take_turn
from tokens.lanes import Bounds, Lane, Slot, Visitor
from tokens.models import Token
from tokens.turns import CallTurn

LONG_CALL = 8_000
"""Bytes of a body from which on a reader may be busy with its text for half a second or more."""
LONG_WAIT = 4
"""How many times as long as others a long call may wait: until its turn it is only a file."""
LONG_WAITING = 8
REFUSALS_WAITING = TURNS_WAITING = 64
BODIES_PER_OWNER = 8
BODIES = 64


@dataclass(slots=True)
class CallPlaces:
    """All that one running call has, given back once."""

    turn: CallTurn
    slots: list[Slot] = field(default_factory=list)

    def release(self) -> None:
        self.turn.release()
        for slot in self.slots:
            slot.release()


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
        few = max(1, bounds.total // 2)
        most = max(1, few - 1)
        wait_sec = LONG_WAIT * bounds.wait_sec
        self.long = Lane(Bounds(few, most, most, wait_sec, waiting_per_owner=LONG_WAITING))
        """A second place that calls with long bodies take, because they may wait for readers."""
        self.bodies = Lane(Bounds(BODIES, BODIES_PER_OWNER, BODIES_PER_OWNER, bounds.wait_sec))
        """Places for large bodies on their way in, files among them."""
        turns = min(settings.TURNS, 2 * bounds.total)
        most = max(1, turns - 1)
        self.turns = Lane(
            Bounds(turns, most, most, bounds.wait_sec, waiting_per_owner=TURNS_WAITING)
        )
        """Who computes, of those who have a place."""
        self.refusals = Lane(Bounds(2, 1, 1, bounds.wait_sec, waiting_per_owner=REFUSALS_WAITING))
        """Places for calls that are refused, before anybody is known: one of each address."""
        self.archives = Lane(Bounds(BODIES_PER_OWNER, 1, 1, wait_sec))
        """Places for archives, which are taken and stored one after the other."""

    async def take(
        self, token: Token, ask: Ask | None, *, length: int = 0, receive: Receive | None = None
    ) -> "CallPlaces":
        """What a call needs whose body has this length: a place, maybe among long ones, a turn."""
        places = CallPlaces(CallTurn(self.turns, token))
        is_long, lane = length > LONG_CALL, self.lane_of(ask)
        try:
            if is_long:
                places.slots.append(await self.long.take(token, receive))
            places.slots.append(await lane.take(token, receive, is_long=is_long))
            await places.turn.take(receive)
        except BaseException:
            places.release()
            raise
        return places

    @asynccontextmanager
    async def hold(self, token: Token, ask: Ask | None, *, length: int = 0) -> AsyncIterator[None]:
        """The same for as long as this lasts."""
        places = await self.take(token, ask, length=length)
        try:
            with take_turn(places.turn):
                yield
        finally:
            places.release()

    def hold_file(self, owner_id: int) -> AbstractAsyncContextManager[None]:
        """A place for a file on its way in."""
        return self.bodies.hold(Visitor(owner_id, "files"))

    def hold_archive(self, owner_id: int) -> AbstractAsyncContextManager[None]:
        """A place for an archive, of which each owner has one."""
        return self.archives.hold(Visitor(owner_id, "archives"))

    def lane_of(self, ask: Ask | None) -> Lane:
        """Where calls of this kind run; what is no ask only reads."""
        return self.reads if ask is None or ask.effect is READS else self.writes
