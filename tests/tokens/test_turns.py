"""Few calls compute at once, and what only waits lets others compute."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from knowledge.asks import Ask
from knowledge.monitoring.turns import while_waiting
from tests.support.waiting import DEADLINE, eventually
from tokens.call_slots import CallSlots
from tokens.lanes import Bounds

pytestmark = pytest.mark.anyio

BOUNDS = Bounds(total=4, per_owner=3, per_token=3, wait_sec=DEADLINE)
MOST = 4


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def slots(settings: Any) -> CallSlots:
    settings.TURNS = MOST
    return CallSlots(BOUNDS)


def token(owner_id: int) -> Any:
    return SimpleNamespace(owner_id=owner_id, pk=uuid4())


class Waiter:
    """A call that waits for something outside until it is there."""

    def __init__(self, slots: CallSlots, owner_id: int) -> None:
        self.is_there = threading.Event()
        self.is_waiting = False
        self.has_ended = False
        self.task = asyncio.ensure_future(self._call(slots, owner_id))

    async def _call(self, slots: CallSlots, owner_id: int) -> None:
        async with slots.hold(token(owner_id), Ask.ADD):
            await asyncio.to_thread(self._work)

    def _work(self) -> None:
        with while_waiting(), while_waiting():  # as for a reader within something that waits
            self.is_waiting = True
            assert self.is_there.wait(DEADLINE)
        self.has_ended = True


async def test_who_goes_on_after_its_call_has_ended_waits_for_nothing(slots: CallSlots) -> None:
    places = await slots.take(token(1), Ask.ADD)
    places.release()
    places.turn.resume()  # on the loop's own thread, which could give it no turn


def computing(slots: CallSlots) -> int:
    return slots.turns._owners.total()


async def until(condition: Any) -> None:
    await asyncio.to_thread(eventually, condition)


async def test_who_waits_lets_another_compute_and_goes_on_in_turn(slots: CallSlots) -> None:
    waiter = Waiter(slots, 1)
    await until(lambda: waiter.is_waiting)
    await asyncio.sleep(0)
    assert (computing(slots), slots.writes._owners.total()) == (0, 1)
    others = [await slots.take(token(owner_id), Ask.SEARCH) for owner_id in range(2, 2 + MOST)]
    waiter.is_there.set()
    await until(lambda: slots.turns._waiting)
    assert not waiter.has_ended
    others[0].release()
    await waiter.task
    for each in others:
        each.release()
    assert computing(slots) == 0


async def test_who_holds_rows_keeps_its_turn_for_those_who_want_them_may_have_the_others(
    slots: CallSlots,
) -> None:
    loop = asyncio.get_running_loop()

    def work() -> int:
        connection.in_atomic_block = True
        try:
            with while_waiting():
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(DEADLINE)
                return computing(slots)
        finally:
            connection.in_atomic_block = False

    async with slots.hold(token(1), Ask.ADD):
        assert await asyncio.to_thread(work) == 1


@pytest.mark.parametrize("leaves_before", [True, False], ids=["before", "while its turn comes"])
async def test_whose_caller_left_meanwhile_keeps_no_turn(
    slots: CallSlots, leaves_before: bool
) -> None:
    waiter = Waiter(slots, 1)
    await until(lambda: waiter.is_waiting)
    others = [await slots.take(token(owner_id), Ask.SEARCH) for owner_id in range(2, 2 + MOST)]
    if leaves_before:
        waiter.task.cancel()
        await asyncio.sleep(0)
    waiter.is_there.set()
    if not leaves_before:
        await until(lambda: slots.turns._waiting)
        waiter.task.cancel()
        await asyncio.sleep(0)
    for each in others:
        each.release()
    await until(lambda: waiter.has_ended)
    assert computing(slots) == 0


async def test_an_owner_who_took_more_than_most_leaves_the_last_turn(slots: CallSlots) -> None:
    slots.turns._spent.update({1: 9.0, 2: 9.0, 3: 9.0, 4: 9.0, 5: 0.1})
    held = [await slots.take(token(owner_id), Ask.SEARCH) for owner_id in (1, 2, 3)]
    heavy = asyncio.ensure_future(slots.take(token(4), Ask.ADD))
    await asyncio.sleep(0)
    light = await slots.take(token(5), Ask.ADD)
    assert not heavy.done()
    light.release()
    held[0].release()
    (await heavy).release()
