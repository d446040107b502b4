import gzip
import socket
import threading
import time
import tracemalloc
import zlib

import pytest

from knowledge.errors import IngestFailed
from knowledge.sources.http import fetch
from tests.support.http_servers import Script, answer, redirect, says

IN_TIME_SEC = 4
"""Also on a busy machine; what is not cut off goes on for ever."""


def failure_of(url: str, **how) -> dict[str, object]:
    with pytest.raises(IngestFailed) as failure:
        fetch(url, **how)
    assert failure.value.message.endswith(".")
    return failure.value.details


# Limits -----------------------------------------------------------------------------------


def chunked(*chunks: bytes, head: str = "") -> bytes:
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    start = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{head}\r\n".encode()
    return start + framed + b"0\r\n\r\n"


def test_an_announced_size_is_refused_before_it_is_read(serve) -> None:
    server = serve(says("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"))
    assert failure_of(server.url(), max_bytes=100) == {"reason": "too_large"}


@pytest.mark.parametrize(
    "script",
    [
        says("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"a" * 101),
        says(chunked(b"a" * 60, b"a" * 41)),
        says(chunked(gzip.compress(b"a" * 101), head="Content-Encoding: gzip\r\n")),
    ],
    ids=["until closed", "chunked", "compressed"],
)
def test_an_unannounced_size_is_cut_off(serve, script: Script) -> None:
    assert failure_of(serve(script).url(), max_bytes=100) == {"reason": "too_large"}
    assert len(fetch(serve(script).url(), max_bytes=101).body) == 101


def test_a_bomb_never_fills_the_memory(serve) -> None:
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(bomb.compress(bytes(1_000_000)) for _ in range(100)) + bomb.flush()
    server = serve(says(answer(body=packed, Content_Encoding="gzip")))
    tracemalloc.start()
    assert failure_of(server.url(), max_bytes=5_000_000) == {"reason": "too_large"}
    assert tracemalloc.get_traced_memory()[1] < 12_000_000
    tracemalloc.stop()


def test_padding_after_a_compressed_body_counts(serve) -> None:
    padded = gzip.compress(b"a") + bytes(100)
    server = serve(says(chunked(padded, head="Content-Encoding: gzip\r\n")))
    assert failure_of(server.url(), max_bytes=100) == {"reason": "too_large"}


def test_framing_cannot_carry_what_the_body_may_not(serve) -> None:
    def padded(request: bytes, peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(1_000):
            peer.sendall(b"1;" + b"x" * 8_000 + b"\r\na\r\n")

    assert failure_of(serve(padded).url(), max_bytes=10_000) == {"reason": "too_large"}


def test_endless_headers_are_cut_off(serve) -> None:
    def endless(request: bytes, peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\n")
        for _ in range(10_000):
            peer.sendall(b"X-More: " + b"x" * 1_000 + b"\r\n")

    assert failure_of(serve(endless).url()) == {"reason": "unreachable", "may_pass": True}


def dripping(server_closing: threading.Event, start: bytes, drop: bytes) -> Script:
    def drip(_: bytes, peer: socket.socket) -> None:
        peer.sendall(start)
        while not server_closing.wait(0.05):
            peer.sendall(drop)

    return drip


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    ],
    ids=["silence", "headers", "hints", "body", "chunks"],
)
def test_a_server_that_drips_is_cut_off_in_time(serve, start: bytes, drop: bytes) -> None:
    closing = threading.Event()
    server = serve(dripping(closing, start, drop))
    begun = time.monotonic()
    assert failure_of(server.url(), seconds=0.4) == {"reason": "timed_out", "may_pass": True}
    assert time.monotonic() - begun < IN_TIME_SEC
    closing.set()


def test_the_time_is_for_all_redirects_together(serve) -> None:
    closing = threading.Event()

    def slow(_: bytes, peer: socket.socket) -> None:
        closing.wait(0.2)
        peer.sendall(redirect("/next"))

    begun = time.monotonic()
    assert failure_of(serve(slow).url(), seconds=0.5)["reason"] == "timed_out"
    assert time.monotonic() - begun < IN_TIME_SEC
    closing.set()


# Compressed answers and bad ones ----------------------------------------------------------

TEXT = b"the quick brown fox " * 10_000


def raw_deflate(data: bytes) -> bytes:
    squeezed = zlib.compressobj(wbits=-15)
    return squeezed.compress(data) + squeezed.flush()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:])),
        ("x-gzip", gzip.compress(TEXT) + b"\x00\x00padding"),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("identity", TEXT),
    ],
    ids=["gzip", "members", "padded", "zlib", "raw", "plain"],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_compressed_answer_is_undone(serve, encoding, packed, size) -> None:
    chunks = [packed[at : at + size] for at in range(0, min(len(packed), 3_000), size)]
    rest = packed[sum(map(len, chunks)) :]
    body = chunked(*chunks, *([rest] if rest else []), head=f"Content-Encoding: {encoding}\r\n")
    assert fetch(serve(says(body)).url()).body == TEXT


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)[:-20]),
        ("gzip", b"\x1f"),
        ("gzip", b"not gzip at all"),
        ("deflate", b"\xff\xff\xff\xff"),
        ("br", b"x"),
        ("gzip, gzip", gzip.compress(gzip.compress(TEXT))),
    ],
    ids=["cut short", "one byte", "no gzip", "no deflate", "brotli", "twice"],
)
def test_a_broken_or_unasked_compression_is_the_servers_fault(serve, encoding, packed) -> None:
    server = serve(says(answer(body=packed, Content_Encoding=encoding)))
    assert failure_of(server.url())["reason"] == "server_error"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + b"\x00" * 50,
    ],
    ids=["nothing", "ssh", "no number", "two lengths", "no chunk", "another protocol"],
)
def test_what_is_not_http_is_unreachable(serve, said: bytes) -> None:
    assert failure_of(serve(says(said)).url()) == {"reason": "unreachable", "may_pass": True}
