"""Export and import over REST, and through the whole server, where bodies may be large."""

import asyncio
import io
import json
import time
import zipfile
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import dramatiq
import httpx2
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from config import entry
from config.asgi import application
from knowledge.access import Access
from knowledge.api import import_gate
from knowledge.api.asgi import MAX_BODY
from knowledge.exchange import archive_imports, importing, item_restore
from knowledge.models import ArchiveImport, Folder, Item
from tests.support.adding import run_jobs
from tests.support.exchange import exported, fill, lines, rezipped, wipe
from tests.support.library import Add, Mint, Minted
from tests.support.one_connection import share_connection
from tokens.models import Event

ZIP = "application/zip"


@pytest.fixture(autouse=True)
def one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's rows are seen only by its own connection, which must not be closed."""
    share_connection(monkeypatch)


def get(token: Minted) -> Any:
    return token.client.get("/api/v1/export")


def post(token: Minted, body: bytes, **headers: str) -> Any:
    return token.client.post("/api/v1/import", body, content_type=ZIP, headers=headers)


def asked(token: Minted | None, method: str, path: str, **sent: Any) -> httpx2.Response:
    """An answer of the whole ASGI application."""
    headers = {"host": "testserver", **sent.pop("headers", {})}
    if token:
        headers["authorization"] = f"Bearer {token.secret}"

    async def send() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=application)
        async with httpx2.AsyncClient(transport=transport) as client:
            return await client.request(
                method, f"http://testserver/api/v1/{path}", headers=headers, **sent
            )

    return async_to_sync(send)()


def test_an_export_is_downloaded_as_a_zip(library: Access, mint: Mint) -> None:
    fill(library)
    answer = get(mint(write=False))
    assert answer.status_code == 200
    assert answer["Content-Type"] == ZIP
    assert answer["Content-Disposition"] == 'attachment; filename="quarry-export.zip"'
    assert answer["RateLimit-Limit"] == "10"
    assert b"".join(answer.streaming_content) == exported(library)


@pytest.mark.parametrize(("method", "route"), [("GET", "export"), ("POST", "import")])
def test_a_filter_that_there_is_not_is_refused(mint: Mint, method: str, route: str) -> None:
    answer = mint().client.generic(method, f"/api/v1/{route}?folder_id=1", content_type=ZIP)
    assert (answer.status_code, answer.json()["field"]) == (400, "folder_id")


def test_asking_for_its_headers_alone_makes_no_archive(library: Access, mint: Mint) -> None:
    answer: Any = mint().client.head("/api/v1/export")
    assert (answer.status_code, answer["Content-Type"]) == (200, ZIP)
    assert b"".join(answer.streaming_content) == b""


def test_through_the_server_it_comes_in_pieces(library: Access, mint: Mint) -> None:
    fill(library)
    answer = asked(mint(), "GET", "export", headers={"accept": ZIP})
    assert answer.status_code == 200
    assert answer.headers["x-request-id"]
    assert answer.content == exported(library)


def test_a_scoped_token_gets_what_it_sees(library: Access, mint: Mint) -> None:
    fill(library)
    archive = asked(mint(Folder.objects.get(name="Research/2024")), "GET", "export").content
    assert len(lines(archive, "items.jsonl")) == 1


def state_of(token: Minted, begun: Any) -> Any:
    """An import that the call began, as its route tells it now."""
    return token.client.get(f"/api/v1/imports/{begun.json()['id']}").json()


def test_an_import_says_what_came_of_it(
    library: Access, stranger: User, mint: Mint, settings: Settings, tmp_path: Path
) -> None:
    settings.QUARRY_HOME = tmp_path
    fill(library)
    token, archive = mint(by=stranger), exported(library)
    answer = post(token, archive)
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    run_jobs()
    told = state_of(token, answer)
    assert told.pop("created_at")
    assert told.pop("id") == answer.json()["id"]
    assert told == {
        "state": "done",
        "items_done": 6,
        "items_total": 6,
        "error": "",
        "folders": 3,
        "contents": 5,
        "items": 6,
        "relations": 0,
        "versions": 0,
        "sources": 0,
        "feeds": 0,
        "highlights": 0,
        "saved_searches": 0,
        "skipped": 0,
        "failed": 0,
        "problems": [],
    }
    again = post(token, archive)
    run_jobs()
    assert state_of(token, again)["skipped"] == 6
    assert not list((Path(settings.QUARRY_HOME) / "files" / "imports").iterdir())


def test_a_body_that_other_routes_would_refuse_is_taken_here(
    library: Access, stranger: User, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(library)
    archive = exported(library)
    padded = with_padding(archive, 9_000_000)
    assert len(padded) > MAX_BODY
    token = mint(by=stranger)
    answer = asked(token, "POST", "import", content=padded, headers={"content-type": ZIP})
    assert answer.status_code == 202
    run_jobs()
    # Not by its route: a call of the test's client would close the one connection.
    assert ArchiveImport.objects.get(pk=answer.json()["id"]).report["items"] == 6
    keyed = {"content-type": ZIP, "idempotency-key": "again"}
    for replayed in (None, "true"):
        answer = asked(token, "POST", "import", content=padded, headers=keyed)
        assert (answer.status_code, answer.json()["state"]) == (202, "queued")
        assert answer.headers.get("idempotent-replayed") == replayed
    answer = asked(token, "POST", "import", content=archive, headers=keyed)
    assert (answer.status_code, answer.json()["reason"]) == (409, "idempotency_key_reused")


def with_padding(archive: bytes, size: int) -> bytes:
    out = io.BytesIO(archive)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_STORED) as opened:
        opened.writestr("padding", b"\x00" * size)
    return out.getvalue()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "The body is empty"),
        (b"{}", "it is no zip archive"),
    ],
)
def test_what_is_no_export_is_refused_in_a_sentence(mint: Mint, body: bytes, told: str) -> None:
    answer = post(mint(), body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_body")
    assert told in answer.json()["message"]


def test_a_bomb_is_refused_by_what_it_would_become(library: Access, mint: Mint) -> None:
    archive = zipfile.ZipFile(io.BytesIO(exported(library)))
    parts = {name: archive.read(name) for name in archive.namelist()}
    bomb = rezipped({**parts, "items.jsonl": b"\n" * 300_000_000})
    token = mint()
    answer = post(token, bomb)
    run_jobs()
    told = state_of(token, answer)
    assert (told["state"], "inflates to" in told["error"]) == ("failed", True)


def test_what_is_no_export_inside_is_told_by_its_state(mint: Mint) -> None:
    token = mint()
    answer = post(token, rezipped({"a.txt": b"x"}))
    run_jobs()
    told = state_of(token, answer)
    assert (told["state"], "manifest.json is missing" in told["error"]) == ("failed", True)


def test_an_archive_of_empty_lines_is_given_up_after_a_hundred(library: Access, mint: Mint) -> None:
    archive = zipfile.ZipFile(io.BytesIO(exported(library)))
    parts = {name: archive.read(name) for name in archive.namelist()}
    token = mint()
    answer = post(token, rezipped({**parts, "items.jsonl": b"\n" * 10_000_000}))
    started = time.process_time()
    run_jobs()
    assert time.process_time() - started < 2
    told = state_of(token, answer)
    assert (told["state"], told["failed"], len(told["problems"])) == ("failed", 100, 100)
    assert (told["problems"][99]["file"], told["problems"][99]["line"]) == ("items.jsonl", 100)
    assert "More than 100 lines" in told["error"]


def test_an_import_that_is_cancelled_ends_and_keeps_what_came(
    library: Access, add: Add, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        add(f"Note {number}")
    archive = exported(library)
    wipe(library)
    monkeypatch.setattr(importing, "_BATCH_ITEMS", 2)
    monkeypatch.setattr(archive_imports, "SAVED_EVERY_SEC", 0)
    token = mint()
    answer = post(token, archive)
    path = f"/api/v1/imports/{answer.json()['id']}"
    restore = item_restore.restore_batch

    def cancel_then_restore(*args: Any) -> Any:
        token.client.delete(path)
        return restore(*args)

    monkeypatch.setattr(item_restore, "restore_batch", cancel_then_restore)
    run_jobs()
    assert state_of(token, answer)["state"] == "cancelled"
    assert Item.objects.count() == 2
    assert token.client.delete(path).json()["state"] == "cancelled"


def test_an_import_is_known_to_the_token_that_sent_it_alone(
    library: Access, mint: Mint, stranger: User
) -> None:
    begun = post(mint(name="one"), exported(library)).json()["id"]
    for token in (mint(name="other"), mint(by=stranger)):
        for method in ("GET", "DELETE"):
            answer = token.client.generic(method, f"/api/v1/imports/{begun}")
            assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_more_imports_than_three_are_not_kept_waiting(library: Access, mint: Mint) -> None:
    token, archive = mint(), exported(library)
    statuses = [post(token, archive).status_code for _ in range(4)]
    assert statuses == [202, 202, 202, 409]
    run_jobs()
    assert post(token, archive).status_code == 202


def test_a_lost_import_is_sent_again(library: Access, mint: Mint) -> None:
    token = mint()
    answer = post(token, exported(library))
    dramatiq.get_broker().flush_all()
    ArchiveImport.objects.update(changed_at=timezone.now() - timedelta(hours=1))
    archive_imports.sweep_archives.fn()
    run_jobs()
    assert state_of(token, answer)["state"] == "done"


@pytest.mark.parametrize("through", ["view", "server"])
def test_another_kind_of_body_is_refused(mint: Mint, through: str) -> None:
    token = mint()
    answer: Any
    if through == "view":
        answer = token.client.post("/api/v1/import", {"a": 1}, format="json")
    else:
        answer = asked(token, "POST", "import", json={"a": 1})
    assert (answer.status_code, answer.json()["error"]) == (415, "unsupported_media")


def answered_without_a_body(token: Minted | None) -> tuple[int, Any, set[bytes]]:
    """What is said to a caller who announces an archive and never begins to send it."""
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/import",
        "query_string": b"",
        "headers": [
            (b"host", b"testserver"),
            (b"content-type", ZIP.encode()),
            (b"transfer-encoding", b"chunked"),
        ],
    }
    if token:
        scope["headers"] += [(b"authorization", f"Bearer {token.secret}".encode())]
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def serve() -> None:
        async with asyncio.timeout(30):
            await application(scope, receive, send)

    async_to_sync(serve)()
    return sent[0]["status"], json.loads(sent[1]["body"]), {name for name, _ in sent[0]["headers"]}


def test_whoever_may_not_import_is_refused_before_the_body_is_read(
    library: Access, mint: Mint, folder: Callable[[str], Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "SECONDS", 0)
    for token, status, error in [
        (None, 401, "missing_bearer_token"),
        (mint(write=False), 403, "capability_denied"),
        (mint(folder("A")), 403, "capability_denied"),
    ]:
        answer = answered_without_a_body(token)
        assert (answer[0], answer[1]["error"]) == (status, error)
        assert (b"WWW-Authenticate" in answer[2]) == (status == 401)
    recorded = Event.objects.filter(action="import").values_list("outcome", flat=True)
    assert list(recorded) == ["capability_denied", "capability_denied"]


@pytest.mark.parametrize("is_announced", [True, False])
def test_an_archive_beyond_the_limit_is_refused(
    mint: Mint, settings: Settings, is_announced: bool
) -> None:
    settings.QUARRY_MAX_UPLOAD_MB = 1

    async def unannounced() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 500_000

    content = b"x" * 1_500_000 if is_announced else unannounced()
    answer = asked(mint(), "POST", "import", content=content, headers={"content-type": ZIP})
    assert (answer.status_code, answer.json()["error"]) == (413, "payload_too_large")
    assert answer.json()["max_bytes"] == 1_000_000
    assert answer.headers["x-request-id"]


def test_a_sender_who_falls_silent_is_not_waited_for(
    mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_gate, "SILENCE_SEC", 0)
    monkeypatch.setattr(entry, "SECONDS", 0)
    status, body, headers = answered_without_a_body(mint())
    assert (status, body["error"]) == (400, "invalid_body")
    assert "Nothing came" in body["message"]
    assert b"x-request-id" in headers


@pytest.mark.usefixtures("stopped_clock")
def test_ten_exports_and_ten_imports_an_hour(
    library: Access, mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_imports, "MAX_UNFINISHED", 20)
    token, archive = mint(), exported(library)
    assert [get(token).status_code for _ in range(11)] == [200] * 10 + [429]
    assert [post(token, archive).status_code for _ in range(11)] == [202] * 10 + [429]


def test_what_was_exported_and_imported_is_on_record(library: Access, mint: Mint) -> None:
    token = mint()
    get(token)
    post(token, exported(library))
    recorded = Event.objects.order_by("pk").values_list("action", "outcome")
    assert list(recorded) == [("export", "ok"), ("import", "ok")]
