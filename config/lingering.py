"""An answer given before the request's body was read must still reach whoever is sending it.

A server that closes its socket while bytes lie unread in it sends a reset, upon which the client
drops the answer that it has not read yet. RFC 9112, 9.6: answer, go on reading, then close.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MAX_BYTES = 100 * 1024 * 1024
SECONDS = 15
"""Whoever sends more, or takes longer, may see a reset in place of the answer."""


class Lingering:
    """Reads and drops the rest of a body after an early answer, within bounds, then closes."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        await self.app(scope, exchange.receive, exchange.send)


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_read = False
        # It waits for our word before it sends anything, and an early answer is that word.
        self._is_unsent = b"expect" in dict(scope["headers"])

    async def receive(self) -> Message:
        self._is_unsent = False
        message = await self._receive()
        self._is_read = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if self._is_read:
            await self._send(message)
        elif message["type"] == "http.response.start":
            headers = [*message.get("headers", []), (b"connection", b"close")]
            await self._send({**message, "headers": headers})
        elif message.get("more_body", False):
            await self._send(message)
        else:
            await self._send({**message, "more_body": True})
            await self._drain()
            await self._send({"type": "http.response.body", "body": b""})

    async def _drain(self) -> None:
        dropped = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                while not (self._is_read or self._is_unsent) and dropped < MAX_BYTES:
                    dropped += len((await self.receive()).get("body", b""))


def _has_body(scope: Message) -> bool:
    headers = dict(scope["headers"])
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
