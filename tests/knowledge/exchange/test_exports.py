"""Exports as files: asked for over REST, made by a job, downloaded by a link, removed in time."""

import io
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.exchange import actors, exports
from knowledge.jobs import stuck_rows
from knowledge.models import Export, ExportState, Folder, Job
from knowledge.storage import LocalStore, live_store
from tests.support.exchange import exported, fill
from tests.support.job_table import send_to_the_table
from tests.support.library import Add, Mint, Minted
from tokens.models import Token


@pytest.fixture(autouse=True)
def own_files(settings: Settings, tmp_path: Path) -> None:
    settings.QUARRY_HOME = tmp_path


def start(token: Minted) -> dict[str, Any]:
    answer = token.client.post("/api/v1/export")
    assert answer.status_code == 202, answer.content
    told: dict[str, Any] = answer.json()
    return told


def state_of(token: Minted, export_id: str) -> dict[str, Any]:
    told: dict[str, Any] = token.client.get(f"/api/v1/exports/{export_id}").json()
    return told


def run_job(export_id: str) -> None:
    actors.make_export.fn(export_id)


def download(url: str, **headers: str) -> Any:
    parts = urlsplit(url)
    return Client().get(f"{parts.path}?{parts.query}", headers=headers)


def test_an_export_is_asked_for_made_and_downloaded(library: Access, mint: Mint) -> None:
    fill(library)
    token = mint(write=False)
    begun = start(token)
    assert (begun["state"], begun["items_total"], begun["file_url"]) == ("queued", 6, None)
    run_job(begun["id"])
    made = state_of(token, begun["id"])
    assert (made["state"], made["items_done"], made["error"]) == ("ready", 6, "")
    answer = download(made["file_url"])
    body = b"".join(answer.streaming_content)
    assert body == exported(library)
    assert (answer["Content-Type"], len(body)) == ("application/zip", made["size"])
    assert answer["Content-Disposition"] == 'attachment; filename="quarry-export.zip"'
    part = download(made["file_url"], Range="bytes=10-19")
    assert (part.status_code, b"".join(part.streaming_content)) == (206, body[10:20])


def test_a_link_is_good_for_its_file_until_its_token_is_revoked(
    library: Access, mint: Mint, add: Add
) -> None:
    add("Granite")
    token = mint()
    first, other = start(token), start(mint())
    for each in (first, other):
        run_job(each["id"])
    url = exports.sign_export(Export.objects.get(pk=first["id"]))
    foreign = f"/api/v1/exports/{other['id']}/file?signature={url}"
    assert download(foreign).status_code == 404
    assert download(f"/api/v1/exports/{first['id']}/file?signature=x").status_code == 404
    assert download(f"/api/v1/exports/{first['id']}/file").status_code == 400
    good = f"/api/v1/exports/{first['id']}/file?signature={url}"
    assert download(good).status_code == 200
    Token.objects.filter(pk=token.row.pk).revoke()
    assert download(good).status_code == 404
    assert Export.objects.get(pk=other["id"]).expires_at > timezone.now()


def test_only_who_asked_sees_it_and_only_with_the_reach_it_had(
    library: Access, stranger: User, mint: Mint, add: Add, folder: Any
) -> None:
    a, b = folder("A"), folder("B")
    add("in a", "", a)
    add("in b", "", b)
    token = mint(a, b)
    begun = start(token)
    run_job(begun["id"])
    archive = b"".join(download(state_of(token, begun["id"])["file_url"]).streaming_content)
    names = zipfile.ZipFile(io.BytesIO(archive)).namelist()
    assert sum(name.startswith("markdown/") for name in names) == 2
    for other in (mint(), mint(a), mint(by=stranger)):
        assert state_of(other, begun["id"])["error"] == "not_found"
    Folder.objects.filter(pk=b.pk).delete()
    assert state_of(token, begun["id"])["error"] == "not_found"


def test_a_job_that_was_killed_is_run_again_from_its_beginning(
    library: Access, mint: Mint, add: Add
) -> None:
    add("Granite")
    begun = start(mint())
    export_id = UUID(begun["id"])
    Export.objects.filter(pk=export_id).update(state=ExportState.WORKING, items_done=1)
    run_job(begun["id"])
    run_job(begun["id"])  # delivered twice
    assert Export.objects.get(pk=export_id).state == ExportState.READY


def test_a_lost_job_is_sent_again_and_a_dead_one_is_told(
    library: Access, mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_to_the_table(monkeypatch)
    add("Granite")
    begun = start(mint())
    assert any(begun["id"].encode() in bytes(job.message) for job in Job.objects.all())
    Job.objects.all().delete()
    long_ago = timezone.now() - 2 * stuck_rows.STUCK_AFTER
    Export.objects.update(changed_at=long_ago)
    actors.sweep_exports.fn()
    assert any(begun["id"].encode() in bytes(job.message) for job in Job.objects.all())
    Job.objects.update(state="dead", error="killed")
    actors.sweep_exports.fn()
    export = Export.objects.get()
    assert (export.state, export.error.split(";")[0]) == ("failed", "Its job died too often")


def test_a_full_disk_is_tried_again_and_then_told(
    library: Access, mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Granite")
    begun = start(mint())

    def fail(*args: object) -> None:
        raise ProviderUnavailable("The file store does not work at the moment.", may_pass=True)

    monkeypatch.setattr(LocalStore, "put", fail)
    monkeypatch.setattr(actors, "is_last_try", lambda: False)
    with pytest.raises(ProviderUnavailable):
        run_job(begun["id"])
    assert Export.objects.get().state == ExportState.WORKING
    monkeypatch.setattr(actors, "is_last_try", lambda: True)
    run_job(begun["id"])
    assert Export.objects.get().error == "The file store does not work at the moment."


def test_files_go_when_their_time_is_over_and_few_are_kept(
    library: Access, mint: Mint, add: Add
) -> None:
    add("Granite")
    token = mint()
    begun = []
    for _ in range(exports.MOST_KEPT + 1):
        begun.append(start(token)["id"])
        run_job(begun[-1])
    assert state_of(token, begun[0])["error"] == "not_found"
    keys = [export.key for export in Export.objects.order_by("created_at")]
    assert all(live_store().size_of(key) for key in keys)
    actors.sweep_exports.fn()
    assert [live_store().size_of(key) is None for key in keys] == [True, False, False, False]
    Export.objects.update(expires_at=timezone.now())
    actors.sweep_exports.fn()
    assert (Export.objects.count(), list((live_store().folder / "exports").iterdir())) == (0, [])  # type: ignore[attr-defined]


def test_so_many_are_made_at_once_and_no_more(library: Access, mint: Mint) -> None:
    tokens = [mint() for _ in range(exports.MAX_UNFINISHED + 1)]
    for token in tokens[:-1]:
        start(token)
    answer = tokens[-1].client.post("/api/v1/export")
    assert (answer.status_code, answer.json()["error"]) == (409, "conflict")


def test_a_large_library_is_not_sent_at_once(
    library: Access, mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Granite")
    monkeypatch.setattr(exports, "MAX_DIRECT_BYTES", 10)
    told = mint().client.get("/api/v1/export").json()
    assert (told["error"], told["reason"], told["items"]) == ("conflict", "too_large", 1)
    assert "POST /export" in told["message"]
    monkeypatch.setattr(exports, "MAX_DIRECT_ITEMS", 0)
    assert mint().client.get("/api/v1/export").status_code == 409


def test_what_is_sent_at_once_is_whole_before_its_first_byte_is_asked_for(
    library: Access, add: Add
) -> None:
    """Row 1: nothing is read from the database while the reader is waited for."""
    add("Granite")
    pieces = exports.export_small(library)
    with connection.execute_wrapper(refuse_statements):
        archive = b"".join(pieces)
    assert zipfile.ZipFile(io.BytesIO(archive)).testzip() is None


def refuse_statements(*args: object) -> None:
    raise AssertionError("A statement was sent while the answer was read.")
