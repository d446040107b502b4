"""The file that an upload brought, to download."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings
from rest_framework.test import APIClient

from config.asgi import application
from knowledge.library import originals
from knowledge.models import Folder, Upload
from knowledge.storage import S3Store, live_store
from tests.support.edges import MISSING
from tests.support.library import Add, Mint, Minted
from tests.support.one_connection import share_connection
from tests.support.uploads import NOTES, finish, stored
from tokens.models import Event

PAGE = b"<!doctype html><script>alert(1)</script><p>Granite is a very hard stone indeed.</p>"


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.QUARRY_HOME = tmp_path
    # A test's rows are seen only by its own connection, which must not be closed.
    share_connection(monkeypatch)
    monkeypatch.setattr(originals, "close_old_connections", lambda: None)
    return tmp_path


def uploaded(token: Minted, data: bytes = NOTES, **other: Any) -> str:
    status, added = finish(token, stored(token, data, **other))
    assert status == 201, added
    return str(added["user_item_id"])


def download(client: APIClient, item_id: str, **headers: str) -> Any:
    return client.get(f"/api/v1/items/{item_id}/original", headers=headers)


def body_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def test_an_original_comes_back_byte_for_byte_with_its_type_and_name(mint: Mint) -> None:
    token = mint()
    answer = download(token.client, uploaded(token, filename="Größe “x”.md"))
    assert (answer.status_code, body_of(answer)) == (200, NOTES)
    assert answer["Content-Type"] == "text/markdown"
    assert answer["Content-Length"] == str(len(NOTES))
    assert answer["Content-Disposition"].startswith("attachment; filename*=utf-8''Gr%C3%B6")
    assert answer["RateLimit-Remaining"] == "999"
    event = Event.objects.latest("pk")
    assert (event.action, event.outcome) == ("get_item", "ok")


def test_a_page_is_never_shown_as_one_of_the_servers(mint: Mint) -> None:
    token = mint()
    answer = download(token.client, uploaded(token, PAGE, filename="a.html", mime_type="text/html"))
    assert body_of(answer) == PAGE
    assert answer["Content-Type"] == "text/html"
    assert answer["Content-Disposition"] == 'attachment; filename="a.html"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-8", 0, 9), ("bytes=5-", 5, None), ("bytes=-6", -6, None), ("bytes=5-9999", 5, None)],
)
def test_a_range_is_honoured(mint: Mint, asked: str, start: int, end: int | None) -> None:
    token = mint()
    answer = download(token.client, uploaded(token), Range=asked)
    expected = NOTES[start:end]
    assert (answer.status_code, body_of(answer)) == (206, expected)
    first = NOTES.index(expected)
    last = first + len(expected) - 1
    assert answer["Content-Range"] == f"bytes {first}-{last}/{len(NOTES)}"
    assert answer["Content-Length"] == str(len(expected))


@pytest.mark.parametrize("asked", ["bytes=9-5", "bytes=999-", "bytes=-0", "bytes=0-1,4-5", "x=1"])
def test_a_range_that_does_not_fit_is_ignored(mint: Mint, asked: str) -> None:
    token = mint()
    answer = download(token.client, uploaded(token), Range=asked)
    assert (answer.status_code, body_of(answer)) == (200, NOTES)


def test_a_range_of_another_file_is_answered_with_the_whole(mint: Mint) -> None:
    token = mint()
    item_id = uploaded(token)
    etag = download(token.client, item_id)["ETag"]
    assert download(token.client, item_id, Range="bytes=0-1", If_Range=etag).status_code == 206
    other = download(token.client, item_id, Range="bytes=0-1", If_Range='"x"')
    assert other.status_code == 200


def test_a_head_tells_the_size_and_reads_nothing(mint: Mint, home: Path) -> None:
    token = mint()
    answer = token.client.head(f"/api/v1/items/{uploaded(token)}/original")
    assert (answer.status_code, answer["Content-Length"]) == (200, str(len(NOTES)))
    assert body_of(answer) == b""


def test_without_a_file_or_out_of_reach_there_is_nothing_to_download(
    mint: Mint, add: Add, stranger: User, folder: Callable[[str], Folder]
) -> None:
    token = mint()
    item_id = uploaded(token)
    note = download(token.client, str(add("Note").pk))
    assert (note.status_code, note.json()["error"]) == (404, "not_found")
    assert "no stored file" in note.json()["message"]
    missing = download(token.client, MISSING).json()["message"]
    for other in (mint(by=stranger), mint(folder("Other"))):
        hidden = download(other.client, item_id)
        assert (hidden.status_code, hidden.json()["message"]) == (404, missing)
    assert download(token.client, "notes").json()["error"] == "invalid_id"


def test_a_file_that_is_gone_from_the_store_is_not_found(mint: Mint) -> None:
    token = mint()
    item_id = uploaded(token)
    live_store().delete(Upload.objects.get().key)
    answer = download(token.client, item_id)
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert "not in the file store" in answer.json()["message"]


def test_from_a_bucket_it_passes_through(mint: Mint, bucket: S3Store) -> None:
    token = mint()
    begun = token.client.post(
        "/api/v1/uploads/signed-url",
        {"filename": "notes.txt", "mime_type": "text/plain", "size": len(NOTES)},
        format="json",
    ).json()
    httpx2.put(begun["signed_url"], headers=begun["headers"], content=NOTES)
    item_id = finish(token, begun)[1]["user_item_id"]
    assert body_of(download(token.client, item_id)) == NOTES
    assert body_of(download(token.client, item_id, Range="bytes=10-19")) == NOTES[10:20]


@pytest.mark.django_db(transaction=True)
def test_while_it_is_sent_no_database_connection_is_held(
    mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    token = mint()
    item_id = uploaded(token)
    held = []
    read = originals.Original.read

    def watched(self: Any, start: int, count: int) -> Iterator[bytes]:
        for piece in read(self, start, count):
            held.append(connection.connection)
            yield piece

    monkeypatch.setattr(originals.Original, "read", watched)

    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=application)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            headers = {"Authorization": f"Bearer {token.secret}"}
            return await client.get(f"/api/v1/items/{item_id}/original", headers=headers)

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.content) == (200, NOTES)
    assert held == [None]
