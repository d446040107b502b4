"""A library through a real server, out and in again, while its memory is watched."""

import hashlib
import http.client
import json
import random
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from tests.support.running import Quarry, forget_peak, memory, rows, running
from tests.support.up import copied_home
from tests.support.waiting import eventually

ITEMS = 600
CHARACTERS = 100_000
PIECE = 1 << 16
PATIENCE = 300
MOST_KB = 60_000
HELD = "SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"


@pytest.fixture
def home(migrated_home: Path) -> Iterator[Path]:
    with copied_home(migrated_home) as home:
        yield home


def test_sixty_megabytes_go_in_and_out_in_little_memory_and_come_back_the_same(
    home: Path, tmp_path: Path
) -> None:
    made = tmp_path / "made.zip"
    write_archive(made)
    with running(home) as quarry:
        forget_peak(quarry)
        before = memory(quarry, "VmRSS")
        assert posted(quarry, made)["items"] == ITEMS
        first = downloaded(quarry, link_of_export(quarry), tmp_path / "first.zip")
        assert memory(quarry, "VmHWM") - before < MOST_KB
        assert posted(quarry, tmp_path / "first.zip")["skipped"] == ITEMS
        link = link_of_export(quarry)
        assert downloaded(quarry, link, tmp_path / "again.zip") == first
        assert left_half_read(quarry, link) == 200
        assert quarry.get("/api/v1/export", quarry.token)[1]["reason"] == "too_large"
        assert_slow_readers_hold_no_connection(quarry, link)
        with quarry.database() as database:
            eventually(lambda: not rows(database, HELD))
        assert quarry.get("/readyz")[0] == 200
        assert quarry.complained == ""


def assert_slow_readers_hold_no_connection(quarry: Quarry, link: str) -> None:
    """Row 1 of the attack: more readers who do not read than the server has connections."""
    readers = [opened(quarry) for _ in range(20)]
    try:
        for reader in readers:
            reader.request("GET", link)
            assert reader.getresponse().status == 200
        began = time.monotonic()
        assert quarry.get("/api/v1/whoami", quarry.token)[0] == 200
        assert quarry.get("/readyz")[0] == 200
        assert time.monotonic() - began < 5
        with quarry.database() as database:
            assert not rows(database, HELD)
    finally:
        for reader in readers:
            reader.close()


def write_archive(path: Path) -> None:
    """Texts that do not pack well, out of the index for the sake of time."""
    chance = random.Random(1)
    ids = sorted(str(UUID(int=chance.getrandbits(128), version=4)) for _ in range(ITEMS))
    counts = {"folders": 0, "contents": ITEMS, "items": ITEMS}
    manifest = {"format": "quarry-export", "version": 1, "counts": counts}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("folders.jsonl", "")
        with archive.open("contents.jsonl", "w") as contents:
            for content_id in ids:
                text = f"{chance.getrandbits(CHARACTERS * 4):x}"
                contents.write(line(content(content_id, text)))
        with archive.open("items.jsonl", "w") as items:
            for content_id in ids:
                items.write(line(item(content_id)))


def line(record: dict[str, object]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def content(content_id: str, text: str) -> dict[str, object]:
    empty = dict.fromkeys(("url", "author", "language", "reason", "error", "media_url"), "")
    told = {"kind": "text", "title": content_id, "state": "ready", "transcript_by": ""}
    own = {"id": content_id, "text": text, "parts": [], "transcription_status": "none"}
    return {**empty, **told, **own}


def item(content_id: str) -> dict[str, object]:
    return {
        "id": content_id,
        "content_id": content_id,
        "type": "document",
        "custom_title": "",
        "in_kb": False,
        "archived": False,
        "visibility": "private",
        "tags": [],
        "attributes": {},
        "created_at": "2026-01-01T00:00:00Z",
        "filings": [],
    }


def posted(quarry: Quarry, path: Path) -> Any:
    """What came of an import, once its job is over."""
    connection = opened(quarry)
    headers = {
        **authorized(quarry),
        "Content-Type": "application/zip",
        "Content-Length": str(path.stat().st_size),
    }
    try:
        with path.open("rb") as body:
            connection.request("POST", "/api/v1/import", body, headers)
        answer = connection.getresponse()
        begun = json.loads(answer.read())
        assert answer.status == 202, begun
    finally:
        connection.close()
    eventually(lambda: import_state(quarry, begun["id"])["state"] not in ("queued", "working"))
    return import_state(quarry, begun["id"])


def import_state(quarry: Quarry, import_id: str) -> Any:
    connection = opened(quarry)
    try:
        connection.request("GET", f"/api/v1/imports/{import_id}", headers=authorized(quarry))
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def downloaded(quarry: Quarry, link: str, path: Path) -> str:
    """The digest of an export, which is kept there."""
    connection = opened(quarry)
    digest = hashlib.sha256()
    try:
        connection.request("GET", link)
        answer = connection.getresponse()
        assert answer.status == 200
        with path.open("wb") as file:
            while piece := answer.read(PIECE):
                digest.update(piece)
                file.write(piece)
    finally:
        connection.close()
    return digest.hexdigest()


def link_of_export(quarry: Quarry) -> str:
    """Where the file of a new export is, once its job is done."""
    status, export = quarry.ask("POST", "/api/v1/export", quarry.token)
    assert status == 202, export
    states: list[str] = []

    def is_ready() -> bool:
        time.sleep(0.5)  # a token may ask a thousand times an hour
        told = quarry.get(f"/api/v1/exports/{export['id']}", quarry.token)[1]
        assert "file_url" in told, told
        states.append(told["file_url"] or "")
        return bool(told["state"] == "ready")

    eventually(is_ready)
    link = urlsplit(states[-1])
    return f"{link.path}?{link.query}"


def left_half_read(quarry: Quarry, link: str) -> int:
    """The status of an export whose reader goes away in the middle of it."""
    connection = opened(quarry)
    connection.request("GET", link)
    answer = connection.getresponse()
    answer.read(PIECE)
    connection.close()
    return answer.status


def opened(quarry: Quarry) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", quarry.port, timeout=PATIENCE)


def authorized(quarry: Quarry) -> dict[str, str]:
    return {"Authorization": f"Bearer {quarry.token}"}
