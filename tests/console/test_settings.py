"""Settings: what is left, the library out and in, and what keeps the account safe."""

import io
import zipfile

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from knowledge.access import Access
from knowledge.exchange.actors import make_export
from knowledge.models import ArchiveImport, Export, Item, Tier, Usage
from tests.support.adding import run_jobs
from tests.support.exchange import exported, wipe
from tests.support.library import Add


def archive_file(archive: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("library.zip", archive, content_type="application/zip")


def test_what_is_used_and_left_is_told(visitor: Client, owner: User, stranger: User) -> None:
    Tier.objects.create(name="free", minutes_per_month=100, is_default=True)
    Usage.objects.create(owner=owner, month="2026-10-01", answers=7, answers_cost_usd="0.42")
    Usage.objects.create(owner=stranger, month="2026-10-01", answers=999)
    page = visitor.get("/settings/").content.decode()
    assert "0 of 100 minutes, 100 left (free)" in page
    assert "60 of 60 left" in page
    assert "$0.42" in page
    assert "999" not in page
    assert "You have no second factor" in page


def test_a_library_goes_out_and_comes_in_again(
    visitor: Client, other_visitor: Client, library: Access, add: Add
) -> None:
    item = add("Granite")
    answer = visitor.get("/settings/export")
    archive = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert "Granite" in str(zipfile.ZipFile(io.BytesIO(archive)).namelist())
    empty = b"".join(other_visitor.get("/settings/export").streaming_content)  # type: ignore[attr-defined]
    assert "Granite" not in str(zipfile.ZipFile(io.BytesIO(empty)).namelist())
    wipe(library)

    page = visitor.post("/settings/import", {"archive": archive_file(archive)}, follow=True)
    assert "Your import has begun" in page.content.decode()
    assert "waits for its turn" in page.content.decode()
    run_jobs()

    assert "1 item came in" in visitor.get("/settings/imports").content.decode()
    assert Item.objects.get().title == item.title
    assert visitor.post(f"/undo/{ArchiveImport.objects.get().action_id}").status_code < 400
    assert not Item.objects.exists()


def test_an_import_is_cancelled_on_the_page(visitor: Client, library: Access, add: Add) -> None:
    add("Granite")
    visitor.post("/settings/import", {"archive": archive_file(exported(library))})
    visitor.post(f"/settings/imports/{ArchiveImport.objects.get().pk}/cancel")
    assert "cancelled" in visitor.get("/settings/").content.decode()


def test_an_export_is_made_while_the_page_tells_how_far_it_is(
    visitor: Client, other_visitor: Client, library: Access, add: Add
) -> None:
    add("Granite")
    page = visitor.post("/settings/export", follow=True).content.decode()
    assert "waiting for its turn" in page
    assert 'hx-get="/settings/exports"' in page
    export = Export.objects.get()
    link = f"/settings/exports/{export.pk}/file"
    assert visitor.get(link).status_code == 409
    make_export.fn(str(export.pk))
    part = visitor.get("/settings/exports").content.decode()
    assert link in part
    assert "hx-get" not in part
    archive = b"".join(visitor.get(link).streaming_content)  # type: ignore[attr-defined]
    assert archive == exported(library)
    assert other_visitor.get(link).status_code == 404
    assert "Export of" not in other_visitor.get("/settings/").content.decode()


def test_what_is_no_archive_is_refused_in_place(visitor: Client, library: Access) -> None:
    for sent in ({}, {"archive": archive_file(b"")}, {"archive": archive_file(b"no zip")}):
        answer = visitor.post("/settings/import", sent)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.content.decode()


def test_lines_that_could_not_be_taken_are_told(visitor: Client, library: Access, add: Add) -> None:
    add("Granite")
    parts = zipfile.ZipFile(io.BytesIO(exported(library)))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as broken:
        for name in parts.namelist():
            data = b"<script>\n" if name == "relations.jsonl" else parts.read(name)
            broken.writestr(name, data)
    visitor.post("/settings/import", {"archive": archive_file(out.getvalue())})
    run_jobs()
    said = visitor.get("/settings/").content.decode()
    assert "relations.jsonl:1" in said
    assert "<script>\n" not in said


def test_a_second_factor_and_sessions_are_shown(visitor: Client, owner: User) -> None:
    from allauth.mfa.models import Authenticator

    Authenticator.objects.create(user=owner, type="totp", data={})
    page = visitor.get("/settings/").content.decode()
    assert "an authenticator app" in page
    assert "Sign out elsewhere" in page


def test_settings_are_for_people_who_signed_in(client: Client) -> None:
    for page in ("/settings/", "/settings/export", "/ask/", "/memory/", "/registry/"):
        answer = client.get(page)
        assert answer.status_code == 302
        assert answer["Location"].startswith("/accounts/login/")
