"""Adding, deleting and filling the same content at the same time."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.ingest import contents
from knowledge.library import items as library
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import Chunk, Content, Item, Link, Reservation, Usage
from knowledge.sources import links
from knowledge.sources.extracted import Extracted
from tests.support.adding import add_link, rows, run_jobs, serve_episode
from tests.support.pages import ARTICLE, serve_page
from tests.support.threads import in_threads

ROUNDS = 5
NOTHING = {"Content": 0, "Item": 0, "Link": 0, "Chunk": 0}

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.QUARRY_HOME = tmp_path
    return tmp_path


@pytest.fixture
def theirs(stranger: User) -> Access:
    return Access.whole_library(stranger.pk)


@pytest.fixture
def page(site: HTTPServer) -> str:
    return serve_page(site, "/rivers", ARTICLE)


@pytest.fixture
def all_fetch_first(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Have this many adders fetch before any of them may keep what it got."""

    def wait_for(adders: int) -> None:
        barrier = threading.Barrier(adders)
        fetch = links.open_link

        def fetched(url: str) -> Any:
            found = fetch(url)
            barrier.wait(30)
            return found

        monkeypatch.setattr(links, "open_link", fetched)

    return wait_for


def both_add(url: str, *callers: Access) -> list[Item]:
    added: list[Item] = []

    def keep(caller: Access) -> None:
        added.append(add_link(caller, url))

    in_threads([partial(keep, caller) for caller in callers])
    return added


def add(access: Access, url: str) -> None:
    add_link(access, url)


def delete(access: Access, item: Item) -> None:
    library.delete_item(access, item.pk)


def test_two_owners_make_one_content_and_two_items(
    library: Access,
    theirs: Access,
    site: HTTPServer,
    page: str,
    all_fetch_first: Callable[[int], None],
) -> None:
    all_fetch_first(2)
    added = both_add(page, library, theirs)
    assert len(site.log) == 2
    assert Content.objects.count() == Link.objects.count() == 1
    assert {item.owner_id for item in added} == {library.owner_id, theirs.owner_id}
    assert {item.index_status for item in added} == {"done"}


def test_two_owners_of_a_recording_have_it_transcribed_once_and_one_pays(
    library: Access,
    theirs: Access,
    site: HTTPServer,
    all_fetch_first: Callable[[int], None],
) -> None:
    episode = serve_episode(site, told=20)
    all_fetch_first(2)
    added = both_add(episode, library, theirs)
    assert {item.status for item in added} == {"transcribing"}
    assert Reservation.objects.count() == Usage.objects.count() == 1
    assert sorted(run_jobs()) == ["embed_item", "embed_item", "transcribe_content"]
    assert {item.index_status for item in Item.objects.all()} == {"done"}
    assert Usage.objects.get().transcription_sec_used == 20


def test_one_owner_has_one_item(
    library: Access, page: str, all_fetch_first: Callable[[int], None]
) -> None:
    all_fetch_first(3)
    added = both_add(page, library, library, library)
    assert len({item.pk for item in added}) == Item.objects.count() == 1


def test_the_last_deletion_and_a_new_addition_leave_a_whole_item(
    library: Access, theirs: Access, page: str
) -> None:
    for _ in range(ROUNDS):
        mine = add_link(library, page)
        in_threads([partial(delete, library, mine), partial(add, theirs, page)])
        (item,) = Item.objects.all()
        assert (item.owner_id, item.index_status) == (theirs.owner_id, "done")
        assert Chunk.objects.filter(item=item).count() == item.chunk_count > 0
        delete(theirs, item)
        assert rows() == NOTHING


def test_deleting_and_filling_never_wait_for_each_other_in_a_circle(
    library: Access, theirs: Access, site: HTTPServer
) -> None:
    episode = serve_episode(site)
    for _ in range(ROUNDS):
        mine, other = add_link(library, episode), add_link(theirs, episode)
        words = Extracted(text="Granite and marble, as long as is needed here.")
        in_threads(
            [
                partial(delete, library, mine),
                partial(fill, mine.content_id, words),
                partial(delete, theirs, other),
            ]
        )
        assert rows() | {"Link": 0} == NOTHING
        assert not Reservation.objects.filter(state="reserved").exists()
        usage = Usage.objects.get(owner_id=library.owner_id)
        assert usage.transcription_sec_reserved == 0


@pytest.mark.parametrize("before", [True, False])
def test_an_item_that_joins_or_leaves_while_its_text_arrives_is_indexed_accordingly(
    library: Access, site: HTTPServer, before: bool
) -> None:
    episode = serve_episode(site)
    words = Extracted(text="Granite and marble, as long as is needed here.")
    for _ in range(ROUNDS):
        item = add_link(library, episode, in_kb=before)
        changes = ItemChanges(in_kb=not before)
        in_threads([partial(change, library, item, changes), partial(fill, item.content_id, words)])
        item.refresh_from_db()
        assert Chunk.objects.filter(item=item).count() == (0 if before else 1)
        assert item.index_status in (("none",) if before else ("keyword", "done"))
        delete(library, item)


def change(access: Access, item: Item, changes: ItemChanges) -> None:
    update_item(access, item.pk, changes)


def fill(content_id: UUID, words: Extracted) -> None:
    contents._save_text_by(lambda _: words, content_id)
