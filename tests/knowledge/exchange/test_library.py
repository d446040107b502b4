"""A library out and in again: the same to the byte, and never more than its reader may have."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from knowledge.access import Access
from knowledge.errors import CapabilityDenied, Conflict, InvalidInput
from knowledge.exchange import importing, item_restore
from knowledge.exchange.importing import ImportReport
from knowledge.exchange.markdown_export import safe_cell
from knowledge.ingest.items import ItemOptions
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import create_folder, delete_item, retry_item
from knowledge.locks import Lock
from knowledge.models import Content, Delivery, Folder, IndexStatus, Item
from knowledge.storage.zips import Archive
from knowledge.undo import token_writes as undo
from tests.support.adding import run_jobs
from tests.support.exchange import (
    PAGE,
    add_content,
    exported,
    fill,
    imported,
    lines,
    members,
    rezipped,
    shared_page,
    state_of,
    wipe,
    with_lines,
)
from tests.support.index import faults
from tests.support.library import Add, Mint
from tests.support.rollback import each_case


@pytest.fixture
def theirs(stranger: User) -> Access:
    return Access.whole_library(stranger.pk)


# Round trips ----------------------------------------------------------------------------------


def test_a_library_comes_back_as_it_was_and_is_exported_to_the_same_bytes(library: Access) -> None:
    fill(library)
    run_jobs()
    before, first = state_of(library), exported(library)
    wipe(library)

    report = imported(library, first)

    assert report == ImportReport(folders=3, contents=6, items=6)
    run_jobs()
    assert state_of(library) == before
    assert exported(library) == first
    assert faults() == {}
    wipe(library)
    imported(library, exported(library))


def test_the_second_round_trip_into_another_library_is_identical(
    library: Access, theirs: Access
) -> None:
    fill(library)
    imported(theirs, exported(library))
    second = exported(theirs)
    wipe(theirs, shared=False)
    imported(theirs, second)
    assert exported(theirs) == second


def test_an_unchanged_library_is_always_the_same_bytes(library: Access) -> None:
    fill(library)
    first = exported(library)
    run_jobs()
    assert exported(library) == first


def test_an_empty_library_goes_out_and_in(library: Access, theirs: Access) -> None:
    assert imported(theirs, exported(library)) == ImportReport()


def test_an_archive_that_was_unpacked_and_zipped_again_is_taken(library: Access) -> None:
    fill(library)
    first = exported(library)
    wipe(library)
    assert imported(library, rezipped(dict(sorted(members(first).items())))).items == 6
    assert exported(library) == first


def test_what_was_imported_is_found_by_word_at_once_and_by_meaning_after_its_jobs(
    library: Access,
) -> None:
    fill(library)
    run_jobs()
    archive = exported(library)
    wipe(library)
    imported(library, archive)
    by_title = {item.title: item for item in Item.objects.select_related("content")}
    assert by_title["My rivers"].index_status == IndexStatus.KEYWORD
    assert by_title["Outside"].index_status == IndexStatus.NONE
    assert by_title["A failed file"].index_status == IndexStatus.FAILED
    assert by_title["A queued file"].content.error.startswith("Its text was not there yet")
    assert run_jobs().count("embed_item") == 3
    assert Item.objects.filter(index_status=IndexStatus.DONE).count() == 3


def test_a_file_whose_original_stayed_behind_says_so_when_it_is_retried(library: Access) -> None:
    item_id = fill(library)["coming"].pk
    archive = exported(library)
    wipe(library)
    imported(library, archive)
    retry_item(library, item_id)
    run_jobs()
    content = Item.objects.get(pk=item_id).content
    assert (content.state, content.reason) == ("failed", "no_original")


def test_no_webhook_is_told_of_what_was_imported(library: Access) -> None:
    fill(library)
    archive = exported(library)
    wipe(library)
    before = Delivery.objects.count()
    imported(library, archive)
    assert Delivery.objects.count() == before


# Again, and over what is there ------------------------------------------------------------------


def test_importing_twice_is_importing_once(library: Access, theirs: Access) -> None:
    fill(library)
    archive = exported(library)
    for access in (library, theirs):
        imported(access, archive)
        again = imported(access, archive)
        assert (again.items, again.contents, again.folders, again.skipped) == (0, 0, 0, 6)


def test_what_changed_since_stays_as_it_is_and_what_is_gone_comes_back(library: Access) -> None:
    items = fill(library)
    archive = exported(library)
    update_item(library, items["talk"].pk, ItemChanges(title="Renamed"))
    delete_item(library, items["note"].pk)
    report = imported(library, archive)
    assert (report.items, report.skipped) == (1, 5)
    assert Item.objects.get(pk=items["talk"].pk).title == "Renamed"
    assert Item.objects.get(pk=items["note"].pk).folders.count() == 2


def test_a_folder_of_the_same_name_is_the_same_folder(library: Access, theirs: Access) -> None:
    fill(library)
    mine = create_folder(theirs, "RESEARCH/2024")
    report = imported(theirs, exported(library))
    assert report.folders == 2
    assert mine.items.count() == 1


def test_an_import_that_was_stopped_goes_on_when_it_is_run_again(
    library: Access, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        add(f"Note {number}")
    archive = exported(library)
    wipe(library)
    monkeypatch.setattr(importing, "_BATCH_ITEMS", 3)
    turns = iter([item_restore.restore_batch, item_restore.restore_batch])
    with monkeypatch.context() as patch:
        patch.setattr(item_restore, "restore_batch", lambda *args: next(turns)(*args))
        with pytest.raises(StopIteration):
            imported(library, archive)
    report = imported(library, archive)
    assert (report.items, report.skipped) == (1, 6)
    assert exported(library) == archive


def test_an_import_by_a_token_is_its_own_and_can_be_undone(
    library: Access, theirs: Access, mint: Mint, stranger: User
) -> None:
    fill(library)
    token = mint(by=stranger)
    imported(token.access, exported(library))
    assert set(Item.objects.filter(owner=stranger).values_list("added_by_token", flat=True)) == {
        token.row.pk
    }
    undo.undo(stranger.pk, token.row.pk, since=token.row.created_at)
    assert not Item.objects.filter(owner=stranger).exists()
    assert not Folder.objects.filter(owner=stranger).exists()


# What a token sees ------------------------------------------------------------------------------


def test_a_scoped_token_exports_what_it_sees_and_no_trace_of_the_rest(
    library: Access, theirs: Access, mint: Mint
) -> None:
    items = fill(library)
    folders = {folder.name: folder for folder in Folder.objects.all()}
    reading = folders["Lesestoff für später"]
    add_content(theirs, items["page"].content, ItemOptions(title="Theirs"))
    token = mint(reading, write=False)

    archive = exported(token.access)

    assert {line["id"] for line in lines(archive, "items.jsonl")} == {
        str(items["note"].pk),
        str(items["page"].pk),
    }
    [manifest] = lines(archive, "manifest.json")
    assert manifest["counts"] == {"folders": 1, "contents": 2, "items": 2}
    everything = b"\n".join(name.encode() + data for name, data in members(archive).items())
    hidden: list[Any] = [row for name, row in items.items() if name not in ("note", "page")]
    hidden += [*Item.objects.filter(owner_id=theirs.owner_id), folders["Research/2024"]]
    hidden += [row.content for row in hidden if isinstance(row, Item) and row.content.owner_id]
    for row in [*hidden, folders["Empty"]]:
        assert str(row.pk).encode() not in everything
        assert row.pk.hex[:12].encode() not in everything
    for secret in (b"Research", b"Empty", b"Stone Talk", str(token.row.pk).encode()):
        assert secret not in everything


def test_a_kb_only_token_exports_only_what_is_in_the_knowledge_base(
    library: Access, mint: Mint
) -> None:
    fill(library)
    archive = exported(mint(kb_only=True).access)
    assert len(lines(archive, "items.jsonl")) == 5
    assert b"Outside" not in b"".join(members(archive).values())


def test_a_scope_with_nothing_in_it_is_an_archive_with_nothing_in_it(
    library: Access, mint: Mint, folder: Callable[[str], Folder]
) -> None:
    fill(library)
    archive = exported(mint(folder("New")).access)
    assert lines(archive, "manifest.json")[0]["counts"]["items"] == 0


@pytest.mark.parametrize("shape", ["read_only", "scoped"])
def test_only_a_whole_library_token_that_may_write_imports(
    library: Access, mint: Mint, folder: Callable[[str], Folder], shape: str
) -> None:
    token = mint(write=False) if shape == "read_only" else mint(folder("One"))
    with pytest.raises(CapabilityDenied):
        imported(token.access, exported(library))


def test_a_kb_only_token_imports_into_the_knowledge_base(
    library: Access, stranger: User, mint: Mint
) -> None:
    fill(library)
    imported(mint(by=stranger, kb_only=True).access, exported(library))
    assert not Item.objects.filter(owner=stranger, in_kb=False).exists()


# What belongs to others --------------------------------------------------------------------------


def test_ids_that_another_owner_has_are_replaced_and_their_rows_are_not_touched(
    library: Access, theirs: Access
) -> None:
    fill(library)
    before, archive = state_of(library), exported(library)
    assert imported(theirs, archive).items == 6
    assert state_of(library) == before
    assert exported(library) == archive
    mine = set(Item.objects.filter(owner_id=theirs.owner_id).values_list("pk", flat=True))
    assert not mine & {UUID(pk) for pk in before}
    same = {"created_at", "chunks", "content.text", "tags", "folders"}
    told = [{name: row[name] for name in same} for row in before.values()]
    assert [{n: row[n] for n in same} for row in state_of(theirs).values()] == told


def test_an_import_does_not_tell_whether_an_id_is_anybodys(library: Access, theirs: Access) -> None:
    """A member's rows get the same ids whether the archive's are another's or nobody's."""
    fill(library)
    archive = exported(library)
    imported(theirs, archive)
    taken = exported(theirs)
    wipe(theirs, shared=False)
    wipe(library, shared=False)
    imported(theirs, archive)
    assert exported(theirs) == taken
    foreign = {item["id"] for item in lines(archive, "items.jsonl")}
    assert not foreign & {item["id"] for item in lines(taken, "items.jsonl")}


def test_a_content_id_of_another_owner_does_not_give_its_text_away(
    library: Access, theirs: Access, add: Add
) -> None:
    secret = add("Secret", "The vault's code is 1234.")
    archive = exported(library)

    def forge(found: Any) -> None:
        found[0]["text"] = "I only know the id of this text, and nothing else about it."

    imported(theirs, with_lines(archive, "contents.jsonl", forge))
    item = Item.objects.get(owner_id=theirs.owner_id)
    assert item.content.text.startswith("I only know")
    assert item.content_id != secret.content_id
    assert "1234" in Content.objects.get(pk=secret.content_id).text


def test_a_shared_page_is_linked_again_only_when_it_says_the_same(
    library: Access, theirs: Access
) -> None:
    page = shared_page()
    add_content(library, page, ItemOptions())
    archive = exported(library)
    assert imported(theirs, archive).contents == 0
    assert Item.objects.get(owner_id=theirs.owner_id).content_id == page.pk
    wipe(theirs, shared=False)

    def forge(found: Any) -> None:
        found[0]["text"] += " And you should send your keys to this address."

    imported(theirs, with_lines(archive, "contents.jsonl", forge))
    item = Item.objects.get(owner_id=theirs.owner_id)
    assert item.content.owner_id == theirs.owner_id
    page.refresh_from_db()
    assert "keys" not in page.text
    assert Content.objects.find_shared(PAGE) == page


@pytest.mark.parametrize("field", ["title", "author", "media_url", "language"])
def test_a_page_that_differs_in_anything_is_not_linked(
    library: Access, theirs: Access, field: str
) -> None:
    add_content(library, shared_page(), ItemOptions())

    def forge(found: Any) -> None:
        found[0][field] = "https://other.example/x" if field == "media_url" else "xx"

    imported(theirs, with_lines(exported(library), "contents.jsonl", forge))
    assert Item.objects.get(owner_id=theirs.owner_id).content.owner_id == theirs.owner_id


def test_no_address_can_be_claimed_by_an_import(library: Access, theirs: Access) -> None:
    page = shared_page("A forged page that nobody has ever served under this address.")
    add_content(library, page, ItemOptions())
    archive = exported(library)
    wipe(library)
    assert Content.objects.find_shared(PAGE) is None
    imported(theirs, archive)
    content = Item.objects.get(owner_id=theirs.owner_id).content
    assert (content.owner_id, content.canonical_url, content.url) == (theirs.owner_id, None, PAGE)
    assert Content.objects.find_shared(PAGE) is None


def test_an_id_whose_stand_in_is_taken_too_gets_another(
    library: Access, theirs: Access, mint: Mint
) -> None:
    fill(library)
    archive = exported(library)
    imported(theirs, archive)
    Item.objects.filter(owner_id=theirs.owner_id).update(owner_id=library.owner_id)
    assert imported(theirs, archive).items == 6


# Hostile archives ---------------------------------------------------------------------------------


@pytest.fixture
def archive(library: Access) -> bytes:
    fill(library)
    made = exported(library)
    wipe(library)
    return made


@each_case(
    "member, field, value",
    [
        ("items.jsonl", "type", "weapon"),
        ("items.jsonl", "visibility", "everybody"),
        ("items.jsonl", "tags", ["x"] * 51),
        ("items.jsonl", "tags", ["\x00"]),
        ("items.jsonl", "attributes", {"a": ["\x00"]}),
        ("items.jsonl", "attributes", {"\x00": 1}),
        ("items.jsonl", "attributes", {"a": float("inf")}),
        ("items.jsonl", "attributes", {"a": {"b": [float("nan")]}}),
        ("items.jsonl", "custom_title", "x" * 501),
        ("items.jsonl", "created_at", "0001-01-01T00:00:00+14:00"),
        ("items.jsonl", "created_at", "2024-01-01T00:00:00"),
        ("items.jsonl", "owner_id", 1),
        ("items.jsonl", "id", "1; DROP TABLE"),
        ("contents.jsonl", "text", "NUL\x00"),
        ("contents.jsonl", "text", "\ud800"),
        ("contents.jsonl", "url", "javascript:alert(1)"),
        ("contents.jsonl", "media_url", "file:///etc/passwd"),
        ("contents.jsonl", "duration_sec", float("nan")),
        ("contents.jsonl", "parts", [{"start": 5, "end": 9_999_999}]),
        ("contents.jsonl", "parts", [{"start": 5, "end": 2}]),
        ("contents.jsonl", "canonical_url", PAGE),
        ("contents.jsonl", "state", "working"),
        ("contents.jsonl", "cost_usd", "99999999.99"),
    ],
)
def test_a_line_that_breaks_a_rule_is_left_out_and_told(
    library: Access, archive: bytes, member: str, field: str, value: Any
) -> None:
    found = lines(archive, member)
    at = next(n for n, line in enumerate(found) if line.get("state", "ready") == "ready")
    found[at][field] = value
    data = "".join(json.dumps(line) + "\n" for line in found).encode()
    report = imported(library, rezipped({**members(archive), member: data}))
    assert report.items == 5
    assert (report.problems[0].file, report.problems[0].line) == (member, at + 1)
    assert field in report.problems[0].message or "JSON" in report.problems[0].message
    assert faults() == {}


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff\xfe", b"1e999"])
def test_a_line_that_is_no_record_is_left_out(library: Access, archive: bytes, line: bytes) -> None:
    parts = members(archive)
    parts["items.jsonl"] += line + b"\n"
    report = imported(library, rezipped(parts))
    assert (report.items, report.failed) == (6, 1)


def test_items_whose_content_is_missing_or_out_of_order_are_left_out(
    library: Access, archive: bytes
) -> None:
    missing = with_lines(archive, "contents.jsonl", lambda found: found[1:])
    assert (imported(library, missing).items, Item.objects.count()) == (5, 5)
    report = imported(library, with_lines(archive, "items.jsonl", lambda found: found[::-1]))
    assert report.items + report.skipped + report.failed == 6
    assert not Content.objects.filter(items=None).exists()


def test_the_same_lines_many_times_are_imported_once(library: Access, archive: bytes) -> None:
    twice = with_lines(archive, "items.jsonl", lambda found: [x for x in found for _ in range(120)])
    report = imported(library, twice)
    assert (report.items, report.skipped, report.failed) == (6, 6 * 119, 0)


def test_an_item_of_two_contents_is_of_the_first(library: Access, archive: bytes) -> None:
    def forge(found: Any) -> None:
        found[1]["id"] = found[0]["id"]

    report = imported(library, with_lines(archive, "items.jsonl", forge))
    assert (report.items, report.skipped) == (5, 1)


@pytest.mark.parametrize("line", [b"", b"x", b"{}"])
def test_an_archive_of_bad_lines_is_given_up_before_most_of_them_are_read(
    library: Access, archive: bytes, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    every_line = Archive.lines

    def count(self: Archive, name: str, *, longest: int) -> Iterator[bytes]:
        nonlocal read
        for each in every_line(self, name, longest=longest):
            read += 1
            yield each

    monkeypatch.setattr(Archive, "lines", count)
    parts = members(archive)
    parts["items.jsonl"] += (line + b"\n") * 100_000
    with pytest.raises(InvalidInput, match="More than 100 lines"):
        imported(library, rezipped(parts))
    assert read < 200


def test_an_import_stops_with_the_hundred_and_first_problem(
    library: Access, archive: bytes
) -> None:
    parts = members(archive)
    parts["items.jsonl"] += b"nonsense\n" * 500
    report = ImportReport()
    with pytest.raises(InvalidInput, match="More than 100 lines"):
        importing.import_library(library, io.BytesIO(rezipped(parts)), report=report)
    assert (report.failed, len(report.problems)) == (100, 100)


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"{}",
        b'{"format":"other","version":1,"counts":{"folders":0,"contents":0,"items":0}}',
        b'{"format":"quarry-export","version":2,"counts":{"folders":0,"contents":0,"items":0}}',
    ],
)
def test_an_archive_of_another_kind_or_version_is_refused(
    library: Access, archive: bytes, manifest: bytes
) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be imported: manifest\.json"):
        imported(library, rezipped({**members(archive), "manifest.json": manifest}))
    assert not Item.objects.exists()


def test_while_one_import_runs_another_into_the_same_library_is_refused(
    library: Access, archive: bytes
) -> None:
    lock = [Lock.IMPORT, library.owner_id]
    another = connection.copy()
    with another.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", lock)
        with pytest.raises(Conflict, match="Another import"):
            imported(library, archive)
        cursor.execute("SELECT pg_advisory_unlock(%s, %s)", lock)
    another.close()
    assert imported(library, archive).items == 6


# For people ---------------------------------------------------------------------------------------


def test_every_item_is_a_readable_file_below_its_folder(archive: bytes) -> None:
    files = {name: data for name, data in members(archive).items() if name.endswith(".md")}
    assert len(files) == 6
    assert all(name.startswith("markdown/") and ".." not in name for name in files)
    [name] = [name for name in files if "Harbour" in name]
    assert name.startswith("markdown/Lesestoff für später/Harbour at night 夜の港 ")
    text = files[name].decode()
    assert 'title: "../../Harbour at night: 夜の港"' in text
    assert 'tags: ["sea", "-1+1"]' in text
    assert 'folders: ["Lesestoff für später", "Research/2024"]' in text
    assert "# Harbour" in text
    talk = next(data.decode() for name, data in files.items() if "Stone Talk" in name)
    assert "## Summary\n\nStones differ.\n\n- Granite is hard." in talk
    assert 'source: "https://talks.example/1"' in talk


@pytest.mark.parametrize(
    "title", ["../../../etc/passwd", "CON", "a/b\\c:d", "...", "\u202egpj.exe"]
)
def test_no_title_leads_out_of_its_folder(add: Add, library: Access, title: str) -> None:
    add(title)
    [name] = [name for name in members(exported(library)) if name.endswith(".md")]
    assert name.count("/") == 2
    assert not set(name) & set('\\:*?"<>|\u202e')
    assert ".." not in name
    assert not name.split("/")[2].lower().startswith("con ")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝", "＠"])
def test_no_cell_of_the_table_is_a_formula(start: str) -> None:
    assert safe_cell(f"{start}1+1") == f"'{start}1+1"
    assert safe_cell("1+1=2") == "1+1=2"


def test_the_table_has_a_row_for_every_item(library: Access, add: Add) -> None:
    add('=cmd|"/c calc"!A1')
    rows = list(csv.DictReader(io.StringIO(members(exported(library))["items.csv"].decode())))
    assert [row["title"] for row in rows] == ['\'=cmd|"/c calc"!A1']


# Commands -----------------------------------------------------------------------------------------


def test_the_commands_write_a_file_and_take_it_again(
    library: Access, stranger: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(library)
    path = tmp_path / "library.zip"
    call_command("export", str(path), "--owner", "ada")
    assert path.read_bytes() == exported(library)
    assert [each.name for each in tmp_path.iterdir()] == ["library.zip"]
    out = io.StringIO()
    call_command("import", str(path), "--owner", "eve", stdout=out)
    assert out.getvalue().startswith("Added 6 items, 5 contents and 3 folders; 0 items were there")
    assert "6 of 6 items" in capsys.readouterr().err


def test_the_commands_say_in_a_line_what_went_wrong(library: Access, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        call_command("export", str(tmp_path / "no" / "where.zip"), "--owner", "ada")
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("import", str(tmp_path / "none.zip"), "--owner", "ada")
    (tmp_path / "bad.zip").write_bytes(b"PK nothing")
    with pytest.raises(CommandError, match="is no zip archive"):
        call_command("import", str(tmp_path / "bad.zip"), "--owner", "ada")
