"""Places for calls of one kind, and who of those that wait for one is next.

Next is a call of the owner who has the fewest running; among equals, of the one whose calls took
the least time lately. The last free place is kept for owners who have none running and are of the
quarter that took least. Used by the event loop of one process alone, so nothing here is locked.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from time import monotonic

from knowledge.api.asgi import ClientLeft, Message, Receive, Send, watch_client
from knowledge.errors import Busy
from tokens.models import Token

WAITING_PER_RUNNING = 4
"""How many calls of an owner may wait, for each that may run."""
FORGET_HALF_SEC = 30
CLEARLY_LESS_SEC = 1.0
"""Below this difference two owners took alike."""
WATCH_AFTER_SEC = 0.2
"""Most turns come sooner; to see whether a client leaves takes a task of its own."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody without a token: a person, or everybody at an address, and what they call with."""

    owner_id: int | str
    pk: str


Caller = Token | Visitor


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that may run at once."""

    total: int
    per_owner: int
    per_token: int
    wait_sec: float
    waiting_per_owner: int = 0
    """As many as `WAITING_PER_RUNNING` says unless it is set."""


@dataclass(slots=True, eq=False)
class _Waiting:
    token: Caller
    caller_key: tuple[object, object]
    is_long: bool
    turn: "asyncio.Future[None]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


@dataclass(slots=True)
class Slot:
    """One running call's place, given back once."""

    lane: "Lane"
    token: Caller
    is_free: bool = False
    began: float = field(default_factory=monotonic)

    def release(self) -> None:
        if not self.is_free:
            self.is_free = True
            self.lane.give_back(self.token, held_sec=monotonic() - self.began)

    def release_at_answer(self, send: Send) -> Send:
        return release_at_answer(self.release, send)


def release_at_answer(release: Callable[[], None], send: Send) -> Send:
    """Give a place back once the answer begins: from there on, only its reader is waited for."""

    async def send_and_release(message: Message) -> None:
        release()
        await send(message)

    return send_and_release


@dataclass(slots=True)
class Lane:
    """Calls of one kind."""

    bounds: Bounds
    _owners: Counter[object] = field(default_factory=Counter)
    _tokens: Counter[object] = field(default_factory=Counter)
    _waiting: list[_Waiting] = field(default_factory=list)
    _spent: defaultdict[object, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds that calls of each owner held places lately."""
    _halved: float = field(default_factory=monotonic)

    async def take(
        self,
        token: Caller,
        receive: Receive | None = None,
        *,
        wait_sec: float | None = None,
        is_long: bool = False,
    ) -> Slot:
        """A place for a call of this token, now or within the time to wait; else Busy.

        A long call never gets the last place. Once its body is read, `receive` tells whether its
        client leaves; if it does while the call waits, that is ClientLeft.
        """
        if not self._has_room(token, is_long):
            seconds = self.bounds.wait_sec if wait_sec is None else wait_sec
            await self._wait(_Waiting(token, _caller_key(token), is_long), receive, seconds)
        else:
            self._count(token, 1)
        return Slot(self, token)

    @asynccontextmanager
    async def hold(self, token: Caller) -> AsyncIterator[None]:
        """A place for as long as this lasts."""
        slot = await self.take(token)
        try:
            yield
        finally:
            slot.release()

    def give_back(self, token: Caller, *, held_sec: float = 0) -> None:
        """Have one call less running, and let the next one run."""
        self._count(token, -1)
        self._note(token, held_sec)
        if following := self._next():
            self._waiting.remove(following)
            self._count(following.token, 1)
            following.turn.set_result(None)

    def _next(self) -> _Waiting | None:
        """Of those who have room, one of the least share, who came first.

        Many may wait, with a token each: what holds for an owner is looked at once.
        """
        fits = cache(self._owner_has_room)
        fitting = [
            each
            for each in self._waiting
            if self._tokens[each.caller_key] < self.bounds.per_token
            and fits(each.token.owner_id, each.is_long)
        ]
        share_of = cache(self._share_of)
        return min(fitting, key=lambda each: share_of(each.token.owner_id), default=None)

    async def _wait(self, waiting: _Waiting, receive: Receive | None, seconds: float) -> None:
        token = waiting.token
        owners_waiting = sum(each.token.owner_id == token.owner_id for each in self._waiting)
        most = self.bounds.waiting_per_owner or self.bounds.per_owner * WAITING_PER_RUNNING
        if owners_waiting >= most:
            raise self._busy(token)
        self._waiting.append(waiting)
        try:
            await self._wait_for_turn(waiting.turn, receive, seconds)
        except BaseException as error:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif waiting.turn.done():  # its turn came as it gave up
                self.give_back(token)
            if isinstance(error, TimeoutError):
                raise self._busy(token) from None
            raise

    async def _wait_for_turn(
        self, turn: "asyncio.Future[None]", receive: Receive | None, seconds: float
    ) -> None:
        soon = min(seconds, WATCH_AFTER_SEC) if receive else seconds
        await asyncio.wait((turn,), timeout=soon)
        if receive and seconds > soon and not turn.done():
            async with watch_client(receive) as client:
                await asyncio.wait(
                    (turn, client), timeout=seconds - soon, return_when=asyncio.FIRST_COMPLETED
                )
                if client.done() and not turn.done():
                    raise ClientLeft
        if not turn.done():
            raise TimeoutError

    def _has_room(self, token: Caller, is_long: bool) -> bool:
        has_token_room = self._tokens[_caller_key(token)] < self.bounds.per_token
        return has_token_room and self._owner_has_room(token.owner_id, is_long)

    def _owner_has_room(self, owner_id: object, is_long: bool) -> bool:
        free = self.bounds.total - self._owners.total()
        if not free or self._owners[owner_id] >= self.bounds.per_owner:
            return False
        # A lane of one place has no last one to keep.
        return free > 1 or self.bounds.total == 1 or not (is_long or self._leaves_last(owner_id))

    def _leaves_last(self, owner_id: object) -> bool:
        """Whether the last place is for others: for the quarter of owners who took least lately."""
        if self._owners[owner_id]:
            return True
        own = self._spent.get(owner_id, 0)
        if own <= CLEARLY_LESS_SEC:  # nobody took clearly less
            return False
        lighter = sum(spent + CLEARLY_LESS_SEC < own for spent in self._spent.values())
        return lighter >= max(1, len(self._spent) // 4)

    def _share_of(self, owner_id: object) -> tuple[int, float]:
        return self._owners[owner_id], self._spent[owner_id]

    def _note(self, token: Caller, held_sec: float) -> None:
        """Count what an owner used, half as much with each while that passes."""
        if (now := monotonic()) - self._halved > FORGET_HALF_SEC:
            halves = {owner: spent / 2 for owner, spent in self._spent.items() if spent > 0.01}
            self._spent, self._halved = defaultdict(float, halves), now
        self._spent[token.owner_id] += held_sec

    def _count(self, token: Caller, change: int) -> None:
        for counter, key in ((self._owners, token.owner_id), (self._tokens, _caller_key(token))):
            counter[key] += change
            if not counter[key]:
                del counter[key]

    def _busy(self, token: Caller) -> Busy:
        if self._owners[token.owner_id] >= (most := self.bounds.per_owner):
            whose = "owner"
        elif self._tokens[_caller_key(token)] >= (most := self.bounds.per_token):
            whose = "token"
        else:
            return Busy(f"There are as many calls as this server takes {_AND_THEN}")
        calls = "is 1 call" if most == 1 else f"are {most} calls"
        return Busy(f"There {calls} of this {whose} {_AND_THEN}")


_AND_THEN = "in progress already; wait for one of them, then try again."


def _caller_key(token: Caller) -> tuple[object, object]:
    """What a caller is counted by; two owners' files, say, have one `pk`."""
    return token.owner_id, token.pk
