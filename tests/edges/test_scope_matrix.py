"""The scope matrix: every route and tool, by every shape of token, about what it must not see.

Routes come from the OpenAPI document and tools from `tools/list`. A parameter that nobody has said
how to fill fails here, so a new route or tool is walked as soon as it exists. The table of both
edges (`test_table.py`) says how each ask ends for what a token does see; toolsets are in
`test_toolsets.py`.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.library.items import create_folder, file_item
from knowledge.models import Folder, Item, Source, Tier
from mcp_gateway.calls import call_tool
from mcp_gateway.identity import Caller
from mcp_gateway.tool_table import TOOLS
from tests.support.contributions import SKILL_MD, TRACE
from tests.support.library import LONG_ENOUGH
from tests.support.matrix import (
    ASKED,
    OPERATIONS,
    Call,
    Member,
    Pair,
    faults,
    leaks,
    make_members,
    nobodys,
    rest_calls,
    rows_of,
    snapshot,
)
from tests.support.rollback import each_case, rolled_back
from tokens.minting import TokenRequest, mint_token
from tokens.models import Token, Toolset

SHAPES = ("anothers", "scoped_write", "scoped_read")
DEAD = ("expired", "revoked")


@pytest.fixture
def pair(db: None, settings: Settings, tmp_path: Any) -> Pair:
    settings.QUARRY_HOME = tmp_path
    members = make_members()
    Tier.objects.update(name="Gold")  # what an owner's tier is called is no secret to their tokens
    return replace(members, one_of_a_kind=True)


def seen_by(pair: Pair, shape: str) -> Pair:
    """The same two libraries, asked about by a token of another shape."""
    request = TokenRequest(
        name=shape,
        folder_ids=None,
        toolsets=[Toolset.LIBRARY, Toolset.MEMORY, Toolset.REGISTRY],
        can_write=not shape.endswith("read"),
    )
    if not shape.startswith("scoped"):
        return with_token(pair, pair.me, request)
    shelf = create_folder(Access.whole_library(pair.them.person.pk), "Open")
    mine = tuple(
        item for item in rows_of(pair.them.person, Item) if item.title.startswith(("Of ", "Plan"))
    )
    for item in mine:
        file_item(Access.whole_library(pair.them.person.pk), item.pk, [shelf.pk])
    scoped = with_token(pair, pair.them, replace(request, folder_ids=[shelf.pk]))
    known = {str(pk) for item in mine for pk in (item.pk, item.content_id)} | {str(shelf.pk)}
    return replace(scoped, mine=mine, their_ids=pair.their_ids - known)


def with_token(pair: Pair, owner: Member, request: TokenRequest) -> Pair:
    token, secret = mint_token(owner.person, request)
    me = Member(owner.person, owner.browser, secret)
    return replace(pair, me=me, their_ids=pair.their_ids - {str(token.pk)})


# REST ---------------------------------------------------------------------------------------------


@each_case("shape", SHAPES)
def test_no_route_tells_more_of_what_is_hidden_than_of_what_does_not_exist(
    pair: Pair, shape: str
) -> None:
    asking = seen_by(pair, shape)
    found = [
        fault
        for path, method, operation in OPERATIONS
        for fault in faults(asking, asking.me, rest_calls(path, method, operation, asking), "token")
    ]
    assert found == []


def test_no_write_of_a_scoped_token_changes_what_is_hidden_from_it(pair: Pair) -> None:
    """Over both edges, with nothing rolled back between the calls."""
    asking = seen_by(pair, "scoped_write")
    before = hidden_rows(asking)
    assert len(before) > 30
    for path, method, operation in OPERATIONS:
        for theirs, _missing in rest_calls(path, method, operation, asking):
            if method != "GET":
                asking.me.send("token", theirs)
    for _, name in TOOLS:
        for arguments, _ in tool_calls(name, asking):
            outcome_of(asking, name, arguments)
    assert before - hidden_rows(asking) == set()


def hidden_rows(pair: Pair) -> set[str]:
    """The rows of the other as they are, but for those that the token reaches."""
    reached = [str(pk) for item in pair.mine for pk in (item.pk, item.content_id)]
    reached += [
        str(pk) for pk in Token.objects.filter(name="scoped_write").values_list("pk", flat=True)
    ]
    return {
        line for line in snapshot(pair.them.person) if not any(each in line for each in reached)
    }


@each_case("shape", DEAD)
def test_no_route_and_no_tool_answers_a_dead_token(pair: Pair, shape: str) -> None:
    dead = seen_by(pair, shape)
    tokens = Token.objects.filter(name=shape)
    if shape == "revoked":
        tokens.revoke()
    else:
        tokens.update(expires_at=timezone.now())
    for path, method, operation in OPERATIONS:
        if path.endswith("/exports/{export_id}/file"):
            continue  # it asks for a signed link, and for no token
        theirs, _missing = next(rest_calls(path, method, operation, dead))
        answer = dead.me.send("token", theirs)
        is_of_people = path.startswith(("/api/v1/tokens", "/api/v1/connections"))
        assert answer.status_code == 401 or (is_of_people and answer.status_code == 403), path
    for _, name in TOOLS:
        assert outcome_of(dead, name, {})[0] == "invalid_token", name


# MCP ----------------------------------------------------------------------------------------------

NAMES_IDS = re.compile(r"(^|_)ids?$|^(project|related_to|depends_on|source|source_name)$")
"""What an argument is called that leads to somebody's row."""

ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(("query", "goal", "capability"), ASKED),
    "kind": "text",
    "text": f"Granite.{LONG_ENOUGH}",
    "title": "Granite",
    "content": "Granite is cut along its grain.",
    "action": "start_task",
    "mode": "list",
    "start_url": "https://example.org/docs/",
    "skill_md_content": SKILL_MD,
    "unit": TRACE,
    "visibility": "private",
    "valid": True,
}
"""What a call needs beside ids."""


def hidden_values(argument: str, pair: Pair) -> list[str]:
    """What of the other's an argument of this name can hold."""
    if argument in ("source", "source_name"):
        return [pair.hidden(Source)[0].name]
    if argument == "agent_id":
        return []  # reputations are for everybody
    if argument == "source_id":
        return [str(pair.hidden(Source)[0].pk)]
    if argument in ("folder_id", "folder_ids"):
        return [str(pair.hidden(Folder)[0].pk)]
    of_items = ("id", "item_id", "entity_id", "unit_id", "project", "related_to", "depends_on")
    assert argument in of_items, f"say what {argument} can hold"
    by_type = {item.type: str(item.pk) for item in pair.hidden(Item)}
    return [by_type[name] for name in ("document", "task", "skill", "expert_sop")]


def tool_calls(name: str, pair: Pair) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The smallest call, and each that names something hidden beside one that names nothing."""
    schemas = [tool.definition.input_schema for key, tool in TOOLS.items() if key[1] == name]
    fields = {field: each for schema in schemas for field, each in schema["properties"].items()}
    needed = {field for schema in schemas for field in schema.get("required", ())}
    base = {field: _own_value(field, pair) for field in needed if field != "data"}
    yield base, base
    for field, schema in fields.items():
        if NAMES_IDS.search(field):
            takes_many = "array" in json.dumps(schema)
            for value in hidden_values(field, pair):
                theirs, missing = (
                    {**base, field: [each] if takes_many else each}
                    for each in (value, nobodys(value))
                )
                yield theirs, missing


def _own_value(field: str, pair: Pair) -> Any:
    if NAMES_IDS.search(field):
        return "nobody/here" if field == "agent_id" else str(pair.mine[0].pk)
    return ARGUMENTS[field]


def outcome_of(pair: Pair, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
    try:
        answer = call_tool(Caller(pair.me.secret, edge="mcp"), name, arguments)
    except QuarryError as error:
        return error.code, json.dumps([error.message, error.details], default=str)
    return "ok", answer.model_dump_json()


@each_case("shape", SHAPES)
def test_no_tool_tells_more_of_what_is_hidden_than_of_what_does_not_exist(
    pair: Pair, shape: str
) -> None:
    asking = seen_by(pair, shape)
    found = [
        fault
        for toolset in Toolset
        for fault in tool_faults(asking, Token.objects.get(name=shape), toolset)
    ]
    assert found == []


def tool_faults(pair: Pair, token: Token, toolset: Toolset) -> Iterator[str]:
    Token.objects.filter(pk=token.pk).update(toolsets=[toolset])
    for _, name in (key for key in TOOLS if key[0] == toolset):
        for theirs, missing in tool_calls(name, pair):
            with rolled_back():
                code, text = outcome_of(pair, name, theirs)
            if found := leaks(pair, text, Call("tool", name, body=theirs)):
                yield f"{name} {theirs} tells {found[:3]}"
            with rolled_back():
                other, other_text = outcome_of(pair, name, missing)
            if code != other or (code != "ok" and _plain(text) != _plain(other_text)):
                yield f"{name} {theirs}: {code} {text}, not {other} {other_text} as for what is not"


def _plain(text: str) -> str:
    return re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)


def test_the_walk_finds_what_the_owner_is_told_by_the_tools(pair: Pair) -> None:
    """The same walk by the whole library: where it finds nothing then, it proves nothing."""
    request = TokenRequest(
        name="whole", folder_ids=None, toolsets=[Toolset.LIBRARY], can_write=True
    )
    whole = with_token(pair, pair.them, request)
    token = Token.objects.get(name="whole")
    loud = {
        fault.split(" ")[0]
        for toolset in Toolset
        for fault in tool_faults(replace(whole, mine=pair.mine), token, toolset)
    }
    assert len(loud) > 12
