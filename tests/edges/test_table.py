"""Every ask of the table, by tokens of every shape: one verdict over both edges, no side door."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from pytest_django import Settings

from knowledge.access import Access
from knowledge.models import Folder
from mcp_gateway.tool_table import TOOLS
from tests.edges.table import ASKS as LIBRARY_ASKS
from tests.edges.table import ELSEWHERE, Ask, Said
from tests.edges.table_memory import MEMORY_ASKS, REGISTRY_ASKS
from tests.support.edges import DEAD, MISSING, SEES, SHAPES, World, made_world, scope_of
from tests.support.library import LONG_ENOUGH, Add, Mint
from tests.support.rollback import each_case, rolled_back

ASKS = {**LIBRARY_ASKS, **MEMORY_ASKS, **REGISTRY_ASKS}
GROUPS = 6
SEEN_FIRST = ("loose out", "in both", "kept out", "theirs", "loose", "in c", "in b", "in a")
"""Those that are seen for the most different reasons come first."""

COVERED = {name for ask in ASKS.values() for name in ask.covers}


@pytest.fixture
def world(
    library: Access,
    stranger: User,
    mint: Mint,
    add: Add,
    folder: Callable[[str], Folder],
    settings: Settings,
    tmp_path: Any,
) -> World:
    settings.QUARRY_HOME = tmp_path
    return made_world(library, stranger, mint, add, folder)


def test_every_route_and_every_tool_is_in_the_table() -> None:
    with GENERATOR_STATS.silence():
        document: Any = SchemaGenerator().get_schema(public=True)
    operations = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    named = {name.removeprefix("tool ") for name in COVERED}
    assert operations - COVERED - ELSEWHERE.keys() == set()
    assert {name for _, name in TOOLS} - named == set()
    assert ELSEWHERE.keys() - operations == set()


def test_the_size_of_the_table_is_told() -> None:
    size = f"{len(ASKS)} asks × {len(SHAPES)} shapes = {len(ASKS) * len(SHAPES)}"
    sys.stdout.write(f"The table of both edges: {size} cells\n")
    assert len(ASKS) * len(SHAPES) >= 350


@pytest.mark.parametrize("group", range(GROUPS))
def test_an_ask_has_one_verdict_over_both_edges_and_tells_nothing(
    world: World, group: int, subtests: pytest.Subtests
) -> None:
    """In a few groups, each in one world: to make the world costs more than to ask in it."""
    for name in list(ASKS)[group::GROUPS]:
        for shape in SHAPES:
            with subtests.test(ask=name, shape=shape), rolled_back():
                assert_one_verdict(world, ASKS[name], shape)


def assert_one_verdict(world: World, ask: Ask, shape: str) -> None:
    token = world.tokens[shape]
    for title, item_id in targets(world, shape) if ask.is_about_an_item else [("", "")]:
        sees = not title or title in SEES.get(shape, ())
        answers = [call(world, token, item_id) for call in (ask.rest, ask.mcp) if call]
        for answer in answers:
            assert answer[0] in expected(ask, shape, sees), (title, answer)
            assert_tells_nothing(world, shape, answer, asked=item_id)
        if len(answers) == 2:
            assert_agree(ask, *answers)


def targets(world: World, shape: str) -> list[tuple[str, str]]:
    """Two items that the token sees, all that it does not, and one that there is not.

    For a dead token one is enough: nobody looks at what it asks for.
    """
    ids = {title: str(item.pk) for title, item in world.items.items()} | {"missing": MISSING}
    seen = [title for title in SEEN_FIRST if title in SEES.get(shape, ())][:2]
    hidden = [title for title in ids if title not in SEES.get(shape, ())]
    return [(title, ids[title]) for title in (hidden[:1] if shape in DEAD else [*seen, *hidden])]


def expected(ask: Ask, shape: str, sees: bool) -> frozenset[str]:
    """The codes with which this ask may end for a token of this shape."""
    if shape in DEAD:
        return frozenset({"invalid_token"})
    if ask.refused and shape in ask.refused:
        return frozenset({ask.refused[shape]})
    if ask.writes and shape == "read_only":
        return frozenset({"capability_denied"})
    return ask.allowed if sees else frozenset({"not_found"})


def assert_agree(ask: Ask, rest: Said, mcp: Said) -> None:
    assert rest[0] == mcp[0]
    if ask.agree is None:
        return
    if rest[0] == "ok":
        assert ask.agree(rest[1]) == ask.agree(mcp[1])
    else:
        assert rest[1] == mcp[1]


def assert_tells_nothing(world: World, shape: str, answer: Said, *, asked: str) -> None:
    """Neither ids nor titles nor words of items, and no folder, that the token may not know of."""
    said = json.dumps(answer, ensure_ascii=False)
    for title, item in world.items.items():
        if title in SEES.get(shape, ()):
            continue
        text = item.content.text.removesuffix(LONG_ENOUGH)
        for secret in {str(item.pk), str(item.content_id), text} - {asked}:
            assert secret not in said, (title, secret)
    for folder in world.folders.values():
        if shape in DEAD or str(folder.pk) not in scope_of(world, shape):
            assert str(folder.pk) not in said


@each_case("shape", sorted(set(SHAPES) - DEAD))
def test_totals_count_what_is_seen_and_nothing_else(world: World, shape: str) -> None:
    client, sees = world.tokens[shape].client, SEES[shape]
    assert client.get("/api/v1/items?per_page=1").json()["total"] == len(sees)
    titled = {title for title in sees if "in" in title}
    assert client.get("/api/v1/items?per_page=1&q=in").json()["total"] == len(titled)
    for folder in client.get("/api/v1/folders").json()["folders"]:
        listed = client.get(f"/api/v1/items?folder_id={folder['id']}").json()
        assert listed["total"] == folder["item_count"] == len(listed["items"])


def test_a_token_is_told_what_it_did_and_not_what_others_did(world: World) -> None:
    for shape in ("whole", "one_folder", "stranger"):
        world.tokens[shape].client.get(f"/api/v1/items/{world.items['in c'].pk}")
    told = world.tokens["one_folder"].client.get("/api/v1/activity").json()
    assert {row["token_id"] for row in told["events"]} == {str(world.tokens["one_folder"].row.pk)}
    assert told["total"] == 1


def test_a_cached_answer_is_nobody_elses(world: World) -> None:
    """Neither by an ETag, nor by a key, nor by asking right after one who sees more."""
    item, body = world.items["in c"], {"name": "Made"}
    route, key = f"/api/v1/items/{item.pk}", {"Idempotency-Key": "same"}
    whole, narrow = world.tokens["whole"].client, world.tokens["one_folder"].client
    etag = whole.get(route)["ETag"]
    assert narrow.get(route, headers={"If-None-Match": etag}).status_code == 404
    assert whole.post("/api/v1/folders", body, format="json", headers=key).status_code == 201
    assert narrow.post("/api/v1/folders", body, format="json", headers=key).status_code == 403
    asked = {"query": "granite quarry c", "limit": "20"}
    assert str(item.pk) in whole.get("/api/v1/search", asked).content.decode()
    assert str(item.pk) not in narrow.get("/api/v1/search", asked).content.decode()
