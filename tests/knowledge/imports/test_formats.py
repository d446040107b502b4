"""Every export is read into the same rows, and what is left out is told."""

from pathlib import Path
from typing import Any

import pytest

from knowledge.errors import IngestFailed
from knowledge.imports.formats import rows, vault
from knowledge.imports.formats.reading import read
from tests.support.exports import (
    BOOKMARKS,
    NOTE,
    OPML,
    POCKET_CSV,
    POCKET_HTML,
    RAINDROP,
    READER,
    READWISE,
    VAULT,
    zipped,
)

BASE = "https://example.org"


@pytest.fixture
def rows_of(tmp_path: Path) -> Any:
    def read_one(body: str | bytes) -> dict[str, Any]:
        path = tmp_path / "export"
        path.write_bytes(body.encode() if isinstance(body, str) else body)
        return read({"path": str(path)})

    return read_one


def test_bookmarks_keep_folders_tags_dates_and_notes(rows_of: Any) -> None:
    told = rows_of(BOOKMARKS.format(base=BASE))
    lime, slate, gone, again = told["rows"]
    assert told["format"] == "bookmarks"
    assert lime["title"] == "Lime & kilns"
    assert lime["folder"] == "Stone"
    assert lime["tags"] == ["rock", "kiln"]
    assert lime["note"] == "Read the part on slaking."
    assert lime["saved_at"] == "2020-09-13T12:26:40+00:00"
    assert slate["folder"] == "Stone / Deep"
    assert gone["folder"] == again["folder"] == ""
    assert told["left_out"] == [
        {"what": "Bookmarklet", "why": "javascript: addresses are not read"}
    ]


@pytest.mark.parametrize("body", [POCKET_HTML, POCKET_CSV, zipped({"part_000000.csv": POCKET_CSV})])
def test_pocket_comes_as_a_page_a_table_or_a_zip_of_tables(rows_of: Any, body: Any) -> None:
    told = rows_of(body)
    first = told["rows"][0]
    assert told["format"] == "pocket"
    assert (first["url"], first["title"]) == ("https://example.org/a", "A")
    assert first["tags"] == ["one", "two"]
    assert first["saved_at"].startswith("2017-07-14")


def test_raindrop_keeps_folders_and_notes(rows_of: Any) -> None:
    told = rows_of(RAINDROP)
    first, second = told["rows"]
    assert told["format"] == "raindrop"
    assert first["folder"] == "Work / Stone"
    assert first["tags"] == ["rock", "kiln"]
    assert first["note"] == "My note"
    assert first["saved_at"].startswith("2024-03-01")
    assert second["folder"] == ""


def test_highlights_become_one_text_for_each_book(rows_of: Any) -> None:
    told = rows_of(READWISE)
    [book] = told["rows"]
    assert told["format"] == "readwise"
    assert (book["kind"], book["title"]) == ("text", "On Stone")
    assert "> Lime is burnt, then slaked.\n> (page 12)\n\nCompare with cement" in book["text"]
    assert book["tags"] == ["kiln", "craft"]
    assert told["left_out"] == [{"what": "On Stone", "why": "it has no highlight"}]


def test_what_reader_saved_comes_as_links(rows_of: Any) -> None:
    told = rows_of(READER)
    assert told["format"] == "readwise"
    assert told["rows"][0]["tags"] == ["rock", "kiln"]


def test_opml_gives_feeds_with_their_categories_and_pages(rows_of: Any) -> None:
    told = rows_of(OPML.format(base=BASE))
    feed, page = told["rows"]
    assert (feed["kind"], feed["title"], feed["folder"]) == ("feed", "Lime weekly", "Stone")
    assert (page["kind"], page["url"]) == ("link", f"{BASE}/lime")
    assert [each["what"] for each in told["left_out"]] == ["No feed", "Empty"]


def test_an_entity_of_opml_is_never_expanded(rows_of: Any) -> None:
    told = rows_of(
        '<!DOCTYPE opml [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
        '<opml><body><outline text="&e;" xmlUrl="https://example.org/f"/></body></opml>'
    )
    assert "root" not in told["rows"][0]["title"]


def test_a_vault_gives_notes_with_front_matter_and_folders(rows_of: Any) -> None:
    told = rows_of(zipped(VAULT))
    slaking, plain = told["rows"]
    assert (slaking["title"], slaking["folder"]) == ("Slaking lime", "Stone")
    assert slaking["tags"] == ["rock", "kiln"]
    assert slaking["text"] == "Add water to quicklime, and stand back: it boils."
    assert slaking["saved_at"].startswith("2023-05-06")
    assert (plain["title"], plain["folder"]) == ("Plain", "")
    assert {each["what"] for each in told["left_out"]} == {"Stone/short.md", "1 file .png"}


def test_a_zip_that_swells_is_read_no_further_than_the_limit(
    rows_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = zipped({"a.md": NOTE, "bomb.md": b"0" * 30_000_000})
    assert len(bomb) < 100_000
    told = rows_of(bomb)
    assert [row["title"] for row in told["rows"]] == ["Slaking lime"]
    assert told["left_out"] == [{"what": "bomb.md", "why": "it has more than 2,000,000 bytes"}]
    monkeypatch.setattr(vault, "MOST_INFLATED", 100)
    with pytest.raises(IngestFailed, match="MB of text"):
        rows_of(zipped({"a.md": NOTE, "b.md": NOTE}))


def test_paths_out_of_the_zip_and_too_many_members_are_refused(
    rows_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = rows_of(zipped({"../../etc/note.md": NOTE, "fine.md": NOTE}))
    assert len(told["rows"]) == 1
    assert told["left_out"][0]["why"].startswith("its path leads out of the zip")
    monkeypatch.setattr(vault, "MOST_MEMBERS", 1)
    with pytest.raises(IngestFailed, match="more than 1 files"):
        rows_of(zipped({"a.md": NOTE, "b.md": NOTE}))


def test_more_rows_than_are_taken_are_refused(
    rows_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_ROWS", 1)
    with pytest.raises(IngestFailed, match="split it"):
        rows_of("https://example.org/a\nhttps://example.org/b\n")


@pytest.mark.parametrize(
    "body", ["", "just words", "a,b\n1,2\n", b"PK\x03\x04 broken", "<opml", b"\x00\xff\xfe"]
)
def test_what_is_no_export_is_refused_with_a_reason(rows_of: Any, body: Any) -> None:
    with pytest.raises(IngestFailed) as refusal:
        rows_of(body)
    assert refusal.value.details["reason"] in ("unknown_format", "not_extractable")


def test_a_broken_zip_is_refused(rows_of: Any) -> None:
    whole = zipped({"a.md": NOTE})
    at = 60  # within the packed bytes
    told = rows_of(whole[:at] + b"\xff\xff\xff\xff" + whole[at + 4 :])
    assert told["rows"] == []
    assert "cannot be unpacked" in told["left_out"][0]["why"]
