"""Adding links: what is there already is shared, and whoever comes second learns nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge.access import Access
from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.ingest import adding
from knowledge.ingest.adding_files import add_upload
from knowledge.ingest.items import ItemOptions
from knowledge.ledger import webhooks
from knowledge.library import items as library
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import (
    Chunk,
    Content,
    Delivery,
    Folder,
    Item,
    Link,
    Reservation,
    Transform,
    Upload,
    Usage,
)
from knowledge.storage import live_store
from tests.support.adding import add_link, rows, run_jobs
from tests.support.library import LONG_ENOUGH, Mint, Minted
from tests.support.pages import ARTICLE, CHALLENGE, LOGIN, SCRIPTED, serve_page
from tests.support.searching import search

NOTHING = {"Content": 0, "Item": 0, "Link": 0, "Chunk": 0}
OTHER_SPELLINGS = [
    "{url}",
    "{url}/",
    "{url}?utm_source=mail&fbclid=1",
    "{url}#rates",
    "https{rest}?gclid=2",
]


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


# A page -----------------------------------------------------------------------------------


def test_a_page_is_ready_and_found_when_the_call_returns(library: Access, page: str) -> None:
    item = add_link(library, page)
    content = item.content
    assert (item.status, item.index_status, content.kind) == ("ready", "done", "webpage")
    assert (item.title, content.author) == ("How rivers carve stone", "Ada Fielding")
    for mode in ("semantic", "keyword", "hybrid"):
        hits = search(library, query="plucking of blocks", mode=mode).hits
        assert [hit.item.pk for hit in hits] == [item.pk]
    assert hits[0].locator.url == page
    assert run_jobs() == []


def test_a_title_and_tags_of_ones_own_are_kept_on_the_item_alone(
    library: Access, page: str
) -> None:
    item = add_link(library, page, title="Gorges", tags=["geology"])
    assert (item.title, item.tags) == ("Gorges", ["geology"])
    assert item.content.title == "How rivers carve stone"


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        (Response("no", 404), IngestFailed, "gone"),
        (Response("no", 500), IngestFailed, "server_error"),
        (Response("no", 403), IngestFailed, "blocked"),
        (Response(b"", 200), IngestFailed, "not_extractable"),
        (Response(SCRIPTED, content_type="text/html"), IngestFailed, "not_extractable"),
        (Response(LOGIN, content_type="text/html"), IngestFailed, "not_extractable"),
        (Response(CHALLENGE, content_type="text/html"), IngestFailed, "blocked"),
        (Response(b"%PDF-1.4\nbroken", content_type="application/pdf"), IngestFailed, None),
        (Response(b"MZ\x90\x00" + bytes(200)), UnsupportedMedia, None),
    ],
)
def test_a_link_that_fails_leaves_nothing(
    library: Access,
    site: HTTPServer,
    answer: Response,
    error: type[IngestFailed],
    reason: str | None,
) -> None:
    site.expect_request("/x").respond_with_response(answer)
    with pytest.raises(error) as raised:
        add_link(library, site.url_for("/x"))
    assert reason is None or raised.value.details["reason"] == reason
    assert rows() == NOTHING
    assert run_jobs() == []


# A page that somebody added before --------------------------------------------------------


@pytest.mark.parametrize("spelling", OTHER_SPELLINGS)
def test_a_second_owner_gets_it_at_once_without_a_fetch(
    library: Access, theirs: Access, site: HTTPServer, page: str, spelling: str
) -> None:
    first = add_link(library, page)
    fetches = len(site.log)
    second = add_link(theirs, spelling.format(url=page, rest=page.removeprefix("http")))
    assert len(site.log) == fetches == 1
    assert second.pk != first.pk
    assert second.content_id == first.content_id
    assert (second.status, second.index_status) == ("ready", "done")
    assert second.chunk_count == first.chunk_count > 0
    assert [hit.item.pk for hit in search(theirs, query="plucking").hits] == [second.pk]


def test_a_second_owner_learns_nothing_of_the_first(
    mint: Mint, stranger: User, site: HTTPServer, page: str, folder: Callable[[str], Folder]
) -> None:
    never_seen = serve_page(site, "/new", ARTICLE)
    first, second = mint(folder("Secret")), mint(by=stranger)
    over_rest(first, url=page, title="My plans", tags=["mine"], auto_transform=True)
    run_jobs()
    assert Transform.objects.get().state == "done"

    shared, own = (over_rest(second, url=url) for url in (page, never_seen))
    assert shared == own
    assert not Usage.objects.filter(owner=stranger).exists()
    assert not Reservation.objects.exists()
    assert Transform.objects.count() == 1


def over_rest(token: Minted, **body: Any) -> dict[str, Any]:
    """What an owner sees of an addition, but for names and times that are bound to differ."""
    answer = token.client.post("/api/v1/ingest", {"kind": "url", **body}, format="json")
    assert answer.status_code == 201, answer.json()
    seen = token.client.get(f"/api/v1/items/{answer.json()['user_item_id']}").json()
    listed = token.client.get("/api/v1/items").json()["items"][0]
    differ = {"user_item_id", "content_id", "created_at", "updated_at", "source_url"}
    return {
        name: value for name, value in (answer.json() | listed | seen).items() if name not in differ
    }


def test_each_owner_deletes_their_own_and_the_last_one_the_text(
    library: Access, theirs: Access, page: str
) -> None:
    mine, other = add_link(library, page), add_link(theirs, page)
    ask_to_delete(library, mine)
    assert search(theirs, query="plucking").hits
    assert Content.objects.filter(pk=other.content_id).exists()
    ask_to_delete(theirs, other)
    assert rows() == NOTHING


def ask_to_delete(access: Access, item: Item) -> None:
    library.delete_item(access, item.pk)


def test_chunks_are_spans_of_the_shared_text_also_when_the_page_says_something_else_by_now(
    library: Access, theirs: Access, site: HTTPServer, page: str
) -> None:
    add_link(library, page)
    site.clear()
    serve_page(site, "/rivers", ARTICLE.replace("Rivers carve stone by", "By now rivers cut by"))
    site.expect_request("/short").respond_with_response(Response("", 302, {"Location": page}))
    second = add_link(theirs, site.url_for("/short"))
    assert Content.objects.count() == 1
    text = Content.objects.get().text
    assert "By now" not in text
    chunks = Chunk.objects.filter(item=second)
    assert chunks
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)


def test_an_address_that_redirected_is_known_the_next_time(
    library: Access, theirs: Access, site: HTTPServer, page: str
) -> None:
    site.expect_request("/short").respond_with_response(Response("", 302, {"Location": page}))
    add_link(library, site.url_for("/short"))
    fetches = len(site.log)
    add_link(theirs, site.url_for("/short"))
    add_link(theirs, page)
    assert len(site.log) == fetches
    assert rows() | {"Chunk": 0} == {"Content": 1, "Item": 2, "Link": 2, "Chunk": 0}


# The same owner again ---------------------------------------------------------------------


def test_adding_again_gives_the_item_that_is_there(
    library: Access, site: HTTPServer, page: str
) -> None:
    webhooks.create_webhook(library, "https://example.org/hook")
    first = add_link(library, page)
    again = add_link(library, page + "/?utm_medium=x")
    assert again.pk == first.pk
    assert len(site.log) == Item.objects.count() == Delivery.objects.count() == 1


def test_adding_again_brings_back_what_was_put_away(library: Access, page: str) -> None:
    item = add_link(library, page)
    away = ItemChanges(in_kb=False, archived=True)
    put_away(library, item, away)
    assert not search(library, query="plucking").hits
    back = add_link(library, page)
    assert (back.pk, back.in_kb, back.archived) == (item.pk, True, False)
    assert back.index_status == "done"
    assert [hit.item.pk for hit in search(library, query="plucking").hits] == [item.pk]

    put_away(library, item, away)
    back = add_link(library, page, in_kb=False)
    assert (back.in_kb, back.archived, back.index_status) == (False, False, "none")


def put_away(access: Access, item: Item, changes: ItemChanges) -> None:
    update_item(access, item.pk, changes)


def test_adding_again_does_not_pay_for_a_second_summary(library: Access, page: str) -> None:
    for _ in range(3):
        add_link(library, page, auto_transform=True)
    assert run_jobs() == ["summarize_item"]
    add_link(library, page, auto_transform=True)
    assert run_jobs() == []
    assert Usage.objects.get().transforms == 1


def test_a_token_that_does_not_see_the_item_gets_one_of_its_own(
    mint: Mint, folder: Callable[[str], Folder], page: str
) -> None:
    a, b = folder("A"), folder("B")
    first = add_link(mint(a).access, page)
    second = add_link(mint(b).access, page)
    third = add_link(mint(a, b).access, page, in_kb=False)
    assert first.pk != second.pk
    assert third.pk in (first.pk, second.pk)
    assert [f.pk for f in second.folders.all()] == [b.pk]

    put_away(Access.whole_library(first.owner_id), first, ItemChanges(in_kb=False))
    hidden = add_link(mint(a, kb_only=True).access, page)
    assert hidden.pk not in (first.pk, second.pk)
    assert Content.objects.count() == 1


def test_a_kb_only_token_adds_to_the_knowledge_base_whatever_it_says(
    mint: Mint, folder: Callable[[str], Folder], page: str
) -> None:
    shelf = folder("Shelf")
    token = mint(shelf, kb_only=True)
    added = adding.add_to_knowledge(token.access, kind="url", url=page, in_kb=False)
    assert added.item.in_kb is True
    assert added.folder_id == shelf.pk
    assert [f.pk for f in added.item.folders.all()] == [shelf.pk]
    assert added.item.unfiled_by is None


# Never shared -----------------------------------------------------------------------------


def test_texts_and_uploads_never_cross_owners(library: Access, theirs: Access) -> None:
    text = "The same words of two people." + LONG_ENOUGH
    mine, other = (adding.add_text(access, title="Same", text=text) for access in (library, theirs))
    assert mine.content_id != other.content_id
    files = [_uploaded(access, text.encode()) for access in (library, theirs)]
    assert len({item.content_id for item in (mine, other, *files)}) == 4
    assert sorted(run_jobs()) == ["embed_item"] * 2 + ["extract_content"] * 2
    assert not Link.objects.exists()
    assert set(Content.objects.values_list("owner_id", flat=True)) == {
        library.owner_id,
        theirs.owner_id,
    }
    for access, own in ((library, {mine.pk, files[0].pk}), (theirs, {other.pk, files[1].pk})):
        (hit,) = search(access, query="same words").hits
        assert {hit.item.pk, *(copy.user_item_id for copy in hit.copies)} == own


def _uploaded(access: Access, data: bytes) -> Item:
    key = f"{access.owner_id}/notes"
    upload = Upload.objects.create(
        owner_id=access.owner_id,
        filename="notes.txt",
        media_type="text/plain",
        size=len(data),
        key=key,
        expires_at="2100-01-01T00:00Z",
    )
    live_store().put(key, data)
    with transaction.atomic():
        return add_upload(access, upload, ItemOptions())
