"""How many calls run at once: turns between owners, and a clear word past them."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from knowledge.asks import Ask
from knowledge.errors import Busy
from tokens.call_slots import WAITING_PER_RUNNING, Bounds, CallSlots, Lane, Slot

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
    assert order == [3, 1]
    for each in waiting:
        each.cancel()


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


def test_what_reads_never_waits_for_what_writes() -> None:
    slots = CallSlots(BOUNDS)
    assert slots.lane_of(Ask.SEARCH) is slots.lane_of(None) is slots.reads
    assert slots.lane_of(Ask.ADD) is slots.lane_of(Ask.IMPORT) is slots.writes


def test_authentication_and_health_always_have_connections(settings: Any) -> None:
    assert 2 * settings.CALLS_AT_ONCE + 4 <= settings.QUARRY_DB_POOL
    assert settings.QUARRY_CALLS_PER_TOKEN <= settings.QUARRY_CALLS_PER_OWNER
    assert settings.QUARRY_CALLS_PER_OWNER < settings.CALLS_AT_ONCE
