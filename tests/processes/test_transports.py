"""The official MCP client over HTTP and over stdio with one token: the same tools and answers."""

import json
import re
import sys
from typing import Any

import pytest
from mcp import Client

from tests.support.agents import ask
from tests.support.quarry import Server
from tests.support.running import MANAGE
from tests.support.snippets import Http, Stdio

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_knowledge_base", {"query": "obsidian blades", "limit": 3}),
    ("list_recent", {"limit": 2}),
    ("get_item", {"item_id": "{document}"}),
    ("search", {"query": "obsidian is sharp", "boost_recent": False}),
    ("explore", {"entity_id": "{memory}", "mode": "related"}),
    ("context", {"goal": "cut with obsidian"}),
    ("kp_search_skill", {"query": "obsidian"}),
    ("list_sources", {}),
]
"""Asks whose answers do not depend on when they are made; a new tool is one more line."""


@pytest.fixture(scope="module")
def token(quarry: Server) -> str:
    return quarry.mint("Both ways")


@pytest.fixture(scope="module")
def ids(quarry: Server, token: str) -> dict[str, str]:
    words = "An obsidian blade is sharper than any that is made of steel."
    added = quarry.rest("POST", "ingest", token, kind="text", title="Blades", text=words)
    learned = quarry.rest(
        "POST", "memory", token, title="Obsidian is sharp", content=words, entity_type="pattern"
    )
    quarry.wait_for_jobs()
    return {"{document}": added["user_item_id"], "{memory}": learned["id"]}


@pytest.fixture
def over_http(quarry: Server, token: str) -> Http:
    return Http(f"{quarry.url}/mcp", {"Authorization": f"Bearer {token}"})


@pytest.fixture
def over_stdio(quarry: Server, token: str) -> Stdio:
    args = [*MANAGE[1:], "mcp_server", "--transport", "stdio"]
    return Stdio(sys.executable, args, {"QUARRY_TOKEN": token, "QUARRY_HOME": str(quarry.home)})


def test_both_transports_have_the_same_tools_and_give_the_same_answers(
    over_http: Http, over_stdio: Stdio, ids: dict[str, str]
) -> None:
    async def use(client: Client) -> tuple[list[Any], list[Any]]:
        tools = [tool.model_dump() for tool in (await client.list_tools()).tools]
        return tools, [await answer(client, name, asked) for name, asked in CALLS]

    async def answer(client: Client, name: str, asked: dict[str, Any]) -> Any:
        fitted = {key: ids.get(str(value), value) for key, value in asked.items()}
        result = await client.call_tool(name, fitted)
        assert not result.is_error, result
        return name, result.structured_content, [block.model_dump() for block in result.content]

    tools, answers = ask(over_http, use)
    other_tools, other_answers = ask(over_stdio, use)
    assert other_tools == tools
    assert {name for name, _ in CALLS} <= {tool["name"] for tool in tools}
    for mine, other in zip(answers, other_answers, strict=True):
        assert lines_of(other) == lines_of(mine)


def lines_of(answer: Any) -> list[str]:
    """One value a line, without scores: two processes embed a question a little differently."""
    said = json.loads(json.dumps(answer, default=str), parse_float=lambda _: "a score")
    return re.sub(r"\b[01]\.\d\d\b", "a score", json.dumps(said, indent=1)).splitlines()


def test_what_one_transport_writes_the_other_finds(
    over_http: Http, over_stdio: Stdio, token: str
) -> None:
    words = "Basalt columns have six sides more often than five."

    async def write(client: Client) -> Any:
        asked = {"kind": "text", "title": "Basalt columns", "text": words}
        return (await client.call_tool("add_to_knowledge", asked)).structured_content

    async def find(client: Client) -> Any:
        found = await client.call_tool("search_knowledge_base", {"query": "sides of basalt"})
        return found.structured_content["results"][0]["user_item_id"]

    added = ask(over_stdio, write)
    assert ask(over_http, find) == added["user_item_id"]
