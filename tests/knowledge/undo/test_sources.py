"""Undoing what a token did to links, recordings and files."""

from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
import time_machine
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.exchange.exporting import export_library
from knowledge.exchange.importing import import_library
from knowledge.ingest import sweeps
from knowledge.ingest.adding_files import add_file
from knowledge.library import items as shelves
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import delete_item
from knowledge.models import Allowance, Content, Item, Tier, Upload, Usage
from tests.support.adding import add_link, rows, run_jobs, serve_episode
from tests.support.library import Mint, Minted
from tests.support.pages import ARTICLE, serve_page
from tests.support.undo import added, snapshot, undo_all


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.QUARRY_HOME = tmp_path
    return tmp_path


@pytest.fixture
def agent(mint: Mint) -> Minted:
    return mint()


@pytest.fixture
def theirs(stranger: User) -> Access:
    return Access.whole_library(stranger.pk)


def files_in(home: Path) -> list[Path]:
    return [path for path in (home / "files").rglob("*") if path.is_file()]


def stored_notes(access: Access, home: Path) -> Item:
    notes = home / "notes.txt"
    notes.write_text("Decisions: ship the docs. The folder rename is deferred to June.\n")
    item = add_file(access, notes).item
    run_jobs()
    return item


# Links ------------------------------------------------------------------------------------


def test_a_deleted_link_comes_back_without_a_fetch(
    library: Access, agent: Minted, site: HTTPServer
) -> None:
    item = add_link(library, serve_page(site, "/rivers", ARTICLE))
    before, fetched = snapshot(), len(site.log)
    delete_item(agent.access, item.pk)
    assert rows() == {"Content": 0, "Item": 0, "Link": 0, "Chunk": 0}
    assert undo_all(agent).skipped == []
    assert snapshot() == before
    assert len(site.log) == fetched


def test_a_link_that_others_keep_comes_back_to_what_they_have(
    library: Access, theirs: Access, agent: Minted, site: HTTPServer
) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    item = add_link(library, url)
    add_link(theirs, url)
    before = snapshot()
    delete_item(agent.access, item.pk)
    undo_all(agent)
    assert snapshot() == before


def test_a_link_that_was_added_again_since_is_not_there_twice(
    library: Access, agent: Minted, site: HTTPServer
) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    delete_item(agent.access, add_link(library, url).pk)
    again = add_link(library, url)
    assert [write.reason for write in undo_all(agent).skipped] == [
        "Its source was added again since."
    ]
    assert Item.objects.get() == again


def test_a_link_that_the_token_added_again_itself_is_as_it_was_before(
    library: Access, agent: Minted, site: HTTPServer
) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    first = add_link(library, url)
    update_item(library, first.pk, ItemChanges(archived=True, in_kb=False))
    before = snapshot()
    assert add_link(agent.access, url) == first
    delete_item(agent.access, first.pk)
    assert add_link(agent.access, url) != first
    assert undo_all(agent).skipped == []
    assert snapshot() == before


# Archives ---------------------------------------------------------------------------------


def test_an_import_is_undone_in_one_step(library: Access, agent: Minted, site: HTTPServer) -> None:
    shelf = shelves.create_folder(library, "Shelf")
    for item in (added(library, "One"), add_link(library, serve_page(site, "/rivers", ARTICLE))):
        shelves.file_item(library, item.pk, [shelf.pk])
    archive = BytesIO(b"".join(export_library(library)))
    shelves.delete_folder(library, shelf.pk, cascade_items=True)
    before = snapshot()
    import_library(agent.access, archive)
    assert Item.objects.count() == 2
    assert undo_all(agent).skipped == []
    assert snapshot() == before


# Recordings -------------------------------------------------------------------------------


def test_a_recording_that_was_on_its_way_is_begun_again(
    library: Access, agent: Minted, site: HTTPServer
) -> None:
    item = add_link(library, serve_episode(site))
    delete_item(agent.access, item.pk)
    run_jobs()
    undo_all(agent)
    assert Usage.objects.get().transcription_sec_reserved == 20
    assert run_jobs() == ["transcribe_content", "embed_item"]
    item = shelves.get_item(library, item.pk)
    assert (item.status, item.index_status) == ("ready", "done")


def test_a_recording_that_the_month_has_no_minutes_for_any_more_is_back_and_says_so(
    library: Access, agent: Minted, site: HTTPServer
) -> None:
    item = add_link(library, serve_episode(site))
    delete_item(agent.access, item.pk)
    tier = Tier.objects.create(name="none", minutes_per_month=0)
    Allowance.objects.create(owner_id=library.owner_id, tier=tier)
    assert undo_all(agent).skipped == []
    item = shelves.get_item(library, item.pk)
    assert (item.status, item.index_status) == ("failed", "failed")
    assert item.content.reason == "quota_exceeded"


# Files ------------------------------------------------------------------------------------


def test_a_deleted_file_is_kept_until_it_can_no_longer_be_undone(
    library: Access, agent: Minted, home: Path
) -> None:
    item = stored_notes(library, home)
    before = snapshot()
    delete_item(agent.access, item.pk)
    run_jobs()
    with time_machine.travel(timezone.now() + timedelta(days=29)):
        sweeps.sweep_uploads.fn()
    assert len(files_in(home)) == 1
    assert undo_all(agent).skipped == []
    assert snapshot() == before
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        sweeps.sweep_uploads.fn()
    assert len(files_in(home)) == 1


def test_a_deleted_file_goes_when_its_time_is_over(
    library: Access, agent: Minted, home: Path
) -> None:
    delete_item(agent.access, stored_notes(library, home).pk)
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        sweeps.sweep_uploads.fn()
    assert files_in(home) == []
    assert not Upload.objects.exists()


def test_a_file_that_a_person_deletes_goes_at_once(library: Access, home: Path) -> None:
    delete_item(library, stored_notes(library, home).pk)
    assert run_jobs() == ["remove_stored_file"]
    assert files_in(home) == []


def test_an_undone_upload_goes_with_its_file(agent: Minted, home: Path) -> None:
    stored_notes(agent.access, home)
    assert [write.kind for write in undo_all(agent).undone] == ["item_added"]
    run_jobs()
    assert not Content.objects.exists()
    assert files_in(home) == []
