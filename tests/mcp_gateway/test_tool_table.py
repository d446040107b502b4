import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from benchmarks.tokens import tool_list_tokens
from knowledge.access import Access, Capability
from knowledge.errors import CapabilityDenied, InvalidInput
from knowledge.library import items as library
from knowledge.library.items import Place, Recent
from mcp_gateway import calls  # noqa: F401 (registers every tool)
from mcp_gateway.server import INSTRUCTIONS
from mcp_gateway.tool_table import (
    TOOLS,
    Tool,
    tool_input_schema,
    tool_named,
    tools_named,
    tools_shown_to,
)
from tests.support.library import Mint
from tests.support.rollback import each_case
from tokens.models import Token, Toolset

TOKEN_BUDGETS = {"all": 6_000, Toolset.LIBRARY: 2_000}
TOKEN_BUDGET = 3_000

every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=[" ".join(key) for key in TOOLS])


@every_tool
def test_a_tool_says_what_it_takes_answers_and_does(tool: Tool) -> None:
    definition = tool.definition
    assert definition.title
    assert definition.description
    assert definition.output_schema is not None
    for schema in (definition.input_schema, definition.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert "$ref" not in json.dumps(schema)
    hints = definition.annotations
    assert hints is not None
    assert hints.read_only_hint is (tool.ask.needs == Capability.READ)
    assert hints.destructive_hint is False
    assert hints.idempotent_hint is hints.read_only_hint
    assert hints.open_world_hint is (definition.name in ("add_to_knowledge", "crawl_source"))


@every_tool
def test_who_is_asking_stays_out_of_the_schema(tool: Tool) -> None:
    assert tool.definition.input_schema["additionalProperties"] is False
    assert not {"access", "token"} & tool.definition.input_schema["properties"].keys()


def test_the_schema_shows_the_rules_of_the_domain() -> None:
    schema = tool_input_schema("search_knowledge_base")
    assert schema is not None
    assert schema["required"] == ["query"]
    shown = schema["properties"]
    assert (shown["limit"]["minimum"], shown["limit"]["maximum"]) == (1, 20)
    assert shown["limit"]["default"] == 8
    assert set(shown["mode"]["enum"]) == {"semantic", "keyword", "hybrid"}
    assert shown["folder_id"]["type"] == "string"
    add = tool_input_schema("add_to_knowledge")
    assert add is not None
    assert set(add["properties"]["kind"]["enum"]) == {"url", "text"}
    assert add["properties"]["text"]["maxLength"] == 500_000
    assert tool_input_schema("nonsense") is None


@pytest.mark.parametrize("toolset", [*Toolset.values, "all"])
def test_the_whole_list_costs_an_agent_little(toolset: str) -> None:
    cost = tool_list_tokens(Toolset.values if toolset == "all" else [toolset])
    print(f"tools/list of {toolset}: {cost:,} tokens")  # noqa: T201
    assert cost <= TOKEN_BUDGETS.get(toolset, TOKEN_BUDGET)


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        *(("search", "search_knowledge_base"), ("add", "add_to_knowledge")),
        ("get_item", "fetch"),
    ],
)
def test_twins_say_when_to_use_the_other(name: str, twin: str) -> None:
    told = {name: tools_named(name)[0].definition.description or "" for name in (name, twin)}
    assert twin in told[name]
    assert name in told[twin]


def test_the_instructions_are_a_few_sentences() -> None:
    assert 3 <= INSTRUCTIONS.count(". ") + 1 <= 5


def test_a_token_is_shown_what_it_may_call_in_the_same_order() -> None:
    writer = Token(can_write=True, is_unscoped=True)
    reader = Token(can_write=False, is_unscoped=True)
    reading = ["search_knowledge_base", "get_item", "list_recent", "list_folders"]
    names = [*reading, "add_to_knowledge", "whoami"]
    assert [tool.name for tool in tools_shown_to(writer)] == names
    names.remove("add_to_knowledge")
    assert [tool.name for tool in tools_shown_to(reader)] == names
    assert tools_shown_to(Token(is_unscoped=True, toolsets=[])) == []


def test_a_tool_outside_the_token_s_toolsets_is_refused() -> None:
    unequipped = Token(is_unscoped=True, toolsets=[])
    with pytest.raises(CapabilityDenied) as denied:
        tool_named("whoami", unequipped).require(unequipped)
    assert denied.value.details == {"required": ["library"], "have": []}


def refused(mint: Mint, name: str, arguments: dict[str, Any]) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        tool_named(name, token := mint().row).prepare(token, arguments)()
    json.dumps(raised.value.details).encode()
    return raised.value


@each_case(
    "arguments, field, told",
    [
        ({}, "query", "query is required."),
        ({"query": 7}, "query", "query must be a string."),
        ({"query": ""}, "query", "between 1 and 10,000 characters"),
        ({"query": " \n"}, "query", "blank"),
        ({"query": "x" * 10_001}, "query", "it has 10,001"),
        ({"query": "\ud800"}, "query", "broken Unicode"),
        ({"query": "\x00"}, "query", "NUL"),
        ({"query": "x", "limit": "8"}, "limit", "limit must be an integer."),
        ({"query": "x", "limit": True}, "limit", "limit must be an integer."),
        ({"query": "x", "limit": 8.5}, "limit", "limit must be an integer."),
        ({"query": "x", "limit": None}, "limit", "limit must be an integer."),
        ({"query": "x", "limit": 0}, "limit", "between 1 and 20; it is 0"),
        ({"query": "x", "limit": 21}, "limit", "between 1 and 20; it is 21"),
        ({"query": "x", "limit": 10**400}, "limit", "between 1 and 20"),
        ({"query": "x", "mode": "psychic"}, "mode", "semantic, keyword, hybrid"),
        ({"query": "x", "since": "soon"}, "since", "7d, 2w, 3m or 1y"),
        ({"query": "x", "tags": "a"}, "tags", "tags must be a list."),
        ({"query": "x", "tags": [1]}, "tags", "Each of tags must be a string."),
        ({"query": "x", "types": ["poem"]}, "types", "types must be one of: document"),
        ({"query": "x", "access": {}}, "access", "access is not an argument"),
        ({"query": "x", "owner_id": 1}, "owner_id", "it takes: query, limit"),
        ({"query": "x", "\ud800": 1}, "arguments", "broken Unicode"),
    ],
)
def test_a_wrong_search_is_refused_with_what_is_allowed(
    mint: Mint, arguments: dict[str, Any], field: str, told: str
) -> None:
    error = refused(mint, "search_knowledge_base", arguments)
    assert told in error.message
    assert error.details["field"] == field


@each_case(
    "arguments, field, told",
    [
        ({}, "kind", "kind is required."),
        ({"kind": "poem"}, "kind", "kind must be one of:"),
        ({"kind": "url"}, "url", 'required when kind is "url"'),
        ({"kind": "text", "title": "x"}, "text", 'required when kind is "text"'),
        ({"kind": "text", "text": "x" * 20}, "title", 'required when kind is "text"'),
        ({"kind": "text", "title": "x", "text": "short"}, "text", "between 20 and 500,000"),
        ({"kind": "text", "title": "", "text": "x" * 20}, "title", "between 1 and 500"),
        ({"kind": "text", "in_kb": "yes"}, "in_kb", "in_kb must be true or false."),
    ],
)
def test_a_wrong_addition_is_refused_with_what_is_allowed(
    mint: Mint, arguments: dict[str, Any], field: str, told: str
) -> None:
    error = refused(mint, "add_to_knowledge", arguments)
    assert told in error.message
    assert error.details["field"] == field


def test_a_tool_without_arguments_takes_none(mint: Mint) -> None:
    assert "it takes: nothing." in refused(mint, "whoami", {"verbose": True}).message


def test_an_optional_argument_may_be_null(mint: Mint) -> None:
    arguments = {"query": "x", "folder_id": None, "types": None, "tags": None, "since": None}
    token = mint().row
    answer = tool_named("search_knowledge_base", token).prepare(token, arguments)()
    assert answer.model_dump()["results"] == []


def test_an_unknown_tool_is_the_caller_s_mistake() -> None:
    with pytest.raises(InvalidInput, match="There is no tool rm"):
        tool_named("rm", Token())


def test_a_tool_runs_as_its_token(mint: Mint, monkeypatch: pytest.MonkeyPatch) -> None:
    token = mint(write=False).row
    seen: list[Access] = []

    def list_recent(access: Access, *, limit: int, before: Place | None) -> Recent:
        seen.append(access)
        return Recent([], has_more=False)

    monkeypatch.setattr(library, "list_recent", list_recent)
    tool_named("list_recent", token).prepare(token, {})()
    assert [access.token_id for access in seen] == [token.pk]
