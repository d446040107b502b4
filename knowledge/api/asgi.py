"""What the ASGI apps before and beside Django share: reading bodies, and answering in JSON."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from uuid import uuid4

from knowledge.budgets import LONG_BODY

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MAX_BODY = LONG_BODY.most
SILENCE_SEC = 60
"""How long a sender of a file or an archive may send nothing."""

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class TooLarge(Exception):
    """The body has more bytes than it may."""


class FellSilent(Exception):
    """Nothing came for too long."""


class ClientLeft(Exception):
    """The client has disconnected, so no answer is sent."""


async def read_pieces(
    receive: Receive, *, max_bytes: int | None = None, silence_sec: float | None = None
) -> AsyncIterator[bytes]:
    """A request's body as it arrives, up to so many bytes; each piece within its time."""
    size, more = 0, True
    while more:
        try:
            async with asyncio.timeout(silence_sec):
                message = await receive()
        except TimeoutError:
            raise FellSilent from None
        if message["type"] != "http.request":
            raise ClientLeft
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if max_bytes is not None and size > max_bytes:
            raise TooLarge
        more = message.get("more_body", False)
        yield piece


async def read_whole(scope: Message, receive: Receive, *, max_bytes: int) -> bytes:
    """The whole body; one that is declared to be too large is not read at all."""
    declared = headers_of(scope).get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise TooLarge
    return b"".join([piece async for piece in read_pieces(receive, max_bytes=max_bytes)])


def replay(body: bytes, receive: Receive) -> Receive:
    """Hand on what was read, then whatever comes after it, such as the client leaving."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_replay


async def send_json(
    send: Send, status: int, body: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """Answer with a JSON object."""
    data = json.dumps(body).encode()
    told = {"content-type": "application/json", "content-length": str(len(data)), **headers}
    raw = [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": data})


def headers_of(scope: Message) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def request_id_for(given: str) -> str:
    """The caller's own id for a request, if it is well-formed; else a new one."""
    return given if _GIVEN_ID.fullmatch(given) else uuid4().hex
