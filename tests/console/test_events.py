"""The event stream: one's own topics and nothing else, and no longer than the session."""

import asyncio
from collections.abc import AsyncIterator
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


def test_a_person_hears_of_their_own_for_as_long_as_they_are_signed_in(
    owner: User,
    stranger: User,
    visitor: Client,
    other_visitor: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In one walk, because every test that commits takes seconds to clean up after."""

    async def walk() -> None:
        await others_are_refused(visitor)
        async with streaming(visitor) as (mine, ended), streaming(other_visitor) as (theirs, _):
            await only_the_owner_is_told(owner, mine, theirs)
            assert hub.count(owner.pk) == hub.count(stranger.pk) == 1
            await one_connection_listens()
            monkeypatch.setattr(events, "MOST_STREAMS", 1)
            await one_stream_too_many(visitor)
            await sync_to_async(visitor.logout)()
            await asyncio.wait_for(ended, 10)
        assert hub.count(owner.pk) == hub.count(stranger.pk) == 0
        async with streaming(other_visitor) as (_, ended):
            hub.close()  # the server stops
            await asyncio.wait_for(ended, 10)

    async def walk_and_close() -> None:
        try:
            await walk()
        finally:
            await sync_to_async(connections.close_all)()

    asyncio.run(walk_and_close())


async def others_are_refused(visitor: Client) -> None:
    for client, method, status in ((None, "GET", 401), (visitor, "POST", 405)):
        stream = Stream()
        await send_events(scope_of(client, method), stream.receive, stream.send)
        assert (stream.status, stream.text) == (status, "")


async def only_the_owner_is_told(owner: User, mine: Stream, theirs: Stream) -> None:
    mine.text = theirs.text = ""
    await sync_to_async(tell_owner)(owner.pk, Topic.ARRIVALS)
    await mine.until("event: arrivals\ndata: changed\n\n")
    await theirs.until(": still here")
    assert "event" not in theirs.text


async def one_connection_listens() -> None:
    names = await sync_to_async(session_names)()
    assert names.count("quarry notices") == 1


async def one_stream_too_many(visitor: Client) -> None:
    stream = Stream()
    await send_events(scope_of(visitor), stream.receive, stream.send)
    assert stream.status == 204


def session_names() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT application_name FROM pg_stat_activity WHERE datname = current_database()"
        )
        return [name for (name,) in cursor.fetchall()]
