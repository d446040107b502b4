"""An import: looked at first, then worked off row by row; twice is as once."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.errors import CapabilityDenied, Conflict, InvalidInput, NotFound
from knowledge.imports import batches, rows
from knowledge.imports.batches import ImportOptions, links_in
from knowledge.ingest import arrivals
from knowledge.library import items as library_items
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import Feed, Folder, ImportBatch, Item
from knowledge.undo.own_changes import list_actions
from knowledge.undo.token_writes import undo
from tests.support.adding import add_link, run_jobs, serve_recording
from tests.support.exports import BOOKMARKS, OPML, READWISE, VAULT, zipped
from tests.support.library import Mint
from tests.support.pages import ARTICLE, serve_page
from tests.support.podcasts import FEED, item

START = ImportOptions(keeps_folders=True)


@pytest.fixture
def base(site: HTTPServer) -> str:
    """A site with two pages and a gap."""
    serve_page(site, "/lime", ARTICLE)
    serve_page(site, "/slate", ARTICLE.replace("stone", "slate"))
    site.expect_request("/gone").respond_with_data("", status=404)
    return str(site.url_for("")).rstrip("/")


def states(batch: ImportBatch) -> dict[str, int]:
    return {state: count for state, count in batch.row_counts.items() if count}


def test_a_preview_adds_nothing_and_says_what_would_come(
    library: Access, base: str, read: Any
) -> None:
    there = add_link(library, f"{base}/slate")
    batch = read(BOOKMARKS.format(base=base))
    assert batch.state == "preview"
    assert states(batch) == {"waiting": 2, "there": 1}
    assert batches.list_rows(library, batch.pk, state="there")[0].item == there
    assert batch.left_out_count == 2
    assert batch.left_out[1]["why"] == "it is in the file twice"
    assert Item.objects.count() == 1
    assert run_jobs() == []


def test_rows_become_items_with_folder_tags_date_and_note(
    library: Access, base: str, read: Any
) -> None:
    batch = read(BOOKMARKS.format(base=base))
    batches.start_import(library, batch.pk, ImportOptions(keeps_folders=True, tags=["old"]))
    run_jobs()
    batch = batches.get_import(library, batch.pk)
    assert (batch.state, batch.percent) == ("done", 100)
    assert states(batch) == {"added": 2, "failed": 1}
    lime = batches.list_rows(library, batch.pk)[0].item
    assert lime is not None
    assert lime.title == "Lime & kilns"
    assert lime.tags == ["rock", "kiln", "old"]
    assert lime.created_at.year == 2020
    assert {folder.name for folder in lime.folders.all()} == {"Stone"}
    note = Item.objects.get(custom_title="", content__title="Notes: Lime & kilns")
    assert "Read the part on slaking." in note.content.text
    assert {folder.name for folder in note.folders.all()} == {"Stone"}
    [failed] = batches.list_rows(library, batch.pk, state="failed")
    assert failed.reason == "gone"
    assert "404" in failed.error


def test_a_second_import_of_the_same_file_adds_nothing(
    library: Access, base: str, read: Any
) -> None:
    for _ in range(2):
        batch = read(BOOKMARKS.format(base=base))
        batches.start_import(library, batch.pk, START)
        run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"there": 2, "failed": 1}
    assert Item.objects.count() == 3  # two pages and a note


def test_what_the_owner_did_to_an_item_stays_when_its_link_is_imported(
    library: Access, base: str, read: Any
) -> None:
    mine = add_link(library, f"{base}/lime", tags=["mine"])
    Item.objects.filter(pk=mine.pk).update(archived=True)
    batch = read(BOOKMARKS.format(base=base))
    batches.start_import(library, batch.pk, START)
    run_jobs()
    mine.refresh_from_db()
    assert (mine.tags, mine.archived) == (["mine"], True)


def test_what_failed_is_tried_again_when_asked(
    library: Access, base: str, read: Any, site: HTTPServer
) -> None:
    batch = read(BOOKMARKS.format(base=base))
    batches.start_import(library, batch.pk, START)
    run_jobs()
    site.clear()
    serve_page(site, "/gone", ARTICLE.replace("stone", "marble"))
    batches.resume_import(library, batch.pk, failed=True)
    run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"added": 3}


def test_an_outage_is_tried_three_times_and_then_told(library: Access, site: HTTPServer) -> None:
    site.expect_request("/down").respond_with_data("", status=503)
    batch = batches.add_links(library, site.url_for("/down"), ImportOptions())
    run_jobs()
    [row] = batches.list_rows(library, batch.pk)
    assert (row.state, row.reason, row.tries) == ("failed", "server_error", 3)


def test_a_killed_worker_leaves_rows_that_another_goes_on_with(
    library: Access, base: str, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = read(BOOKMARKS.format(base=base))
    batches.start_import(library, batch.pk, START)
    monkeypatch.setattr(arrivals, "settle", _die)
    with pytest.raises(KeyboardInterrupt):
        rows.take_turn(batch.pk, 0)
    assert Item.objects.count() == 1  # it was added, and nobody wrote that down
    monkeypatch.undo()
    run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"added": 1, "there": 1, "failed": 1}
    assert Item.objects.filter(content__kind="webpage").count() == 2


def _die(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_a_cancelled_import_stops_and_goes_on_when_asked(
    library: Access, base: str, read: Any
) -> None:
    batch = read(BOOKMARKS.format(base=base))
    batches.start_import(library, batch.pk, START)
    batches.cancel_import(library, batch.pk)
    run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"waiting": 3}
    with pytest.raises(Conflict, match="go on with it"):
        batches.agree_to_prices(library, batch.pk)
    batches.resume_import(library, batch.pk)
    run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"added": 2, "failed": 1}


def test_a_recording_waits_until_its_price_is_agreed_to(
    library: Access, site: HTTPServer, settings: Any, tmp_path: Path
) -> None:
    settings.QUARRY_HOME = tmp_path
    batch = batches.add_links(library, serve_recording(site, seconds=90), ImportOptions())
    run_jobs()
    [row] = batches.list_rows(library, batch.pk)
    assert (row.state, row.minutes) == ("priced", 1.5)
    assert row.cost_usd is not None
    assert Item.objects.count() == 0
    batches.retry_row(library, batch.pk, row.pk)
    run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"added": 1}
    assert Item.objects.get().content.is_ready


def test_a_price_can_be_refused(library: Access, site: HTTPServer) -> None:
    batch = batches.add_links(library, serve_recording(site), ImportOptions())
    run_jobs()
    [row] = batches.list_rows(library, batch.pk)
    assert states(batches.drop_row(library, batch.pk, row.pk)) == {"skipped": 1}


def test_a_vault_becomes_notes_once(library: Access, read: Any) -> None:
    for _ in range(2):
        batch = read(zipped(VAULT))
        batches.start_import(library, batch.pk, START)
        run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"there": 2}
    assert {each.title for each in Item.objects.all()} == {"Slaking lime", "Plain"}
    assert [folder.name for folder in Folder.objects.all()] == ["Stone"]
    assert Item.objects.get(tags__contains=["kiln"]).content.kind == "markdown"


def test_a_changed_note_of_a_vault_changes_its_item(library: Access, read: Any) -> None:
    def bring(vault: dict[str, str | bytes]) -> dict[str, int]:
        batch = read(zipped(vault))
        batches.start_import(library, batch.pk, START)
        run_jobs()
        return states(batches.get_import(library, batch.pk))

    def text_now() -> str:
        return Item.objects.get(pk=note.pk).content.text

    bring(VAULT)
    note = Item.objects.get(tags__contains=["kiln"])
    update_item(library, note.pk, ItemChanges(tags=["mine"]))
    at_first, text = text_now(), ""
    for words in ("Lime is slaked slowly.", "Lime is slaked slowly.", "It boils."):
        text = f"{words} Stand back from it."
        written = f"---\ntitle: Slaking\ntags: [wet]\n---\n{text}"
        bring({**VAULT, "Vault/Stone/Slaking.md": written})
        assert text_now() == text
    note.refresh_from_db()
    assert (note.title, note.tags) == ("Slaking", ["mine", "wet"])
    assert bring(VAULT) == {"added": 1, "there": 1}
    assert text_now() == at_first
    assert Item.objects.count() == 2
    last = list_actions(library, besides=()).rows[0]
    undo(library.owner_id, last.id, since=last.at - timedelta(days=1))
    assert text_now() == text
    other: dict[str, str | bytes] = {"Other/Stone/Slaking.md": "Of another vault altogether."}
    assert bring({**other, "Other/b.md": "Another note of the other vault."}) == {"added": 2}
    assert Item.objects.count() == 4


def test_a_note_that_was_deleted_comes_back_with_the_next_import(
    library: Access, read: Any
) -> None:
    for _ in range(2):
        batch = read(READWISE)
        batches.start_import(library, batch.pk, START)
        run_jobs()
        [book] = Item.objects.all()
        library_items.delete_item(library, book.pk)
    assert states(batches.get_import(library, batch.pk)) == {"added": 1}


def test_opml_follows_feeds_and_tells_of_those_that_fail(
    library: Access, base: str, site: HTTPServer, read: Any
) -> None:
    site.expect_request("/lime.xml").respond_with_data(
        FEED.format(items=item("one")), content_type="application/rss+xml"
    )
    for _ in range(2):
        batch = read(OPML.format(base=base))
        batches.start_import(library, batch.pk, START)
        run_jobs()
    assert states(batches.get_import(library, batch.pk)) == {"there": 2}
    feed = Feed.objects.get()
    assert (feed.title, feed.folder and feed.folder.name) == ("Stone Talk", "Stone")


def test_pasted_links_are_found_in_any_text() -> None:
    pasted = "See https://example.org/a, and (http://example.org/b).\nhttps://example.org/a"
    assert links_in(pasted) == ["https://example.org/a", "http://example.org/b"]
    assert links_in("example.org/x\nno link") == ["https://example.org/x"]
    assert links_in("e.g. nothing") == []


def test_too_many_links_or_none_are_refused(library: Access) -> None:
    with pytest.raises(InvalidInput, match="at least one link"):
        batches.add_links(library, "nothing here", ImportOptions())
    many = "\n".join(f"https://example.org/{number}" for number in range(501))
    with pytest.raises(InvalidInput, match="501 links"):
        batches.add_links(library, many, ImportOptions())


def test_nobody_sees_or_touches_the_import_of_another(
    library: Access, stranger: User, base: str, read: Any, mint: Mint, folder: Any
) -> None:
    batch = read(BOOKMARKS.format(base=base))
    theirs = Access.whole_library(stranger.pk)
    assert batches.list_imports(theirs) == []
    for ask in (batches.get_import, batches.cancel_import, batches.resume_import):
        with pytest.raises(NotFound):
            ask(theirs, batch.pk)
    scoped = mint(folder("Stone")).access
    with pytest.raises(CapabilityDenied):
        batches.add_links(scoped, base, ImportOptions())
    assert batches.list_imports(scoped) == []


def test_what_another_has_is_no_reason_to_leave_a_link_out(
    library: Access, stranger: User, base: str, read: Any
) -> None:
    add_link(Access.whole_library(stranger.pk), f"{base}/lime")
    batch = read(BOOKMARKS.format(base=base))
    assert states(batch) == {"waiting": 3}
