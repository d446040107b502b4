"""Three steps: ask for an address, put the file there, make it an item."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
import pytest
import time_machine
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from config.asgi import application
from knowledge.api import upload_app
from knowledge.errors import QuotaExceeded
from knowledge.ingest import adding_files, sweeps
from knowledge.ingest.adding_files import add_file
from knowledge.ingest.uploads import FINISH_WITHIN, PUT_WITHIN, clean_filename
from knowledge.models import Content, Folder, Item, Upload
from knowledge.storage import S3Store, leftovers, live_store
from tests.support.library import Mint
from tests.support.one_connection import share_connection
from tests.support.rollback import each_case
from tests.support.threads import in_threads
from tests.support.uploads import NOTES, TEXT, begin, begun, finish, put, stored

PDF = b"%PDF-1.4\n% never read in these tests\n"


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.QUARRY_HOME = tmp_path
    return tmp_path


@pytest.fixture(autouse=True)
def one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's rows are seen only by its own connection, which must not be closed."""
    share_connection(monkeypatch)


def files_in(home: Path) -> list[Path]:
    return [path for path in (home / "files").rglob("*") if path.is_file()]


# The whole way ---------------------------------------------------------------------------


def test_a_file_becomes_an_item_in_three_steps(mint: Mint, home: Path) -> None:
    token = mint()
    address = begun(token)
    assert (address["method"], address["headers"]) == ("PUT", {"Content-Type": TEXT})
    assert address["max_bytes"] == 500_000_000
    assert urlsplit(address["signed_url"]).netloc == "testserver"
    assert put(address) == (200, {"upload_id": address["upload_id"], "size": len(NOTES)})
    [kept] = files_in(home)
    assert kept.read_bytes() == NOTES

    status, added = finish(token, address, title="Standup", tags=["team"])
    assert status == 201
    item = Item.objects.get(pk=added["user_item_id"])
    assert (item.title, item.tags) == ("Standup", ["team"])
    upload = Upload.objects.get()
    assert (upload.state, upload.content_id) == ("finished", item.content_id)
    assert files_in(home) == [kept]


def test_to_finish_twice_answers_the_same_item(mint: Mint) -> None:
    token = mint()
    address = stored(token)
    first = finish(token, address)
    with time_machine.travel(timezone.now() + 2 * FINISH_WITHIN):
        again = finish(token, address, title="Another title")
    assert first[0] == again[0] == 201
    assert first[1]["user_item_id"] == again[1]["user_item_id"]
    assert Item.objects.count() == Content.objects.count() == 1


def test_a_file_is_filed_where_the_token_files(mint: Mint, folder: Callable[[str], Folder]) -> None:
    shelf = folder("Shelf")
    token = mint(shelf)
    _, added = finish(token, stored(token))
    assert added["folder_id"] == str(shelf.pk)


def test_behind_a_public_address_files_are_put_there(mint: Mint, settings: Settings) -> None:
    settings.QUARRY_PUBLIC_URL = "https://kb.example.org/quarry"
    signed = begun(mint())["signed_url"]
    assert signed.startswith("https://kb.example.org/quarry/api/v1/uploads/")


# The first step --------------------------------------------------------------------------


@each_case(
    "asked, status, error, says",
    [
        ({"mime_type": "application/x-msdownload"}, 415, "unsupported_media", "msdownload"),
        ({"mime_type": "text/xml"}, 415, "unsupported_media", "text/xml"),
        (
            {"filename": "blob", "mime_type": "application/octet-stream"},
            415,
            "unsupported_media",
            "octet-stream",
        ),
        ({"filename": "tools.ZIP"}, 415, "unsupported_media", ".zip are not read"),
        ({"filename": "letter.doc"}, 415, "unsupported_media", "as PDF, DOCX"),
        ({"filename": "a.exe", "mime_type": "application/pdf"}, 415, "unsupported_media", ".exe"),
        ({"mime_type": ""}, 400, "invalid_body", "mime_type"),
        ({"size": 500_000_001}, 413, "payload_too_large", "500,000,000"),
        ({"size": 10**30}, 413, "payload_too_large", "500,000,000"),
        ({"size": 0}, 400, "invalid_body", "at least 1"),
        ({"size": -5}, 400, "invalid_body", "at least 1"),
        ({"size": "many"}, 400, "invalid_body", "size"),
        ({"filename": ""}, 400, "invalid_body", "filename"),
        ({"filename": "folder/"}, 400, "invalid_body", "filename"),
        ({"filename": "x" * 256}, 400, "invalid_body", "filename"),
        ({"content_type": TEXT}, 400, "invalid_body", "content_type"),
    ],
)
def test_a_file_that_cannot_be_taken_is_refused_before_it_is_sent(
    mint: Mint, asked: dict[str, Any], status: int, error: str, says: str
) -> None:
    answered, body = begin(mint(), **asked)
    assert (answered, body["error"]) == (status, error)
    assert says in body["message"]
    assert not Upload.objects.exists()


def test_the_largest_file_is_a_setting(mint: Mint, settings: Settings) -> None:
    settings.QUARRY_MAX_UPLOAD_MB = 1
    assert begin(mint(), size=1_000_000)[0] == 201
    status, body = begin(mint(), size=1_000_001)
    assert (status, body["max_bytes"]) == (413, 1_000_000)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("notes.txt", "notes.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\notes.txt", "notes.txt"),
        ("  two\n lines\x00.txt ", "two lines .txt"),
        ("exe\u202etxt.pdf", "exe txt.pdf"),
        ("Über 永和.pdf", "Über 永和.pdf"),
    ],
)
def test_of_a_file_name_only_the_bare_name_is_kept(sent: str, kept: str) -> None:
    assert clean_filename(sent) == kept


def test_a_token_that_may_not_write_may_not_upload(mint: Mint) -> None:
    reader, writer = mint(write=False), mint()
    assert begin(reader)[0] == 403
    assert finish(reader, stored(writer))[0] == 403


@pytest.mark.usefixtures("stopped_clock")
def test_uploads_have_limits_of_their_own(mint: Mint) -> None:
    token = mint()
    assert [begin(token)[0] for _ in range(31)] == [201] * 30 + [429]
    assert finish(token, {"upload_id": str(uuid4())})[0] == 404


# The file --------------------------------------------------------------------------------


def test_a_signature_that_was_tampered_with_opens_nothing(mint: Mint, home: Path) -> None:
    token = mint()
    address, other = begun(token), begun(token)
    signed = address["signed_url"]
    signature = signed.rpartition("=")[2]
    tampered = [
        signed[:-1],
        signed.replace(signature, ""),
        signed.partition("?")[0],
        signed.replace(address["upload_id"], str(uuid4())),
        signed.replace(address["upload_id"], other["upload_id"]),
        f"{signed}%ff",
    ]
    answers = [put(address, url=url) for url in tampered]
    assert {(status, body["error"], body["message"]) for status, body in answers} == {
        (404, "not_found", answers[0][1]["message"])
    }
    status, body = put(address, url=signed.replace(address["upload_id"], "not-an-id"))
    assert (status, body["error"]) == (400, "invalid_id")
    assert files_in(home) == []
    assert put(address)[0] == 200


def test_a_secret_key_that_is_no_more_opens_nothing(mint: Mint, settings: Settings) -> None:
    address = begun(mint())
    settings.SECRET_KEY = "another"
    assert put(address)[0] == 404


def test_an_address_can_be_used_for_minutes(mint: Mint, home: Path) -> None:
    token = mint()
    address = begun(token)
    with time_machine.travel(timezone.now() + PUT_WITHIN):
        status, body = put(address)
    assert (status, body["error"], body["reason"]) == (409, "conflict", "expired")
    assert files_in(home) == []


def test_an_address_is_good_for_one_file(mint: Mint, home: Path) -> None:
    token = mint()
    address = stored(token)
    status, body = put(address, b"x" * len(NOTES))
    assert (status, body["error"], body["reason"]) == (409, "conflict", "stored")
    finish(token, address)
    assert put(address)[0] == 409
    [kept] = files_in(home)
    assert kept.read_bytes() == NOTES


@pytest.mark.parametrize("is_streamed", [False, True], ids=["length told", "length not told"])
@pytest.mark.parametrize(
    ("data", "status", "error"),
    [
        (NOTES + b"!", 413, "payload_too_large"),
        (NOTES * 100_000, 413, "payload_too_large"),
        (NOTES[:-1], 400, "invalid_body"),
        (b"", 400, "invalid_body"),
    ],
    ids=["one more", "far more", "one less", "none"],
)
def test_a_file_of_another_size_is_not_kept_and_may_be_put_again(
    mint: Mint, home: Path, is_streamed: bool, data: bytes, status: int, error: str
) -> None:
    address = begun(mint())

    async def stream() -> AsyncIterator[bytes]:
        for at in range(0, len(data), 65_536):
            yield data[at : at + 65_536]

    answered, body = put(address, content=stream() if is_streamed else data)
    assert (answered, body["error"]) == (status, error)
    assert files_in(home) == []
    assert put(address)[0] == 200


@pytest.mark.parametrize("sent", ["application/pdf", "", "text/plainly"])
def test_a_file_of_another_type_than_announced_is_refused(mint: Mint, sent: str) -> None:
    address = begun(mint())
    status, body = put(address, headers={"Content-Type": sent} if sent else {})
    assert (status, body["error"]) == (415, "unsupported_media")
    assert TEXT in body["message"]
    assert put(address, headers={"Content-Type": "Text/Plain; charset=utf-8"})[0] == 200


def test_a_client_that_leaves_half_way_leaves_nothing(mint: Mint, home: Path) -> None:
    address = begun(mint())
    messages: Iterator[Any] = iter(
        [
            {"type": "http.request", "body": NOTES[:10], "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    assert served(address, messages) == []
    assert files_in(home) == []
    assert put(address)[0] == 200


def test_a_client_that_stalls_is_told_and_leaves_nothing(
    mint: Mint, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_app, "SILENCE_SEC", 0)
    sent = served(begun(mint()), iter(()))
    assert sent[0]["status"] == 400
    assert files_in(home) == []


def test_of_two_files_that_race_one_is_kept(mint: Mint, home: Path) -> None:
    address = begun(mint())
    rival = b"x" * len(NOTES)

    def messages() -> Iterator[Any]:
        yield {"type": "http.request", "body": rival[:10], "more_body": True}
        assert put_now(address) == 200  # while the rival is on its way
        yield {"type": "http.request", "body": rival[10:], "more_body": False}

    def put_now(address: Any) -> int:
        upload = Upload.objects.get(pk=address["upload_id"])
        live_store().put(upload.key, NOTES)
        Upload.objects.filter(pk=upload.pk).update(state="stored")
        return 200

    sent = served(address, messages())
    assert sent[0]["status"] == 409
    assert json.loads(sent[1]["body"])["reason"] == "stored"
    [kept] = files_in(home)
    assert kept.read_bytes() == NOTES


def served(address: Any, messages: Iterator[Any]) -> list[Any]:
    """What the application sends for these messages; when they end, the client is silent."""
    url = urlsplit(address["signed_url"])
    scope = {
        "type": "http",
        "method": "PUT",
        "path": url.path,
        "query_string": url.query.encode(),
        "headers": [(b"host", b"testserver"), (b"content-type", TEXT.encode())],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        message = await sync_to_async(lambda: next(messages, None))()
        return message or await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async_to_sync(application)(scope, receive, send)
    return sent


def test_only_a_put_to_a_host_of_ours_is_served(mint: Mint) -> None:
    address = begun(mint())
    status, body = put(address, method="POST")
    assert (status, body["error"]) == (405, "method_not_allowed")
    elsewhere = address["signed_url"].replace("testserver", "evil.example")
    status, body = put(address, url=elsewhere)
    assert (status, body["error"]) == (400, "invalid_body")


def test_a_file_may_be_larger_than_any_other_body(mint: Mint, home: Path) -> None:
    data = b"a line of notes\n" * 1_000_000
    address = begun(mint(), size=len(data))
    assert put(address, data)[0] == 200
    assert files_in(home)[0].stat().st_size == len(data)


# The last step ---------------------------------------------------------------------------


def test_an_upload_is_finished_only_by_the_token_that_began_it(mint: Mint, stranger: User) -> None:
    token = mint()
    address = stored(token)
    missing = finish(token, {"upload_id": str(uuid4())})
    for other in (mint(), mint(by=stranger)):
        status, body = finish(other, address)
        assert (status, body["error"]) == (404, "not_found")
        assert body["message"] == missing[1]["message"]
    assert finish(token, address)[0] == 201
    assert finish(mint(), address)[0] == 404


def test_an_upload_whose_file_is_not_there_yet_is_not_finished(mint: Mint) -> None:
    token = mint()
    status, body = finish(token, begun(token))
    assert (status, body["error"], body["reason"]) == (409, "conflict", "empty")
    assert "PUT" in body["message"]


def test_an_upload_must_be_finished_in_time(mint: Mint) -> None:
    token = mint()
    address = stored(token)
    with time_machine.travel(timezone.now() + FINISH_WITHIN):
        status, body = finish(token, address)
    assert (status, body["error"], body["reason"]) == (409, "conflict", "expired")
    assert not Item.objects.exists()


def test_a_file_that_is_not_what_it_was_said_to_be_is_refused(mint: Mint) -> None:
    token = mint()
    address = stored(token, b"MZ\x90\x00 not a document at all", mime_type="application/pdf")
    status, body = finish(token, address)
    assert (status, body["error"]) == (415, "unsupported_media")
    assert not Item.objects.exists()


@pytest.mark.parametrize(
    ("mime_type", "wrong", "right"),
    [
        ("application/pdf", "finalize", "finalize-document"),
        (TEXT, "finalize", "finalize-document"),
        ("audio/mpeg", "finalize-document", "finalize"),
        ("video/mp4", "finalize-document", "finalize"),
    ],
)
def test_the_wrong_route_names_the_right_one(
    mint: Mint, mime_type: str, wrong: str, right: str
) -> None:
    token = mint()
    status, body = finish(token, stored(token, PDF, mime_type=mime_type), wrong)
    assert (status, body["error"]) == (415, "unsupported_media")
    assert body["message"].endswith(f"POST /api/v1/uploads/{right}.")


@pytest.mark.parametrize(
    ("filename", "declared", "kept"),
    [
        ("notes.md", TEXT, "text/markdown"),
        ("notes.md", "text/x-markdown", "text/markdown"),
        ("notes", TEXT, TEXT),
    ],
)
def test_the_type_is_kept_by_its_proper_name(
    mint: Mint, filename: str, declared: str, kept: str
) -> None:
    token = mint()
    address = stored(token, filename=filename, mime_type=declared)
    assert finish(token, address)[0] == finish(token, address)[0] == 201
    assert Upload.objects.get().media_type == kept
    assert put(address)[0] == 409


@each_case(
    "filename, declared, sent",
    [
        ("main.py", "text/x-python", "text/x-python"),
        ("main.py", "application/octet-stream", TEXT),
        ("app.js", "application/javascript", "application/javascript"),
        ("app.js", "text/javascript; charset=utf-8", "text/javascript"),
        ("app.ts", "video/mp2t", TEXT),
        ("main.rs", "application/octet-stream", TEXT),
        ("deploy.sh", "application/x-sh", "application/x-sh"),
        ("settings.yaml", "application/yaml", "application/yaml"),
        ("Makefile", "text/x-makefile", "text/x-makefile"),
    ],
)
def test_code_that_the_command_takes_is_taken_over_rest(
    mint: Mint, tmp_path: Path, filename: str, declared: str, sent: str
) -> None:
    token, code = mint(), b"def cut(stone):\n    return stone.split()  # along its grain\n"
    address = stored(token, code, filename=filename, mime_type=declared)
    assert address["headers"] == {"Content-Type": sent}
    assert finish(token, address)[0] == 201
    (tmp_path / filename).write_bytes(code)
    added = add_file(token.access, tmp_path / filename).item
    assert {upload.media_type for upload in Upload.objects.all()} == {TEXT}
    assert added.content.kind == "text"


def test_what_refused_to_become_an_item_may_be_finished_again(
    mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> Item:
        Content.objects.create(owner_id=token.row.owner_id, title="half made")
        raise QuotaExceeded("No minutes are left.", resource="minutes")

    token = mint()
    address = stored(token)
    with monkeypatch.context() as patch:
        patch.setattr(adding_files, "add_upload", refuse)
        status, body = finish(token, address)
    assert (status, body["error"]) == (402, "quota_exceeded")
    assert not Content.objects.exists()
    assert finish(token, address)[0] == 201


@pytest.mark.django_db(transaction=True)
def test_two_who_finish_at_once_make_one_item(mint: Mint) -> None:
    token = mint()
    address = stored(token)
    answers: list[Any] = []
    in_threads([lambda: answers.append(finish(token, address))] * 3)
    assert {status for status, _ in answers} == {201}
    assert len({body["user_item_id"] for _, body in answers}) == 1
    assert Item.objects.count() == 1


def test_an_upload_id_that_is_none_is_refused(mint: Mint) -> None:
    status, body = finish(mint(), {"upload_id": "latest"})
    assert (status, body["error"], body["field"]) == (400, "invalid_id", "upload_id")


# What is left over -----------------------------------------------------------------------


def test_what_nobody_finished_is_swept_with_its_file(mint: Mint, home: Path) -> None:
    token = mint()
    finished, abandoned, fileless = stored(token), stored(token), begun(token)
    finish(token, finished)
    sweeps.sweep_uploads.fn()
    assert Upload.objects.count() == 3
    with time_machine.travel(timezone.now() + FINISH_WITHIN):
        sweeps.sweep_uploads.fn()
        sweeps.sweep_uploads.fn()
    assert [str(pk) for pk in Upload.objects.values_list("pk", flat=True)] == [
        finished["upload_id"]
    ]
    assert [path.name for path in files_in(home)] == [finished["upload_id"]]
    for swept in (abandoned, fileless):
        assert finish(token, swept)[0] == 404
        assert put(swept)[0] == 404


def test_a_file_goes_once_its_content_is_gone_and_not_before(mint: Mint, home: Path) -> None:
    token = mint()
    address = stored(token)
    _, added = finish(token, address)
    sweeps.remove_stored_file.fn(address["upload_id"])
    assert len(files_in(home)) == 1

    Item.objects.all().delete()
    Content.objects.filter(pk=added["content_id"]).delete()
    assert finish(token, address)[0] == 404
    sweeps.remove_stored_file.fn(address["upload_id"])
    sweeps.remove_stored_file.fn(address["upload_id"])
    assert files_in(home) == []
    assert not Upload.objects.exists()


def test_a_sweep_that_died_half_way_goes_on(mint: Mint, home: Path) -> None:
    token = mint()
    stored(token)
    [kept] = files_in(home)
    kept.unlink()
    with time_machine.travel(timezone.now() + FINISH_WITHIN):
        assert leftovers.remove_expired() == 1
        assert leftovers.remove_expired() == 0


# A bucket --------------------------------------------------------------------------------


def test_with_a_bucket_files_never_pass_through_here(
    mint: Mint, bucket: S3Store, home: Path
) -> None:
    token = mint()
    address = begun(token)
    assert address["signed_url"].startswith(bucket._client.meta.endpoint_url)
    assert finish(token, address)[1]["reason"] == "empty"
    headers = {**address["headers"]}
    for expected in (200, 412):
        answer = httpx2.put(address["signed_url"], headers=headers, content=NOTES)
        assert answer.status_code == expected
    status, added = finish(token, address)
    assert status == 201
    assert finish(token, address)[1]["user_item_id"] == added["user_item_id"]
    with bucket.local_copy(Upload.objects.get().key) as path:
        assert path.read_bytes() == NOTES
    assert files_in(home) == []


def test_a_file_in_the_bucket_is_checked_for_size_and_kind(mint: Mint, bucket: S3Store) -> None:
    token = mint()
    longer = begun(token)
    bucket.put(Upload.objects.get().key, NOTES * 2)
    status, body = finish(token, longer)
    assert (status, body["reason"]) == (409, "wrong_size")
    other = begun(token, mime_type="application/pdf", filename="a.pdf")
    bucket.put(Upload.objects.get(pk=other["upload_id"]).key, NOTES)
    assert finish(token, other)[0] == 415


def test_with_a_bucket_the_route_of_files_is_not_there(mint: Mint, settings: Settings) -> None:
    address = begun(mint())
    settings.QUARRY_S3_BUCKET = "originals"
    settings.QUARRY_S3_ACCESS_KEY = settings.QUARRY_S3_SECRET_KEY = "testing"
    assert put(address)[0] == 404


def test_a_sweep_empties_the_bucket_of_what_nobody_finished(mint: Mint, bucket: S3Store) -> None:
    begun(mint())
    key = Upload.objects.get().key
    bucket.put(key, NOTES)
    with time_machine.travel(timezone.now() + FINISH_WITHIN, tick=True):
        assert leftovers.remove_expired() == 1
    assert bucket.size_of(key) is None
