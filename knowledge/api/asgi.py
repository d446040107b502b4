"""What the ASGI apps before and beside Django share: reading bodies, and answering in JSON."""

import asyncio
import ipaddress
import json
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, Any
from uuid import uuid4

from knowledge.budgets import LONG_BODY
from knowledge.errors import InvalidInput

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
HoldPlace = Callable[[int], AbstractAsyncContextManager[None]]
"""A place among the files that this owner sends, for as long as it lasts; or Busy."""

MAX_BODY = LONG_BODY.most
BODY = "quarry.body"
"""Where in its scope a request has its body once that has arrived."""
MATCH = "quarry.match"
"""Where in its scope a request has its route, if that has been looked for; None is no route."""
PERSON = "quarry.person"
"""Where in its scope a request has the id of the person whose session it is, once that is known."""
SMALL_BODY = 64 * 1024
"""What is kept in memory of a body, and all that is taken of a caller who is not known."""
BODY_SEC = 300
"""How long a body may take in all: 8 MB at 28 kB a second."""
SILENCE_SEC = 60
"""How long a sender of a file or an archive may send nothing."""

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class TooLarge(Exception):
    """The body has more bytes than it may."""


class FellSilent(InvalidInput):
    """Nothing came for too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"Nothing came for {seconds:g} seconds, and nothing was kept; send it again.",
            field="body",
        )


class TooSlow(Exception):
    """The body took too long in all."""


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
            raise FellSilent(silence_sec or 0) from None
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


def declared_length(scope: Message) -> int | None:
    """How long the body is to be; None where nothing is said, as with chunks."""
    lengths = []
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            lengths.append(value)
    return int(lengths[0]) if len(lengths) == 1 and lengths[0].isdigit() else 0


def has_body(scope: Message) -> bool:
    return declared_length(scope) != 0


@dataclass(slots=True)
class SpooledBody:
    """A body that has arrived: in memory if it is small, else in a file that goes with it."""

    size: int = 0
    file: "IO[bytes]" = field(
        default_factory=lambda: tempfile.SpooledTemporaryFile(max_size=SMALL_BODY)  # noqa: SIM115
    )

    @classmethod
    async def read(
        cls,
        scope: Message,
        receive: Receive,
        *,
        max_bytes: int | None,
        seconds: int | None = BODY_SEC,
    ) -> "SpooledBody":
        """The whole body; one that is declared to be too large is not read at all."""
        if max_bytes is not None and (declared_length(scope) or 0) > max_bytes:
            raise TooLarge
        body = cls()
        try:
            async with asyncio.timeout(seconds):
                async for piece in read_pieces(receive, max_bytes=max_bytes):
                    body.file.write(piece)
                    body.size += len(piece)
        except TimeoutError:
            body.close()
            raise TooSlow(f"The body took longer than {seconds} seconds; send less.") from None
        except BaseException:
            body.close()
            raise
        body.file.seek(0)
        return body

    def attach_to(self, scope: Message) -> None:
        """Leave the body with its request, and say its length: one without is taken for empty."""
        replaced = (b"transfer-encoding", b"content-length")
        kept = [(name, value) for name, value in scope["headers"] if name not in replaced]
        # In place: what Django notes in the scope is read by the apps before it.
        scope["headers"] = [*kept, (b"content-length", str(self.size).encode())]
        scope[BODY] = self

    def content(self) -> bytes:
        """All of it."""
        return self.file.read()

    def close(self) -> None:
        self.file.close()


@asynccontextmanager
async def watch_client(receive: Receive) -> AsyncIterator["asyncio.Task[None]"]:
    """A task that ends when the client leaves; for a request whose body has been read."""
    watch = asyncio.ensure_future(_wait_until_left(receive))
    try:
        yield watch
    finally:
        watch.cancel()


async def _wait_until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
    """The headers by name; of a name that comes twice the values joined, as Django joins them."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        separator = "; " if name == "cookie" else ","
        found[name] = f"{found[name]}{separator}{value}" if name in found else value
    return found


def request_id_for(given: str) -> str:
    """The caller's own id for a request, if it is well-formed; else a new one."""
    return given if _GIVEN_ID.fullmatch(given) else uuid4().hex


@lru_cache(maxsize=10_000)
def address_key(address: str) -> str:
    """One address of IPv4, or the network of 64 bits that one host of IPv6 may choose from."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
