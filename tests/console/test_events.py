"""The event stream: one's own topics and nothing else, and no longer than the session."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client

from console import events
from console.events import send_events
from knowledge.jobs.notice_streams import hub
from knowledge.jobs.notices import Topic, tell_owner

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "GATHER_SEC", 0.05)
    monkeypatch.setattr(events, "KEEP_ALIVE_SEC", 0.2)


class Stream:
    """One client of the stream, and all that it was sent."""

    def __init__(self) -> None:
        self.status = 0
        self.text = ""
        self.left = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.text += message.get("body", b"").decode()

    async def until(self, words: str) -> None:
        async with asyncio.timeout(10):
            while words not in self.text:
                await asyncio.sleep(0.02)


def scope_of(client: Client | None, method: str = "GET") -> dict[str, Any]:
    cookie = client.cookies["sessionid"].value if client else ""
    headers = [(b"cookie", f"sessionid={cookie}".encode())]
    return {"type": "http", "path": "/events", "method": method, "headers": headers}


@asynccontextmanager
async def streaming(client: Client) -> AsyncIterator[tuple[Stream, "asyncio.Task[None]"]]:
    stream, is_first = Stream(), not hub._subscriptions
    task = asyncio.create_task(send_events(scope_of(client), stream.receive, stream.send))
    # The first is told of all topics when the LISTEN holds; the others find it there.
    await stream.until("event: sources" if is_first else "retry")
    stream.text = ""
    try:
        yield stream, task
    finally:
        stream.left.set()
        await asyncio.wait_for(task, 10)


def run(walk: Callable[[], Awaitable[None]]) -> None:
    async def walk_and_close() -> None:
        try:
            await walk()
        finally:
            await sync_to_async(connections.close_all)()

    asyncio.run(walk_and_close())


def test_a_person_hears_of_their_own_and_of_nothing_else(
    owner: User, stranger: User, visitor: Client, other_visitor: Client
) -> None:
    async def walk() -> None:
        async with streaming(visitor) as (mine, _), streaming(other_visitor) as (theirs, _):
            mine.text = theirs.text = ""
            await sync_to_async(tell_owner)(owner.pk, Topic.ARRIVALS)
            await mine.until("event: arrivals\ndata: changed\n\n")
            await theirs.until(": still here")
            assert "event" not in theirs.text
            assert hub.count(owner.pk) == hub.count(stranger.pk) == 1
        assert hub.count(owner.pk) == hub.count(stranger.pk) == 0

    run(walk)


def test_the_stream_ends_when_the_session_does(visitor: Client) -> None:
    async def walk() -> None:
        async with streaming(visitor) as (_, task):
            await sync_to_async(visitor.logout)()
            await asyncio.wait_for(task, 10)

    run(walk)


def test_the_stream_ends_when_the_server_stops(visitor: Client) -> None:
    async def walk() -> None:
        async with streaming(visitor) as (_, task):
            hub.close()
            await asyncio.wait_for(task, 10)

    run(walk)


def test_an_idle_stream_holds_no_connection_but_the_one_that_listens(visitor: Client) -> None:
    async def walk() -> None:
        async with streaming(visitor), streaming(visitor), streaming(visitor):
            async with asyncio.timeout(10):  # that of an earlier test may yet have to leave
                while (await sync_to_async(sessions)()).count("quarry notices") != 1:
                    await asyncio.sleep(0.1)

    run(walk)


def sessions() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT application_name FROM pg_stat_activity WHERE datname = current_database()"
        )
        return [name for (name,) in cursor.fetchall()]


@pytest.mark.parametrize(
    ("signed_in", "method", "status"), [(False, "GET", 401), (True, "POST", 405)]
)
def test_others_are_refused(visitor: Client, signed_in: bool, method: str, status: int) -> None:
    stream = Stream()

    async def walk() -> None:
        scope = scope_of(visitor if signed_in else None, method)
        await send_events(scope, stream.receive, stream.send)

    run(walk)
    assert (stream.status, stream.text) == (status, "")


def test_a_person_has_only_so_many_streams(
    visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_STREAMS", 1)
    refused = Stream()

    async def walk() -> None:
        async with streaming(visitor):
            await send_events(scope_of(visitor), refused.receive, refused.send)

    run(walk)
    assert refused.status == 204
