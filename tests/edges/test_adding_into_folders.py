"""Adding into a folder that the call names, and adding again, over both edges."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.models import Content, Folder, Item, Upload
from knowledge.undo.token_writes import undo
from tests.support.edges import MISSING, World, made_world, over_mcp, over_rest
from tests.support.library import LONG_ENOUGH, Add, Mint, Minted
from tests.support.one_connection import share_connection
from tests.support.pages import ARTICLE, serve_page
from tests.support.searching import search
from tests.support.uploads import finish, stored

NOTE = {"kind": "text", "title": "new", "text": "granite brand new" + LONG_ENOUGH}


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.QUARRY_HOME = tmp_path
    share_connection(monkeypatch)
    return tmp_path


@pytest.fixture
def world(
    library: Access, stranger: User, mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> World:
    return made_world(library, stranger, mint, add, folder)


def over_both(token: Minted, **asked: Any) -> list[tuple[str, Any]]:
    return [
        over_rest(token, "POST", "ingest", **asked),
        over_mcp(token, "add_to_knowledge", **asked),
    ]


@pytest.mark.parametrize(
    ("shape", "place"),
    [("whole", "C"), ("two_folders", "B"), ("one_folder", "A"), ("kb_only_folder", "A")],
)
def test_what_is_added_is_filed_in_the_folder_that_the_call_names(
    world: World, shape: str, place: str
) -> None:
    folder_id = str(world.folders[place].pk)
    for code, added in over_both(world.tokens[shape], **NOTE, folder_id=folder_id):
        assert (code, added["folder_id"]) == ("ok", folder_id)
        item = Item.objects.get(pk=added["user_item_id"])
        assert [str(each.pk) for each in item.folders.all()] == [folder_id]
        assert item.unfiled_by is None


@pytest.mark.parametrize("shape", ["one_folder", "two_folders", "whole", "stranger"])
def test_a_folder_out_of_reach_refuses_the_addition_and_nothing_is_fetched_or_kept(
    world: World, site: HTTPServer, shape: str
) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    before = Content.objects.count()
    beyond = MISSING if shape == "whole" else str(world.folders["C"].pk)
    token = world.tokens[shape]
    for asked in (NOTE, {"kind": "url", "url": url}):
        rest, mcp = over_both(token, **asked, folder_id=beyond)
        assert rest == mcp
        assert rest[0] == "forbidden_scope"
        dry = {**asked, "dry_run": True, "folder_id": beyond}
        assert over_rest(token, "POST", "ingest", **dry)[0] == "forbidden_scope"
    body = token.client.post("/api/v1/ingest", {**NOTE, "folder_id": beyond}, format="json").json()
    assert body["out_of_scope"] == [beyond]
    assert Content.objects.count() == before
    assert not site.log


def test_a_folder_that_is_none_is_an_invalid_id_over_both_edges(mint: Mint) -> None:
    rest, mcp = over_both(mint(), **NOTE, folder_id="Research")
    assert rest == mcp == ("invalid_id", "folder_id must be a UUID.")


def test_a_known_link_is_filed_in_the_named_folder_too(world: World, site: HTTPServer) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    folders = [str(world.folders[name].pk) for name in "AB"]
    token = world.tokens["two_folders"]
    items = set()
    for folder_id in [*folders, folders[0]]:
        for code, added in over_both(token, kind="url", url=url, folder_id=folder_id):
            assert (code, added["folder_id"]) == ("ok", folder_id)
            items.add(added["user_item_id"])
    [item_id] = items
    filed = Item.objects.get(pk=item_id).folders.values_list("pk", flat=True)
    assert sorted(map(str, filed)) == sorted(folders)


def test_what_another_owner_has_is_filed_in_ones_own_folder(world: World, site: HTTPServer) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    over_rest(world.tokens["stranger"], "POST", "ingest", kind="url", url=url)
    folder_id = str(world.folders["B"].pk)
    added = over_mcp(
        world.tokens["two_folders"], "add_to_knowledge", kind="url", url=url, folder_id=folder_id
    )[1]
    assert added["folder_id"] == folder_id
    assert len(site.log) == 1


def test_a_known_link_takes_the_new_title_and_tags_and_keeps_what_is_not_named(
    mint: Mint, library: Access, site: HTTPServer
) -> None:
    url = serve_page(site, "/rivers", ARTICLE)
    token = mint()
    first = over_mcp(token, "add_to_knowledge", kind="url", url=url, tags=["old"])[1]
    renamed = {"kind": "url", "url": url, "title": "Xylophagous gorges", "tags": ["geology"]}
    rest, mcp = over_both(token, **renamed)
    assert rest == mcp
    assert rest[1]["user_item_id"] == first["user_item_id"]
    item = Item.objects.get(pk=first["user_item_id"])
    assert (item.title, item.tags) == ("Xylophagous gorges", ["geology"])
    assert item.content.title == "How rivers carve stone"
    found = search(library, query="xylophagous", mode="keyword").hits
    assert [hit.item.pk for hit in found] == [item.pk]
    over_both(token, kind="url", url=url)
    item.refresh_from_db()
    assert (item.title, item.tags) == ("Xylophagous gorges", ["geology"])


def test_what_adding_again_changed_can_be_undone(
    mint: Mint, library: Access, site: HTTPServer, folder: Callable[[str], Folder]
) -> None:
    url, place = serve_page(site, "/rivers", ARTICLE), folder("Rivers")
    first, second = mint(name="first"), mint(name="second")
    item_id = over_mcp(first, "add_to_knowledge", kind="url", url=url, tags=["old"])[1]
    since = timezone.now()
    over_mcp(
        second,
        "add_to_knowledge",
        kind="url",
        url=url,
        title="Mine",
        tags=["new"],
        folder_id=str(place.pk),
    )
    undo(library.owner_id, second.row.pk, since=since)
    item = Item.objects.get(pk=item_id["user_item_id"])
    assert (item.title, item.tags) == ("How rivers carve stone", ["old"])
    assert not item.folders.exists()


def test_an_upload_is_filed_in_the_folder_that_its_last_step_names(world: World) -> None:
    token, folder_id = world.tokens["two_folders"], str(world.folders["B"].pk)
    address = stored(token)
    beyond = str(world.folders["C"].pk)
    status, refused = finish(token, address, folder_id=beyond)
    assert (status, refused["error"], refused["out_of_scope"]) == (
        403,
        "forbidden_scope",
        [beyond],
    )
    assert Upload.objects.get(pk=address["upload_id"]).content is None
    for _ in range(2):
        status, added = finish(token, address, folder_id=folder_id)
        assert (status, added["folder_id"]) == (201, folder_id)
    [filing] = Item.objects.get(pk=added["user_item_id"]).filings.all()
    assert str(filing.folder_id) == folder_id


@pytest.mark.parametrize("length", [10, 5_000, 600_000])
@pytest.mark.parametrize("head", ["data:text/plain;base64,", " DATA:image/png;base64,"])
def test_a_data_url_of_any_length_is_a_forbidden_binary(mint: Mint, length: int, head: str) -> None:
    url = head + "QUJD" * (length // 4)
    token = mint()
    for asked in ({"kind": "url", "url": url}, {**NOTE, "text": url}):
        rest, mcp = over_both(token, **asked)
        assert rest == mcp
        assert rest[0] == "forbidden_binary"
        assert "/api/v1/uploads/signed-url" in rest[1]
