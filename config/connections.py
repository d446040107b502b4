"""Connections: slow and silent clients are ended, and one address opens so many.

uvicorn ends idle kept connections and nothing else: without this, a client that stops in the middle
of a header, a body or an answer holds its connection, and what is read of it, for ever.
"""

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, cast

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from knowledge.api.asgi import address_key

MAX_HEADER_BYTES = 64 * 1024
JOINED_BYTES = 16 * 1024
"""Of an answer, up to so much is joined before it is sent."""
LEAST_PROGRESS = 512
"""Bytes: less than that within the time of a body or an answer counts as nothing."""

_STATUS_LINES = {
    408: "408 Request Timeout",
    429: "429 Too Many Requests",
    431: "431 Request Header Fields Too Large",
    503: "503 Service Unavailable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How long a client may take, and how many connections there may be."""

    header_sec: float
    """From the first byte of a request, or from the connection on, until its header is whole."""
    body_sec: float
    """Without progress in a body that the server is ready to read."""
    answer_sec: float
    """Without progress in an answer that the client should read."""
    per_address: int
    total: int
    trusted_proxies: Sequence[str] = ()
    """Peers that speak for others, whose connections are not one address's."""
    connections: Counter[str] = field(default_factory=Counter)

    @classmethod
    def from_settings(cls) -> "ConnectionLimits":
        return cls(
            header_sec=settings.QUARRY_HEADER_SEC,
            body_sec=settings.QUARRY_BODY_SEC,
            answer_sec=settings.QUARRY_ANSWER_SEC,
            per_address=settings.QUARRY_CONNECTIONS_PER_ADDRESS,
            total=settings.QUARRY_CONNECTIONS,
            trusted_proxies=tuple(settings.QUARRY_TRUSTED_PROXIES),
        )

    @property
    def tick_sec(self) -> float:
        """How often a connection is looked at."""
        return min(1.0, self.header_sec / 4, self.body_sec / 4, self.answer_sec / 4)


@cache
def default_limits() -> ConnectionLimits:
    """Those of the settings, one object for all connections of this process."""
    return ConnectionLimits.from_settings()


class JoinedWrites:
    """A transport that sends together what is written in one turn of the event loop.

    uvicorn writes the head of an answer and its body one by one, and to hand a piece to the kernel
    takes as long as to make many a small answer.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Send the piece soon; what has become long is sent at once, so that it cannot pile up."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > JOINED_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def get_write_buffer_size(self) -> int:
        return self._size + self._transport.get_write_buffer_size()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._pieces and not self._transport.is_closing():
            self._transport.write(b"".join(self._pieces))
        self._pieces.clear()
        self._size = 0


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with an end for clients that make no progress."""

    limits: ConnectionLimits | None = None
    """Those of the settings unless a subclass has its own."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = cast(asyncio.Transport, JoinedWrites(transport, self.loop))
        self._limits = self.limits or default_limits()
        now = self.loop.time()
        self._header_since: float | None = now
        self._header_bytes = 0
        self._received = self._received_before = 0
        self._body_since = now
        self._unsent = 0
        self._unsent_since = now
        self._address = self._find_address()
        self._timer = self.loop.call_later(self._limits.tick_sec, self._look)
        self._limits.connections[self._address] += 1
        if self._address and self._limits.connections[self._address] > self._limits.per_address:
            self._end(429)
        elif len(self.connections) > self._limits.total:
            self._end(503)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._limits.connections[self._address] -= 1
        if not self._limits.connections[self._address]:
            del self._limits.connections[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        before = self.cycle
        is_header = before is None or before.response_complete or not before.more_body
        self._received += len(data)
        super().data_received(data)
        if self.cycle is not before:
            self._header_since, self._header_bytes = None, 0
        elif is_header:
            self._header_since = self._header_since or self.loop.time()
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES:
                self._end(431)

    def resume_writing(self) -> None:
        # Enough was read: by the next look, the app may have filled the buffer again.
        self._unsent, self._unsent_since = 0, self.loop.time()
        super().resume_writing()

    def _find_address(self) -> str:
        peer = self.client[0] if self.client else ""
        is_trusted = is_in_networks(peer, tuple(self._limits.trusted_proxies))
        return "" if is_trusted else address_key(peer)

    def _look(self) -> None:
        """End the connection if its client has had its time."""
        now = self.loop.time()
        is_late = self._is_header_late(now) or self._is_body_late(now)
        if is_late and not self.transport.is_closing():
            self._end(408)
        if self._is_answer_late(now):
            self.transport.abort()
            return
        self._timer = self.loop.call_later(self._limits.tick_sec, self._look)

    def _is_header_late(self, now: float) -> bool:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self._header_since is None or is_answering:
            return False
        return now - self._header_since > self._limits.header_sec

    def _is_body_late(self, now: float) -> bool:
        cycle = self.cycle
        is_awaited = (
            cycle is not None
            and cycle.more_body
            and not cycle.response_complete
            and not cycle.waiting_for_100_continue
            and not self.flow.read_paused
        )
        if not is_awaited or self._received - self._received_before >= LEAST_PROGRESS:
            self._received_before, self._body_since = self._received, now
        return now - self._body_since > self._limits.body_sec

    def _is_answer_late(self, now: float) -> bool:
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent <= self._unsent - LEAST_PROGRESS:
            self._unsent_since = now
            self._unsent = unsent
        self._unsent = max(self._unsent, unsent)
        return now - self._unsent_since > self._limits.answer_sec

    def _end(self, status: int) -> None:
        """Close, with a word to a client that has begun to ask and has no answer yet."""
        cycle = self.cycle
        is_answered = cycle is not None and cycle.response_started and not cycle.response_complete
        if cycle is not None:
            cycle.disconnected = not cycle.response_complete
            cycle.message_event.set()
        if not is_answered and (self._received or status in (429, 503)):
            again = "retry-after: 1\r\n" if status in (429, 503) else ""
            line = f"HTTP/1.1 {_STATUS_LINES[status]}\r\n"
            self.transport.write(
                f"{line}{again}content-length: 0\r\nconnection: close\r\n\r\n".encode()
            )
        self.transport.close()


@lru_cache(maxsize=10_000)
def is_in_networks(address: str, networks: tuple[str, ...]) -> bool:
    """Whether an address is one of these, or in one of these networks."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return not address  # a Unix socket has none, and only this machine reaches it
    return any(parsed in ipaddress.ip_network(network) for network in networks)
