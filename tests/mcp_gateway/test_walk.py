"""The way of a call from the server's entry to the domain: how many modules, and look-ups."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import httpx2
import pytest

from config import asgi
from knowledge.api.threads import threads_for
from knowledge.ingest import adding
from tests.support.library import LONG_ENOUGH, Mint
from tokens import authentication

pytestmark = pytest.mark.django_db(transaction=True)

OURS = ("config", "knowledge", "tokens", "mcp_gateway")
MOST_MODULES = 5
DOMAIN: CodeType = adding.add_to_knowledge.__code__
LOOK_UP: CodeType = authentication.authenticate.__code__


class Walk:
    """Notes, as a profiler, which modules are under way when the domain is reached."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.look_ups = 0
        self.loop: asyncio.AbstractEventLoop | None = None

    def note(self, frame: FrameType, event: str, arg: object) -> None:
        if event != "call":
            return
        self.look_ups += frame.f_code is LOOK_UP
        if frame.f_code is DOMAIN and self.loop:
            tasks = [list(awaited(task)) for task in asyncio.all_tasks(self.loop)]
            on_the_way = [each for frames in tasks if not is_listening(frames) for each in frames]
            names = {each.f_globals["__name__"] for each in [*callers(frame), *on_the_way]}
            self.modules = {name for name in names if name.split(".")[0] in OURS}


def callers(frame: FrameType) -> Iterator[FrameType]:
    above = frame.f_back
    while above is not None:
        yield above
        above = above.f_back


def awaited(task: asyncio.Task[Any]) -> Iterator[FrameType]:
    """The frames of the coroutines that a task waits in, one within the other."""
    inner: Any = task.get_coro()
    while inner is not None:
        for kind in ("cr", "ag", "gi"):
            if frame := getattr(inner, f"{kind}_frame", None):
                yield frame
        inner = getattr(inner, "cr_await", None) or getattr(inner, "ag_await", None)


def is_listening(frames: list[FrameType]) -> bool:
    """Whether a task only waits for the client to leave."""
    names = {frame.f_code.co_name for frame in frames}
    return not names.isdisjoint({"receive_replay", "_wait_until_left"})


async def add_a_note(secret: str, walk: Walk) -> httpx2.Response:
    note = {"kind": "text", "title": "Granite", "text": "Granite is hard." + LONG_ENOUGH}
    call = {"name": "add_to_knowledge", "arguments": note}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {
        "Authorization": f"Bearer {secret}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    transport = httpx2.ASGITransport(app=asgi.application)
    async with (
        asgi.mcp_app.lifespan(),
        httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        walk.loop = asyncio.get_running_loop()
        return await client.post("/mcp", json=message, headers=headers)


def test_a_call_reaches_the_domain_by_few_modules_and_one_look_up(mint: Mint) -> None:
    walk, secret = Walk(), mint().secret
    threads_for.cache_clear()  # threads that run already are not watched
    threading.setprofile(walk.note)
    sys.setprofile(walk.note)
    try:
        answer = asyncio.run(add_a_note(secret, walk))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert '"status":"ready"' in answer.text.replace(" ", "")
    print(f"{len(walk.modules)} modules: {sorted(walk.modules)}")  # noqa: T201
    assert "mcp_gateway.tools.library" in walk.modules
    assert len(walk.modules) <= MOST_MODULES
    assert walk.look_ups == 1
