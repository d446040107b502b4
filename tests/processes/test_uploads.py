"""Files sent to a real server: what they cost it, and what becomes of them when it is killed."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.running import Quarry, forget_peak, memory, running
from tests.support.up import copied_home
from tests.support.waiting import DEADLINE, eventually

SIZE = 60_000_000
PIECE = b"All work and no play makes Jack a dull boy.\n" * 20_000


@pytest.fixture
def home(migrated_home: Path) -> Iterator[Path]:
    with copied_home(migrated_home) as home:
        yield home


def test_a_large_file_takes_no_memory_and_survives_a_killed_server(home: Path) -> None:
    with running(home) as quarry:
        token = quarry.token
        refused, large, cut = (begin(quarry, token) for _ in range(3))

        tampered = {**refused, "signed_url": refused["signed_url"][:-2]}
        assert put(tampered, pieces())[0] == 404

        forget_peak(quarry)
        before = memory(quarry, "VmRSS")
        assert put(large, pieces()) == (200, {"upload_id": large["upload_id"], "size": SIZE})
        assert memory(quarry, "VmHWM") - before < 25_000
        assert kept(home, large).stat().st_size == SIZE

        connection = send_half(cut)
        eventually(lambda: drafts(home, cut))
        quarry.kill()
        connection.close()
        assert not kept(home, cut).exists()
    with running(home) as again:
        port = urlsplit(begin(again, token)["signed_url"]).port
        moved = urlsplit(cut["signed_url"])._replace(netloc=f"127.0.0.1:{port}")
        assert put({**cut, "signed_url": moved.geturl()}, pieces())[0] == 200
        assert (kept(home, cut).stat().st_size, drafts(home, cut)) == (SIZE, [])


def begin(quarry: Quarry, token: str) -> Any:
    asked = {"filename": "long.txt", "mime_type": "text/plain", "size": SIZE}
    status, body = quarry.ask("POST", "/api/v1/uploads/signed-url", token, json.dumps(asked))
    assert status == 201, body
    return body


def put(address: Any, data: Iterator[bytes]) -> tuple[int, Any]:
    connection = opened(address)
    try:
        for piece in data:
            connection.send(piece)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def send_half(address: Any) -> http.client.HTTPConnection:
    connection = opened(address)
    for number, piece in enumerate(pieces()):
        if number * len(PIECE) > SIZE // 2:
            break
        connection.send(piece)
    return connection


def opened(address: Any) -> http.client.HTTPConnection:
    url = urlsplit(address["signed_url"])
    connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=DEADLINE)
    connection.putrequest("PUT", f"{url.path}?{url.query}")
    for name, value in {**address["headers"], "Content-Length": str(SIZE)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection


def pieces() -> Iterator[bytes]:
    for at in range(0, SIZE, len(PIECE)):
        yield PIECE[: SIZE - at]


def kept(home: Path, address: Any) -> Path:
    [folder] = (home / "files").iterdir()
    return folder / str(address["upload_id"])


def drafts(home: Path, address: Any) -> list[Path]:
    return list(kept(home, address).parent.glob(f".{address['upload_id']}.*"))
