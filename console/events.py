"""`GET /events`: tells a person's open pages, as server-sent events, that something has changed.

A bare ASGI app, so that a stream holds neither a thread nor a database connection. An event names a
topic and nothing else; the page then asks for its part anew, as the person who is signed in.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any

from console.sessions import person_of
from knowledge.api.asgi import Message, Receive, Send, watch_client
from knowledge.api.threads import LOOKUPS, threads_for
from knowledge.jobs.notice_streams import Subscription, hub

PATH = "/events"
KEEP_ALIVE_SEC = 15.0
GATHER_SEC = 0.4
"""What happens within this time is told at once."""
MOST_STREAMS = 20
"""For each person; pages beyond that ask again by themselves."""

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]


def is_events(scope: Message) -> bool:
    """Whether this request is for the stream."""
    return bool(scope["type"] == "http" and scope["path"] == PATH)


async def send_events(scope: Message, receive: Receive, send: Send) -> None:
    """Stream until the person leaves or signs out, or the server stops."""
    person_id = await _person(scope)
    if scope["method"] != "GET" or person_id is None:
        await _answer(send, 405 if person_id else 401)
    elif hub.count(person_id) >= MOST_STREAMS:
        await _answer(send, 204)  # which tells a browser not to come again
    else:
        with hub.subscribe(person_id) as subscription:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await _stream(scope, receive, send, subscription)


async def _stream(scope: Message, receive: Receive, send: Send, subscription: Subscription) -> None:
    await _write(send, "retry: 3000\n\n")
    async with watch_client(receive) as left:
        while not left.done() and not subscription.is_over:
            await _first(left, subscription.awake.wait(), seconds=KEEP_ALIVE_SEC)
            if subscription.awake.is_set() and not subscription.is_over:
                await _first(left, asyncio.sleep(GATHER_SEC), seconds=KEEP_ALIVE_SEC)
            if left.done() or await _person(scope) != subscription.owner_id:
                break
            topics = subscription.take()
            events = "".join(f"event: {topic}\ndata: changed\n\n" for topic in topics)
            await _write(send, events or ": still here\n\n")
        await send({"type": "http.response.body", "body": b""})


async def _person(scope: Message) -> int | None:
    """Who is signed in now: a session may have ended since the stream began."""
    return await threads_for(LOOKUPS).run(person_of, scope)


async def _first(left: "asyncio.Future[None]", other: Awaitable[object], *, seconds: float) -> None:
    """Wait for the client to leave, for something else, or for so long."""
    task = asyncio.ensure_future(other)
    either: set[asyncio.Future[Any]] = {left, task}
    try:
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()


async def _write(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


async def _answer(send: Send, status: int) -> None:
    headers = [(b"content-length", b"0"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
