"""Clients that are slow, silent or too many, over real sockets."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from pytest_django import Settings

from config.connections import JOINED_BYTES, ConnectionLimits, JoinedWrites, LimitedProtocol
from config.entry import RequestsPerAddress
from knowledge.api.asgi import Message, Receive, Send, address_key
from tests.support.asgi_server import serve_app
from tests.support.waiting import eventually

LIMIT_SEC = 0.4
PER_ADDRESS = 8
LARGE = 32 * 1024 * 1024

Open = Callable[[bytes], socket.socket]


async def answer(scope: Message, receive: Receive, send: Send) -> None:
    """Read the body, then answer a word, or a great many bytes where `/large` is asked for."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
    size = LARGE if scope["path"] == "/large" else 2
    length = (b"content-length", str(size).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    while size:
        piece = b"x" * min(size, 64 * 1024)
        size -= len(piece)
        await send({"type": "http.response.body", "body": piece, "more_body": bool(size)})


@pytest.fixture
def limits() -> ConnectionLimits:
    return ConnectionLimits(
        header_sec=LIMIT_SEC,
        body_sec=LIMIT_SEC,
        answer_sec=LIMIT_SEC,
        per_address=PER_ADDRESS,
        total=PER_ADDRESS + 4,
    )


@pytest.fixture
def open_with(limits: ConnectionLimits) -> Iterator[Open]:
    """Connects and says something."""
    protocol: Any = type("Protocol", (LimitedProtocol,), {"limits": limits})
    with serve_app(answer, http=protocol, lifespan="off") as address, ExitStack() as opened:

        def connect(said: bytes) -> socket.socket:
            connection = opened.enter_context(socket.create_connection(address, timeout=20))
            connection.sendall(said)
            return connection

        yield connect


def read_all(connection: socket.socket) -> bytes:
    """All that the server says until it closes."""
    said = b""
    try:
        while data := connection.recv(1 << 16):
            said += data
    except ConnectionResetError:
        pass
    return said


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize(
    "half", [b"GET / HTTP/1.1\r\nHost: x\r\nX-Half: a", HEAD, HEAD + b"only some of it"]
)
def test_who_stops_in_a_header_or_a_body_is_told_so_and_let_go(
    open_with: Open, limits: ConnectionLimits, half: bytes
) -> None:
    assert read_all(open_with(half)).startswith(b"HTTP/1.1 408 ")
    eventually(lambda: not limits.connections)


def test_who_says_nothing_at_all_is_let_go(open_with: Open) -> None:
    assert read_all(open_with(b"")) == b""


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", HEAD])
def test_who_sends_a_byte_now_and_then_makes_no_progress(open_with: Open, head: bytes) -> None:
    connection = open_with(head)
    connection.settimeout(LIMIT_SEC / 8)
    began, said = time.monotonic(), b""
    while not said:
        assert time.monotonic() - began < 20
        try:
            connection.sendall(b"a")
            said = connection.recv(1000)
        except TimeoutError:
            continue
    assert said.startswith(b"HTTP/1.1 408 ")


def test_who_does_not_read_the_answer_is_let_go(open_with: Open, limits: ConnectionLimits) -> None:
    connection = open_with(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    assert connection.recv(1)  # it is being answered
    eventually(lambda: not limits.connections)
    assert len(read_all(connection)) < LARGE


def test_who_reads_slowly_but_reads_gets_it_all(open_with: Open) -> None:
    connection = open_with(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    size = 0
    for _ in range(24):
        size += len(connection.recv(1 << 20))
        time.sleep(LIMIT_SEC / 16)  # far less than the limit, which a busy machine may add to
    size += len(read_all(connection))
    assert size > LARGE


class Sent(list[bytes]):
    """What a transport was given to send."""

    write = list[bytes].append

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        self.append(b"closed")


def test_a_small_answer_is_sent_in_one_piece_and_a_long_one_as_it_comes() -> None:
    async def answer_on(sent: Any) -> None:
        transport = JoinedWrites(sent, asyncio.get_running_loop())
        transport.write(b"head, ")
        transport.write(b"body")
        assert (sent, transport.get_write_buffer_size()) == ([], 10)
        await asyncio.sleep(0)
        assert (sent, transport.get_write_buffer_size()) == ([b"head, body"], 0)
        transport.write(b"x" * JOINED_BYTES)
        transport.write(b"x")
        assert len(sent[-1]) == JOINED_BYTES + 1
        transport.write(b"end")
        transport.close()
        await asyncio.sleep(0)
        assert sent[-2:] == [b"end", b"closed"]

    asyncio.run(answer_on(Sent()))


def test_a_header_has_an_end(open_with: Open) -> None:
    connection = open_with(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ")
    connection.sendall(b"a" * 100_000)
    assert read_all(connection).startswith(b"HTTP/1.1 431 ")


def test_one_address_has_so_many_connections_and_then_more_when_it_closes_some(
    open_with: Open, limits: ConnectionLimits
) -> None:
    held = [open_with(b"") for _ in range(PER_ADDRESS)]
    eventually(lambda: limits.connections["127.0.0.1"] == PER_ADDRESS)
    said = read_all(open_with(b""))
    assert said.startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: 1" in said
    held[0].close()
    eventually(lambda: limits.connections["127.0.0.1"] < PER_ADDRESS)
    assert open_with(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").recv(1000).startswith(b"HTTP/1.1 200 ")


class TestBehindAProxy:
    @pytest.fixture
    def limits(self) -> ConnectionLimits:
        return ConnectionLimits(
            header_sec=20,
            body_sec=20,
            answer_sec=20,
            per_address=2,
            total=PER_ADDRESS,
            trusted_proxies=("127.0.0.0/8",),
        )

    def test_a_trusted_proxys_connections_are_bounded_in_total_alone(self, open_with: Open) -> None:
        held = [open_with(b"") for _ in range(PER_ADDRESS)]
        assert read_all(open_with(b"")).startswith(b"HTTP/1.1 503 ")
        for connection in held:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")

    def test_requests_are_counted_for_the_address_that_it_forwards(
        self, settings: Settings
    ) -> None:
        settings.QUARRY_CONNECTIONS_PER_ADDRESS = 2
        app: Any = RequestsPerAddress(answer)
        trust = {"forwarded_allow_ips": ["127.0.0.1"], "lifespan": "off"}
        with serve_app(app, **trust) as address, ExitStack() as opened:

            def ask_for(client: str, body: bytes) -> socket.socket:
                connection = opened.enter_context(socket.create_connection(address, timeout=20))
                head = HEAD.replace(b"Host: x", f"Host: x\r\nX-Forwarded-For: {client}".encode())
                connection.sendall(head + body)
                return connection

            waiting = [ask_for("203.0.113.7", b"") for _ in range(2)]
            eventually(lambda: app._in_progress["203.0.113.7"] == 2)
            refused = ask_for("203.0.113.7", b"").recv(4000)
            assert refused.startswith(b"HTTP/1.1 429 ")
            assert b"retry-after: 1" in refused
            assert b'"error": "busy"' in refused
            whole = bytes(100)
            assert ask_for("203.0.113.8", whole).recv(1000).startswith(b"HTTP/1.1 200 ")
            waiting[0].sendall(whole)
            assert waiting[0].recv(1000).startswith(b"HTTP/1.1 200 ")
            assert ask_for("203.0.113.7", whole).recv(1000).startswith(b"HTTP/1.1 200 ")


def test_one_host_of_the_newer_protocol_is_one_address() -> None:
    assert address_key("2001:db8::1") == address_key("2001:db8::ffff") != address_key("2001:db9::")
    assert address_key("::ffff:192.0.2.1") == address_key("192.0.2.1") == "192.0.2.1"
