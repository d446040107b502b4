"""Over HTTP, by the SDK's own client, in both eras of the protocol."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest
from anyio import to_thread
from django.conf import settings
from django.db import connection
from jsonschema import validate
from mcp import Client
from pytest_django import Settings

from knowledge.library import items as library
from knowledge.models import Folder, Item
from mcp_gateway.server import INSTRUCTIONS
from tests.support.library import Add, Mint
from tests.support.mcp_agent import Agent, AgentWith, error_of, text_of
from tests.support.waiting import eventually
from tokens.models import Event, Token

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "Decisions: ship the API docs. The folder rename is deferred to June."


def test_an_agent_adds_finds_and_reads_what_it_added(mint: Mint, agent_with: AgentWith) -> None:
    agent = agent_with(mint().secret)
    added = agent.call("add_to_knowledge", kind="text", title="Standup", text=TEXT)
    item_id = added.structured_content["user_item_id"]
    assert added.structured_content["folder_id"] is None
    found = agent.call("search_knowledge_base", query="folder rename")
    (hit,) = found.structured_content["results"]
    assert hit["user_item_id"] == item_id
    assert text_of(found).startswith(f"1. ({hit['score']:.2f}) Standup")
    read = agent.call("get_item", item_id=item_id)
    assert read.structured_content["text"] == TEXT
    assert text_of(read).endswith(TEXT)


def test_every_answer_fits_the_schema_that_was_listed(
    mint: Mint, add: Add, folder: Callable[[str], Folder], agent_with: AgentWith
) -> None:
    item = add("Consent", "", folder("Shelf"))
    agent = agent_with(mint(toolsets=["library"]).secret)
    asked = {
        "search_knowledge_base": {"query": "consent"},
        "get_item": {"item_id": str(item.pk)},
        "list_recent": {},
        "list_folders": {},
        "add_to_knowledge": {"kind": "text", "title": "Standup", "text": TEXT},
        "whoami": {},
    }
    tools = agent.tools()
    assert tools.keys() == asked.keys()
    for name, arguments in asked.items():
        schema = tools[name].output_schema
        assert schema is not None
        validate(agent.call(name, **arguments).structured_content, schema)
        validate(arguments, tools[name].input_schema)


def test_the_server_says_who_it_is_and_how_to_use_it(
    mint: Mint, agent_with: AgentWith, era: str
) -> None:
    mode = "auto" if era == "2026-07-28" else era
    agent = replace(agent_with(mint().secret), era=mode)

    async def introduction(client: Client) -> tuple[str, str | None]:
        return client.protocol_version, client.instructions

    revision, instructions = agent.ask(introduction)
    assert revision == era
    assert instructions == INSTRUCTIONS


def test_a_reader_is_not_shown_what_it_may_not_call(mint: Mint, agent_with: AgentWith) -> None:
    agent = agent_with(mint(write=False).secret)
    assert "add_to_knowledge" not in agent.tools()
    error = agent.refused("add_to_knowledge", kind="text", title="x", text=TEXT)
    assert error.code == -32603
    assert error.data == {"error": "capability_denied", "required": ["write"], "have": ["read"]}


def test_the_tool_list_is_for_this_caller_alone(mint: Mint, agent_with: AgentWith) -> None:
    listed = agent_with(mint().secret).ask(lambda client: client.list_tools())
    assert (listed.cache_scope, listed.ttl_ms) == ("private", 0)


def test_a_wrong_argument_is_invalid_params(mint: Mint, agent_with: AgentWith) -> None:
    agent = agent_with(mint().secret)
    cases: list[tuple[dict[str, object], str, str]] = [
        ({"query": "x", "limit": 21}, "limit", "limit must be between 1 and 20; it is 21."),
        ({"query": ""}, "query", "between 1 and 10,000 characters"),
        ({"query": "x", "mode": "psychic"}, "mode", "one of: semantic, keyword, hybrid."),
        ({}, "query", "query is required."),
        ({"query": "x", "limit": "8"}, "limit", "limit must be an integer."),
        ({"query": "x", "colour": "red"}, "colour", "colour is not an argument"),
    ]
    for arguments, field, told in cases:
        error = agent.refused("search_knowledge_base", **arguments)
        assert error.code == -32602
        assert told in error.message
        assert (error.data["error"], error.data["field"]) == ("invalid_body", field)


def test_what_cannot_be_done_is_told_by_its_code(mint: Mint, agent_with: AgentWith) -> None:
    agent = agent_with(mint().secret)
    cases: list[tuple[str, dict[str, str], int, str]] = [
        ("rm", {}, -32602, "invalid_body"),
        ("get_item", {"item_id": "7"}, -32602, "invalid_id"),
        ("get_item", {"item_id": str(uuid4())}, -32603, "not_found"),
        ("add_to_knowledge", {"kind": "file"}, -32602, "forbidden_binary"),
        ("add_to_knowledge", {"kind": "url", "url": "data:,x"}, -32602, "forbidden_binary"),
    ]
    for name, arguments, code, word in cases:
        error = agent.refused(name, **arguments)
        assert (error.code, error.data["error"]) == (code, word)
        assert error.message.endswith(".")


@pytest.mark.usefixtures("stopped_clock")
def test_the_call_after_the_last_of_the_hour_is_refused(
    mint: Mint, agent_with: AgentWith, settings: Settings
) -> None:
    settings.QUARRY_LIMITS = {"search": 2}
    minted = mint()
    agent = agent_with(minted.secret)
    agent.call("search_knowledge_base", query="x")
    minted.client.get("/api/v1/search", {"query": "x"})  # the same bucket
    error = agent.refused("search_knowledge_base", query="x")
    assert (error.code, error.data["error"]) == (-32605, "rate_limited")
    assert 0 < error.data["retry_after_sec"] <= 3600
    agent.call("list_recent")


def test_a_revoked_token_is_dead_at_the_next_call(mint: Mint, agent_with: AgentWith) -> None:
    minted = mint()
    agent = agent_with(minted.secret)

    async def revoke_between_calls(client: Client) -> None:
        await client.call_tool("whoami")
        await to_thread.run_sync(_revoke, minted.row)
        await error_of(client.call_tool("whoami"))

    agent.ask(revoke_between_calls)
    outcomes = Event.objects.filter(token=minted.row).values_list("outcome", flat=True)
    assert list(outcomes) == ["ok"]


def _revoke(token: Token) -> None:
    Token.objects.filter(pk=token.pk).revoke()
    connection.close()


def test_calls_are_recorded_with_their_target_and_outcome(
    mint: Mint, add: Add, agent_with: AgentWith
) -> None:
    item, minted = add("Consent"), mint()
    agent = agent_with(minted.secret)
    agent.call("get_item", item_id=str(item.pk))
    agent.refused("get_item", item_id="not an id")
    agent.refused("search_knowledge_base", query="")
    events = Event.objects.filter(token=minted.row).order_by("at")
    assert [(e.edge, e.action, e.target, e.outcome) for e in events] == [
        ("mcp", "get_item", str(item.pk), "ok"),
        ("mcp", "get_item", "", "invalid_id"),
        ("mcp", "search", "", "invalid_body"),
    ]
    assert all(event.request_id for event in events)


def test_what_we_did_not_foresee_is_logged_and_not_told(
    mint: Mint,
    agent_with: AgentWith,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def break_down(*args: object, **kwargs: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(library, "list_recent", break_down)
    with caplog.at_level(logging.ERROR):
        error = agent_with(mint().secret).refused("list_recent")
    assert (error.code, error.data) == (-32603, {"error": "internal_error"})
    assert "hunter2" not in error.message
    assert "hunter2" in caplog.text


def test_connections_go_back_to_the_pool_however_many_call(
    mint: Mint, add: Add, agent_with: AgentWith
) -> None:
    add("Consent")
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # what other tests have opened
    agent = agent_with(mint().secret)
    with ThreadPoolExecutor(12) as callers:
        found = list(callers.map(_found, [agent] * 24))
    assert found == [1] * 24
    connection.close()  # our own, so that every one of the pool is back
    stats = connection.pool.get_stats  # type: ignore[attr-defined]
    eventually(lambda: _is_at_rest(stats()))
    assert stats()["pool_size"] <= settings.QUARRY_DB_POOL + 1


def _is_at_rest(stats: dict[str, int]) -> bool:
    return stats["pool_available"] == stats["pool_size"]


def _found(agent: Agent) -> int:
    return len(agent.call("search_knowledge_base", query="consent").structured_content["results"])


def test_a_dropped_connection_costs_no_call(mint: Mint, agent_with: AgentWith) -> None:
    agent = agent_with(mint().secret)
    agent.call("list_recent")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    for _ in range(settings.THREADS["calls"]):
        agent.call("list_recent")


def test_the_longest_text_passes_and_reads_back(mint: Mint, agent_with: AgentWith) -> None:
    agent = agent_with(mint().secret)
    text = "été " * 125_000
    added = agent.call("add_to_knowledge", kind="text", title="Long", text=text, in_kb=False)
    item = Item.objects.get(pk=added.structured_content["user_item_id"])
    assert item.content.text == text
