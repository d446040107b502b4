"""The gate in front of REST, before anybody is known."""

import asyncio
from typing import Any

import pytest

from tokens import rest_gate
from tokens.call_slots import CallSlots


def test_long_paths_of_strangers_are_not_kept() -> None:
    known = rest_gate._find_known_route
    known.cache_clear()
    for path in ("/api/v1/search", "/api/v1/items/" + "a" * 60_000):
        assert rest_gate.takes_token({"type": "http", "path": path})
    assert known.cache_info().currsize == 1


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ([], "people"),
        ([(b"cookie", b"sessionid=of-a-person")], "people"),
        ([(b"authorization", b"Bearer wrong")], "refusals"),
        ([(b"authorization", b"Bearer wrong"), (b"cookie", b"sessionid=of-a-person")], "refusals"),
        ([(b"authorization", b"Basic wrong")], "refusals"),
    ],
)
def test_only_what_comes_without_a_token_passes_the_middlewares_of_people(
    headers: list[tuple[bytes, bytes]], name: str
) -> None:
    asked = []

    def app(named: str) -> Any:
        async def note(scope: Any, receive: Any, send: Any) -> None:
            asked.append(named)

        return note

    async def call() -> None:
        gate = rest_gate.RestGate(
            app("calls"), CallSlots(), refusals=app("refusals"), people=app("people")
        )
        scope = {"type": "http", "method": "GET", "path": "/api/v1/activity", "headers": headers}
        await gate(scope, app("receive"), app("send"))

    asyncio.run(call())
    assert asked == [name]
