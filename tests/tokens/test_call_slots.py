"""How many calls run at once: turns between owners, and a clear word past them."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from knowledge.asks import Ask
from knowledge.errors import Busy
from tokens.call_slots import LONG_CALL, CallSlots
from tokens.lanes import WAITING_PER_RUNNING, Bounds, Lane, Slot, Visitor

BOUNDS = Bounds(total=4, per_owner=3, per_token=2, wait_sec=0.05)


def token(owner_id: int) -> Any:
    return SimpleNamespace(owner_id=owner_id, pk=uuid4())


def in_loop(test: Callable[[Lane], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(test(Lane(BOUNDS)))  # type: ignore[arg-type]

    run.__name__ = test.__name__
    return run


@in_loop
async def test_past_its_bound_a_token_then_an_owner_then_everybody_is_busy(lane: Lane) -> None:
    ours = token(1)
    for _ in range(2):
        await lane.take(ours)
    with pytest.raises(Busy, match="2 calls of this token"):
        await lane.take(ours)
    await lane.take(token(1))
    with pytest.raises(Busy, match="3 calls of this owner") as told:
        await lane.take(token(1))
    assert told.value.details == {"retry_after_sec": 1}
    await lane.take(token(2))
    with pytest.raises(Busy, match="as many calls as this server takes"):
        await lane.take(token(3))


@in_loop
async def test_visitors_of_one_kind_count_for_their_own_owner_alone(lane: Lane) -> None:
    for owner_id in (1, 2):
        for _ in range(BOUNDS.per_token - owner_id + 1):
            await lane.take(Visitor(owner_id, "files"))
    with pytest.raises(Busy, match="2 calls of this token"):
        await lane.take(Visitor(1, "files"))
    await lane.take(Visitor(3, "files"))


@in_loop
async def test_who_has_the_fewest_running_is_next(lane: Lane) -> None:
    held = [await lane.take(token(1)) for _ in range(3)]
    held.append(await lane.take(token(2)))
    order: list[int] = []

    async def wait_for(owner_id: int) -> Slot:
        slot = await lane.take(token(owner_id))
        order.append(owner_id)
        return slot

    waiting = [asyncio.ensure_future(wait_for(owner_id)) for owner_id in (1, 1, 2, 3)]
    await asyncio.sleep(0)
    held[0].release()
    held[0].release()  # once counts
    await asyncio.sleep(0.01)
    assert order == [3]
    held[1].release()
    await asyncio.sleep(0.01)
    assert order == [3]  # the last place is for an owner who has none
    held[2].release()
    await asyncio.sleep(0.01)
    assert order == [3, 1]
    for each in waiting:
        each.cancel()


@in_loop
async def test_of_those_who_have_none_running_is_next_who_used_the_least(lane: Lane) -> None:
    for owner_id, held_sec in ((5, 9.0), (6, 3.0), (5, 0.1)):
        await lane.take(ours := token(owner_id))
        lane.give_back(ours, held_sec=held_sec)
    held = [await lane.take(token(owner_id)) for owner_id in (1, 2, 3, 4)]
    order: list[int] = []

    async def wait_for(owner_id: int) -> None:
        await lane.take(token(owner_id))
        order.append(owner_id)

    waiting = [asyncio.ensure_future(wait_for(owner_id)) for owner_id in (5, 6, 7)]
    await asyncio.sleep(0)
    for each in held:  # the last place is for neither 5 nor 6
        each.release()
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert order == [7, 6, 5]


@in_loop
async def test_a_place_is_given_back_whoever_gives_up(lane: Lane) -> None:
    ours = token(1)
    held = [await lane.take(ours) for _ in range(2)]
    leaving = asyncio.ensure_future(lane.take(ours))
    await asyncio.sleep(0)
    leaving.cancel()
    held[0].release()
    await asyncio.gather(leaving, return_exceptions=True)
    again = await lane.take(ours)
    held[1].release()
    again.release()
    async with lane.hold(ours):
        assert lane._owners.total() == 1
    assert lane._owners.total() == 0


@in_loop
async def test_only_so_many_of_one_owner_wait(lane: Lane) -> None:
    for _ in range(3):
        await lane.take(token(1))
    most = BOUNDS.per_owner * WAITING_PER_RUNNING
    waiting = [asyncio.ensure_future(lane.take(token(1))) for _ in range(most)]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await asyncio.wait_for(lane.take(token(1)), BOUNDS.wait_sec / 10)
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(each) for each in answers] == [Busy] * most


@in_loop
async def test_the_last_place_is_for_an_owner_who_has_none(lane: Lane) -> None:
    for owner_id in (1, 1, 2):
        await lane.take(token(owner_id))
    for owner_id in (1, 2):
        with pytest.raises(Busy):
            await lane.take(token(owner_id))
    await lane.take(token(3))


def test_a_lane_of_one_place_takes_whoever_comes() -> None:
    async def come_after_much() -> None:
        lane = Lane(Bounds(total=1, per_owner=1, per_token=1, wait_sec=0.05))
        for owner_id, held_sec in ((1, 100.0), (2, 0.0)):
            lane._note(token(owner_id), held_sec)
        (await lane.take(token(1))).release()

    asyncio.run(come_after_much())


def test_long_calls_leave_places_to_short_ones() -> None:
    async def run() -> None:
        slots = CallSlots(BOUNDS)
        first, second = [
            await slots.take(token(owner_id), Ask.ADD, length=LONG_CALL + 1) for owner_id in (1, 2)
        ]
        waiting = asyncio.ensure_future(slots.take(token(5), Ask.ADD, length=LONG_CALL + 1))
        await asyncio.sleep(0)
        short, _ = [
            await slots.take(token(owner_id), Ask.ADD, length=LONG_CALL) for owner_id in (3, 4)
        ]
        first.release()
        await asyncio.sleep(0)
        assert not waiting.done()  # the last place is for none that is long
        short.release()
        await waiting
        second.release()
        assert slots.long._owners.total() == 1

    asyncio.run(run())


def test_what_reads_never_waits_for_what_writes() -> None:
    slots = CallSlots(BOUNDS)
    assert slots.lane_of(Ask.SEARCH) is slots.lane_of(None) is slots.reads
    assert slots.lane_of(Ask.ADD) is slots.lane_of(Ask.IMPORT) is slots.writes


def test_authentication_and_health_always_have_connections(settings: Any) -> None:
    holding = [count for kind, count in settings.THREADS.items() if kind != "streams"]
    assert sum(holding) == settings.QUARRY_DB_POOL
    assert settings.THREADS["calls"] == 2 * settings.CALLS_AT_ONCE
    assert settings.QUARRY_CALLS_PER_TOKEN <= settings.QUARRY_CALLS_PER_OWNER
    assert settings.QUARRY_CALLS_PER_OWNER < settings.CALLS_AT_ONCE
