"""Every ask that both edges offer, for every shape of token: the same rows, the same refusals."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.models import Folder, Item
from mcp_gateway.calls import list_tools
from mcp_gateway.identity import Caller
from tests.support.edges import (
    DEAD,
    MISSING,
    NOT_IN_KB,
    SEES,
    SHAPES,
    World,
    made_world,
    over_mcp,
    over_rest,
    scope_of,
)
from tests.support.library import LONG_ENOUGH, Add, Mint
from tests.support.rollback import each_case
from tokens.models import Token


@pytest.fixture
def world(
    library: Access,
    stranger: User,
    mint: Mint,
    add: Add,
    folder: Callable[[str], Folder],
) -> World:
    return made_world(library, stranger, mint, add, folder)


@each_case("shape", SHAPES)
@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_search_finds_what_the_token_sees(world: World, shape: str, mode: str) -> None:
    token = world.tokens[shape]
    asked = {"query": "granite long enough to be taken", "mode": mode, "limit": 20}
    rest = over_rest(token, "GET", "search", **asked)
    assert rest == over_mcp(token, "search_knowledge_base", **asked)
    if shape in DEAD:
        assert rest[0] == "invalid_token"
        return
    hits = rest[1]["results"]
    assert {hit["title"] for hit in hits} == SEES[shape] - NOT_IN_KB
    scope = scope_of(world, shape)
    for hit in hits:
        filed = {str(each.pk) for each in world.items[hit["title"]].folders.all()}
        assert set(hit["folder_ids"]) == filed & scope


@each_case("shape", SHAPES)
def test_listings_show_what_the_token_sees(world: World, shape: str) -> None:
    token = world.tokens[shape]
    rest = over_rest(token, "GET", "items", per_page=100)
    mcp = over_mcp(token, "list_recent", limit=100)
    assert rest[0] == mcp[0]
    if shape in DEAD:
        assert rest[0] == "invalid_token"
        return
    assert [row["title"] for row in rest[1]["items"]] == [row["title"] for row in mcp[1]["items"]]
    assert {row["title"] for row in mcp[1]["items"]} == SEES[shape]
    assert rest[1]["total"] == len(SEES[shape])


@each_case("shape", SHAPES)
def test_reading_hides_alike_what_is_missing_foreign_out_of_scope_or_kept_out(
    world: World, shape: str
) -> None:
    token = world.tokens[shape]
    refusals = set()
    for title, item_id in [
        *((title, str(item.pk)) for title, item in world.items.items()),
        ("missing", MISSING),
    ]:
        rest = over_rest(token, "GET", f"items/{item_id}")
        mcp = over_mcp(token, "get_item", item_id=item_id)
        assert rest[0] == mcp[0]
        if rest[0] != "ok":
            assert rest[1] == mcp[1]
            refusals.add(rest)
            continue
        assert title in SEES[shape]
        shared = rest[1].keys() & mcp[1].keys()
        assert {"text", "title", "folder_ids", "index_status", "tags"} <= shared
        times = {"created_at"}
        assert {k: rest[1][k] for k in shared - times} == {k: mcp[1][k] for k in shared - times}
        assert set(rest[1]["folder_ids"]) <= scope_of(world, shape)
    assert len(refusals) == 1  # one code and one sentence for all that is hidden
    expected = "invalid_token" if shape in DEAD else "not_found"
    assert {code for code, _ in refusals} == {expected}


@each_case("shape", SHAPES)
def test_adding_files_and_shows_by_the_same_rule(world: World, shape: str) -> None:
    token = world.tokens[shape]
    body = {
        "kind": "text",
        "title": "new",
        "text": "granite brand new" + LONG_ENOUGH,
        "in_kb": False,
    }
    rest = over_rest(token, "POST", "ingest", **body)
    mcp = over_mcp(token, "add_to_knowledge", **body)
    assert rest[0] == mcp[0]
    if shape in DEAD | {"read_only"}:
        assert rest[0] == ("capability_denied" if shape == "read_only" else "invalid_token")
        assert not Item.objects.filter(content__title="new").exists()
        return
    for _, added in (rest, mcp):
        item = Item.objects.get(pk=added["user_item_id"])
        one = shape in ("one_folder", "kb_only_folder")
        assert added["folder_id"] == (str(world.folders["A"].pk) if one else None)
        assert [str(f.pk) for f in item.folders.all()] == ([added["folder_id"]] if one else [])
        assert item.in_kb is shape.startswith("kb_only")
        assert str(item.added_by_token) == str(token.row.pk)
        assert over_rest(token, "GET", f"items/{item.pk}")[0] == "ok"
        assert over_mcp(token, "get_item", item_id=str(item.pk))[0] == "ok"
    assert {k: v for k, v in rest[1].items() if not k.endswith("_id")} == {
        k: v for k, v in mcp[1].items() if not k.endswith("_id")
    }


@each_case("shape", SHAPES)
def test_whoami_tells_the_same(world: World, shape: str) -> None:
    token = world.tokens[shape]
    rest, mcp = over_rest(token, "GET", "whoami"), over_mcp(token, "whoami")
    assert rest[0] == mcp[0] == ("invalid_token" if shape in DEAD else "ok")
    if rest[0] == "ok":
        changing = {"limits", "expires_at"}
        assert {k: v for k, v in rest[1].items() if k not in changing} == {
            k: v for k, v in mcp[1].items() if k not in changing
        }
        assert {k: v["limit"] for k, v in rest[1]["limits"].items()} == {
            k: v["limit"] for k, v in mcp[1]["limits"].items()
        }


@each_case("shape", sorted(set(SHAPES) - DEAD))
def test_the_tool_list_is_what_the_token_may_call(world: World, shape: str) -> None:
    token = world.tokens[shape]
    Token.objects.filter(pk=token.row.pk).update(toolsets=["library"])
    tools = [t.name for t in list_tools(Caller(token.secret, edge="mcp")).tools]
    reading = ["search_knowledge_base", "get_item", "list_recent", "list_folders", "whoami"]
    writing = [] if shape == "read_only" else ["add_to_knowledge"]
    assert sorted(tools) == sorted(reading + writing)


@each_case(
    "shape, folders, expected",
    [
        ("whole", ["A", "C"], "ok"),
        ("two_folders", ["A", "B"], "ok"),
        ("two_folders", ["A", "C"], "forbidden_scope"),
        ("one_folder", ["B"], "forbidden_scope"),
        ("one_folder", ["A", MISSING], "forbidden_scope"),
        ("read_only", ["A"], "capability_denied"),
        ("revoked", ["A"], "invalid_token"),
    ],
)
def test_filing_needs_every_folder_in_scope_or_files_nothing(
    world: World, shape: str, folders: list[str], expected: str
) -> None:
    item = world.items["in both"]
    item.filings.all().delete()
    item.filings.create(folder=world.folders["A"])
    sent = [str(world.folders[name].pk) if name in world.folders else name for name in folders]
    answer = over_rest(world.tokens[shape], "POST", f"items/{item.pk}/folders", folder_ids=sent)
    assert answer[0] == expected
    filed = {name for name, f in world.folders.items() if item.filings.filter(folder=f).exists()}
    assert filed == ({"A", *folders} if expected == "ok" else {"A"})


@each_case("shape", ["one_folder", "two_folders", "kb_only_folder", "stranger"])
def test_no_write_reaches_what_the_token_does_not_see(world: World, shape: str) -> None:
    token = world.tokens[shape]
    for title, item in world.items.items():
        if title in SEES[shape]:
            continue
        before = Item.objects.filter(pk=item.pk).values().get()
        assert over_rest(token, "PATCH", f"items/{item.pk}", title="mine now")[0] == "not_found"
        assert over_rest(token, "DELETE", f"items/{item.pk}")[0] == "not_found"
        folder_ids = [str(f.pk) for f in token.row.folders.all()] or [str(uuid4())]
        filed = over_rest(token, "POST", f"items/{item.pk}/folders", folder_ids=folder_ids)
        assert filed[0] == "not_found"
        assert Item.objects.filter(pk=item.pk).values().get() == before


def test_a_token_keeps_its_own_addition_in_sight_until_somebody_files_it(
    world: World,
) -> None:
    token, other = world.tokens["two_folders"], world.tokens["one_folder"]
    body = {"kind": "text", "title": "mine", "text": "granite of my own" + LONG_ENOUGH}
    item_id = over_mcp(token, "add_to_knowledge", **body)[1]["user_item_id"]
    found = over_mcp(token, "search_knowledge_base", query="granite of my own", mode="keyword")
    assert item_id in {hit["user_item_id"] for hit in found[1]["results"]}
    assert over_mcp(other, "get_item", item_id=item_id)[0] == "not_found"

    out_of_reach = [str(world.folders["C"].pk)]
    filed = over_rest(
        world.tokens["whole"], "POST", f"items/{item_id}/folders", folder_ids=out_of_reach
    )
    assert filed[0] == "ok"
    assert over_mcp(token, "get_item", item_id=item_id)[0] == "not_found"
    assert over_rest(token, "GET", f"items/{item_id}")[0] == "not_found"


def test_a_folder_to_narrow_to_must_be_in_scope(world: World) -> None:
    token = world.tokens["one_folder"]
    asked = {"query": "granite", "folder_id": str(world.folders["B"].pk)}
    rest = over_rest(token, "GET", "search", **asked)
    assert rest == over_mcp(token, "search_knowledge_base", **asked)
    missing = over_rest(token, "GET", "search", query="granite", folder_id=MISSING)
    assert rest == missing
    assert rest[0] == "not_found"


@each_case("shape", ["whole", "one_folder", "two_folders", "kb_only"])
def test_folder_counts_tell_only_of_what_is_seen(world: World, shape: str) -> None:
    rows = over_rest(world.tokens[shape], "GET", "folders")[1]["folders"]
    assert {row["id"] for row in rows} == scope_of(world, shape)
    for row in rows:
        seen = {
            title
            for title, item in world.items.items()
            if title in SEES[shape] and item.folders.filter(pk=row["id"]).exists()
        }
        assert row["item_count"] == len(seen)
