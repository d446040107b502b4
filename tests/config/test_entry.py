"""Bodies that are too large, or have no length, over real sockets."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import pytest

from config import entry
from config.body_limit import BodyLimit
from config.entry import DrainBody
from knowledge.api.asgi import BODY, Message, Receive, Send
from tests.support.asgi_server import serve_app
from tokens.call_slots import CallSlots

LIMIT = 100_000
LARGE = 20 * 1024 * 1024
DEADLINE = 20
PIECE = bytes(64 * 1024)


async def tell_body(scope: Message, receive: Receive, send: Send) -> None:
    """Answer what came: its size, and the length that was declared."""
    size = len(scope[BODY].content()) if BODY in scope else 0
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    told = {"size": size, "length": headers.get("content-length")}
    body = json.dumps({**told, "chunked": "transfer-encoding" in headers}).encode()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def connection(address: tuple[str, int]) -> Iterator[HTTPConnection]:
    with closing(HTTPConnection(*address, timeout=DEADLINE)) as opened:
        yield opened


@pytest.fixture(params=["httptools", "h11"])
def address(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    app: Any = DrainBody(
        BodyLimit(tell_body, CallSlots().bodies, limit=LIMIT, strangers_limit=LIMIT)
    )
    with serve_app(app, http=request.param, lifespan="off") as address:
        yield address


def pieces(size: int) -> Iterator[bytes]:
    for _ in range(size // len(PIECE)):
        yield PIECE


@pytest.mark.parametrize("is_chunked", [False, True])
def test_who_sends_too_much_gets_the_envelope_and_no_reset(
    connection: HTTPConnection, is_chunked: bool
) -> None:
    if is_chunked:
        connection.request("POST", "/", pieces(LARGE), encode_chunked=True)
    else:
        connection.request("POST", "/", bytes(LARGE))
    answer = connection.getresponse()
    assert answer.status == 413
    assert answer.headers["Connection"] == "close"
    told = json.loads(answer.read())
    assert (told["error"], told["max_bytes"]) == ("payload_too_large", LIMIT)
    assert told["request_id"] == answer.headers["X-Request-ID"]


def test_who_waits_for_a_word_before_sending_is_refused_at_once(address: tuple[str, int]) -> None:
    asked = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {LARGE}\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection(address, timeout=DEADLINE) as connection:
        connection.sendall(asked.encode())
        said = b""
        while data := connection.recv(65536):
            said += data
    assert said.startswith(b"HTTP/1.1 413 ")


def test_who_never_stops_sending_is_cut_off(
    connection: HTTPConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "MAX_BYTES", 1_000_000)
    connection.putrequest("POST", "/")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        _send_for_ever(connection)


def _send_for_ever(connection: HTTPConnection) -> None:
    while True:
        connection.send(PIECE)


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_body_without_a_length_is_handed_on_with_one(
    connection: HTTPConnection, method: str
) -> None:
    connection.request(method, "/", iter([b"granite ", b"and basalt"]), encode_chunked=True)
    told = json.loads(connection.getresponse().read())
    assert told == {"size": 18, "length": "18", "chunked": False}


def test_a_connection_stays_open_after_a_body_that_was_read(connection: HTTPConnection) -> None:
    for body in (b"x" * LIMIT, b"", b"y"):
        connection.request("POST", "/", body)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Connection"]) == (200, None)
        assert json.loads(answer.read())["size"] == len(body)
