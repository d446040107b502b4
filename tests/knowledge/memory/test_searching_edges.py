"""Memory's search over both edges: every parameter, every example, and page after page."""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.models import Item, Source, SourcePage
from mcp_gateway.errors import JSON_RPC_CODES
from mcp_gateway.tool_table import TOOLS, tool_named, tools_shown_to
from tests.support.library import LONG_ENOUGH, Add, Mint, Minted
from tests.support.rollback import each_case
from tests.support.writing import EDGES, Said, by_mcp, by_rest, memory
from tokens.models import Toolset

FIELDS = {
    *("results", "total", "query", "filters", "graph_count", "document_count"),
    *("limit", "offset", "has_more", "usage_hint", "degraded"),
}
RESULT_FIELDS = {
    *("id", "type", "name", "title", "content", "score", "source", "url", "result_origin"),
    *("metadata", "user_item_id", "chunk_id", "copies", "untrusted"),
}
every_edge = pytest.mark.parametrize("edge", EDGES)


@pytest.fixture
def token(mint: Mint) -> Minted:
    return mint(toolsets=[Toolset.MEMORY])


def asked(edge: str, token: Minted, **given: Any) -> Said:
    if edge == "mcp":
        return by_mcp(token, "search", **given)
    return by_rest(token, "POST", "memory/search", **given)


def answered(edge: str, token: Minted, **given: Any) -> dict[str, Any]:
    code, answer = asked(edge, token, **given)
    assert code == "ok", answer
    assert answer.keys() == FIELDS
    for result in answer["results"]:
        assert result.keys() == RESULT_FIELDS
    return answer


def titles(answer: dict[str, Any]) -> set[str]:
    return {result["title"] for result in answer["results"]}


@every_edge
@each_case(
    "given, field, told",
    [
        ({}, "query", "query is required."),
        ({"query": 7}, "query", "must be a string"),
        ({"query": ""}, "query", "between 1 and 10,000 characters"),
        ({"query": "x" * 10_001}, "query", "it has 10,001"),
        ({"query": " \n"}, "query", "blank"),
        ({"query": "x", "types": ["poem"]}, "types", "types must be one of: document, pattern"),
        ({"query": "x", "types": "task"}, "types", "types must be a list"),
        ({"query": "x", "language": ""}, "language", "between 1 and 100"),
        ({"query": "x", "language": 3}, "language", "must be a string"),
        ({"query": "x", "category": "y" * 101}, "category", "it has 101"),
        ({"query": "x", "status": "open"}, "status", "backlog, todo, doing, blocked"),
        ({"query": "x", "status": "todo,,doing"}, "status", "status must be one of"),
        ({"query": "x", "status": ["todo"]}, "status", "must be a string"),
        ({"query": "x", "project": "proj_abc123"}, "project", "project must be a UUID"),
        ({"query": "x", "assignee": " "}, "assignee", "between 1 and 100"),
        ({"query": "x", "source_id": "7"}, "source_id", "source_id must be a UUID"),
        ({"query": "x", "source_name": ""}, "source_name", "between 1 and 200"),
        ({"query": "x", "source": "a", "source_name": "b"}, "source", "give one of them"),
        ({"query": "x", "since": "soon"}, "since", "7d, 2w, 3m or 1y"),
        ({"query": "x", "since": "2026-13-01"}, "since", "ISO date"),
        ({"query": "x", "temporal_decay_days": 0}, "temporal_decay_days", "greater than 0"),
        ({"query": "x", "temporal_decay_days": -1.5}, "temporal_decay_days", "greater than 0"),
        ({"query": "x", "temporal_decay_days": 1e7}, "temporal_decay_days", "at most 1,000,000"),
        ({"query": "x", "temporal_decay_days": 10**400}, "temporal_decay_days", "must be"),
        ({"query": "x", "temporal_decay_days": "30"}, "temporal_decay_days", "a number"),
        ({"query": "x", "temporal_decay_days": True}, "temporal_decay_days", "a number"),
        ({"query": "x", "limit": 0}, "limit", "between 1 and 50; it is 0"),
        ({"query": "x", "limit": 51}, "limit", "between 1 and 50; it is 51"),
        ({"query": "x", "limit": "5"}, "limit", "must be an integer"),
        ({"query": "x", "limit": 2.5}, "limit", "must be an integer"),
        ({"query": "x", "include_content": "yes"}, "include_content", "true or false"),
        ({"query": "x", "include_documents": 1}, "include_documents", "true or false"),
        ({"query": "x", "include_graph": "no"}, "include_graph", "true or false"),
        ({"query": "x", "use_enhanced": 0}, "use_enhanced", "true or false"),
        ({"query": "x", "boost_recent": "off"}, "boost_recent", "true or false"),
        (
            {"query": "x", "include_graph": False, "include_documents": False},
            "include_graph",
            "both false",
        ),
        ({"query": "x", "types": ["rule"], "include_graph": False}, "types", "leaves out"),
        ({"query": "x", "organization": 3}, "organization", "query"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(
    token: Minted, edge: str, given: dict[str, Any], field: str, told: str
) -> None:
    code, error = asked(edge, token, **given)
    assert JSON_RPC_CODES[code] == -32602
    assert error["field"] == field
    assert told in error["message"]


@every_edge
def test_every_parameter_at_the_ends_of_its_range_is_taken(token: Minted, edge: str) -> None:
    nobody = "11111111-1111-4111-8111-111111111111"
    for given in (
        {"limit": 1},
        {"limit": 50},
        {"temporal_decay_days": 0.001},
        {"temporal_decay_days": 1_000_000},
        {"types": ["document", "pattern", "rule", "template", "topic", "episode"]},
        {"types": ["task", "project", "skill", "reasoning_trace"]},
        {"status": "backlog,todo,doing,blocked,review,done,archived"},
        {"project": nobody, "source_id": nobody, "assignee": "Ada", "source": "docs"},
        {"source": "docs", "source_name": "docs", "language": "python", "category": "x"},
        {"include_content": False, "use_enhanced": False, "boost_recent": False},
    ):
        assert answered(edge, token, query="x", **given)["results"] == []


@every_edge
def test_what_was_given_is_told_and_what_was_not_has_its_default(token: Minted, edge: str) -> None:
    answer = answered(edge, token, query="granite")
    assert (answer["limit"], answer["offset"], answer["filters"]) == (10, 0, {})
    assert answer["query"] == "granite"
    given = {"types": ["task"], "status": "todo, doing", "source": "docs", "since": "2026-05-01"}
    assert answered(edge, token, query="granite", **given)["filters"] == {
        "types": ["task"],
        "status": ["todo", "doing"],
        "source_name": "docs",
        "since": "2026-05-01T00:00:00Z",
    }


@every_edge
@pytest.mark.parametrize(
    ("since", "is_found"),
    [
        ("7d", {"6 days"}),
        ("2w", {"6 days", "13 days"}),
        ("3m", {"6 days", "13 days", "80 days"}),
        ("1y", {"6 days", "13 days", "80 days", "May"}),
        ("2026-05-01", {"6 days", "13 days", "80 days", "May"}),
        ("2026-05-01T10:00:00Z", {"6 days", "13 days", "80 days"}),
    ],
)
def test_since_takes_dates_datetimes_and_ages(
    library: Access,
    token: Minted,
    edge: str,
    since: str,
    is_found: set[str],
    time_machine: Any,
) -> None:
    ages = {
        "6 days": timedelta(days=6),
        "13 days": timedelta(days=13),
        "80 days": timedelta(days=80),
        "two years": timedelta(days=730),
    }
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    moments = {name: now - age for name, age in ages.items()}
    moments["May"] = datetime(2026, 5, 1, 9, tzinfo=UTC)
    for title, moment in moments.items():
        item = memory(library, title, "granite")
        Item.objects.filter(pk=item.pk).update(created_at=moment)
    time_machine.move_to(now, tick=False)
    assert titles(answered(edge, token, query="granite", since=since)) == is_found


@every_edge
def test_the_half_life_of_30_days_halves_at_30_days(
    library: Access, token: Minted, edge: str
) -> None:
    item = memory(library, "Granite")
    Item.objects.filter(pk=item.pk).update(updated_at=timezone.now() - timedelta(days=30))
    answer = answered(edge, token, query="granite", temporal_decay_days=30)
    assert answer["results"][0]["metadata"]["recency_boost"] == pytest.approx(0.5, abs=1e-4)


@pytest.fixture
def world(library: Access, add: Add) -> dict[str, str]:
    """What the examples of the memory tool's reference speak of, by name."""
    project = memory(library, "Authentication", entity_type="project")
    made = {
        "project": project,
        "oauth": memory(
            library,
            "OAuth 2.0 PKCE Flow",
            "The recommended OAuth implementation for mobile apps uses PKCE.",
            entity_type="pattern",
            category="authentication",
            languages=["typescript", "python"],
        ),
        "todo": memory(library, "Authentication form", entity_type="task", project=str(project.pk)),
        "backlog": memory(
            library, "Authentication mail", entity_type="task", project=str(project.pk)
        ),
        "rule": memory(
            library, "Error handling patterns", entity_type="rule", languages=["python"]
        ),
        "episode": memory(library, "Debugging insights of the week"),
        "next": add("Next.js middleware configuration"),
        "api": add("API reference"),
    }
    Item.objects.filter(pk=made["todo"].pk).update(
        attributes=made["todo"].attributes | {"status": "todo"}
    )
    for name, key in (("next-docs", "next"), ("api-docs", "api")):
        source = Source.objects.create(
            owner_id=library.owner_id, name=name, start_url=f"https://{key}.example"
        )
        SourcePage.objects.create(source=source, key=key, url="https://x.example", item=made[key])
    return {name: str(item.pk) for name, item in made.items()}


@every_edge
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ({"query": "OAuth implementation patterns"}, "oauth"),
        (
            {
                "query": "authentication",
                "types": ["task"],
                "project": "{project}",
                "status": "todo,doing",
            },
            "todo",
        ),
        (
            {
                "query": "Next.js middleware configuration",
                "source_name": "next-docs",
                "include_graph": False,
            },
            "next",
        ),
        (
            {
                "query": "error handling patterns",
                "types": ["pattern", "rule"],
                "language": "python",
            },
            "rule",
        ),
        ({"query": "debugging insights", "types": ["episode"], "since": "7d"}, "episode"),
        ({"query": "API reference", "types": ["document"], "source_name": "api-docs"}, "api"),
    ],
)
def test_every_example_of_the_reference_answers(
    token: Minted, world: dict[str, str], edge: str, arguments: dict[str, Any], first: str
) -> None:
    if "project" in arguments:
        arguments = arguments | {"project": world["project"]}
    answer = answered(edge, token, **arguments)
    assert answer["results"][0]["id"] == world[first]
    assert 0 < answer["results"][0]["score"] <= 1
    assert answer["total"] == answer["graph_count"] + answer["document_count"]


def test_both_edges_answer_alike(token: Minted, world: dict[str, str]) -> None:
    given = {"query": "authentication patterns", "limit": 3, "boost_recent": False}
    assert answered("rest", token, **given) == answered("mcp", token, **given)


def test_what_is_found_can_be_read_by_every_tool_that_takes_an_id(
    mint: Mint, library: Access
) -> None:
    item = memory(library, "Granite")
    token = mint(toolsets=[Toolset.MEMORY, Toolset.LIBRARY])
    [result] = answered("mcp", token, query="granite")["results"]
    code, document = by_mcp(token, "fetch", id=result["id"])
    assert (code, document["title"], document["url"]) == ("ok", "Granite", result["url"])
    assert by_mcp(token, "get_item", item_id=result["id"])[1]["user_item_id"] == str(item.pk)
    related = by_mcp(token, "explore", mode="related", entity_id=result["id"])
    assert related[0] == "ok"


def test_a_token_with_both_searches_is_shown_memory_s(mint: Mint) -> None:
    row = mint(toolsets=[Toolset.CHATGPT, Toolset.MEMORY]).row
    assert tool_named("search", row).toolset == Toolset.MEMORY
    listed = {tool.name: tool for tool in tools_shown_to(row)}
    assert listed["search"] is TOOLS[Toolset.MEMORY, "search"].definition
    assert "offset" not in listed["search"].input_schema["properties"]
    assert TOOLS[Toolset.MEMORY, "search"].seconds == 30


def test_over_mcp_there_is_no_offset(token: Minted) -> None:
    code, error = by_mcp(token, "search", query="x", offset=10)
    assert (code, error["field"]) == ("invalid_body", "offset")


def test_the_text_says_what_the_structured_answer_does(
    mint: Mint, library: Access, world: dict[str, str]
) -> None:
    token = mint(toolsets=[Toolset.MEMORY]).row
    answer = tool_named("search", token).prepare(token, {"query": "OAuth", "language": "python"})()
    text = answer.as_text()
    for part in (world["oauth"], "pattern: OAuth 2.0 PKCE Flow", "untrusted"):
        assert part in text
    for figure in ("graph_count", "recency_boost", "chunk_id"):
        assert figure not in text
    first = tool_named("search", token).prepare(token, {"query": "OAuth", "limit": 1})()
    assert f"1 of {first.model_dump()['total']} that match" in first.as_text()
    empty = tool_named("search", token).prepare(token, {"query": "x", "types": ["skill"]})()
    assert "Nothing that this token reaches matches" in empty.as_text()


@pytest.fixture
def mixed(library: Access) -> list[Item]:
    """A hundred and sixty items, half of them memory, many of them much alike."""
    made = [
        add_text(library, title=f"Stone {n % 130}", text=f"granite {n % 7} {LONG_ENOUGH} {n}")
        for n in range(160)
    ]
    Item.objects.filter(pk__in=[item.pk for item in made[::2]]).update(type="episode")
    return made


def test_160_mixed_results_are_paged_without_a_gap_or_a_repeat(
    token: Minted, mixed: list[Item]
) -> None:
    seen: list[str] = []
    scores: list[float] = []
    offset, has_more = 0, True
    while has_more:
        answer = answered("rest", token, query="granite stone", limit=50, offset=offset)
        counts = (answer["total"], answer["graph_count"], answer["document_count"])
        assert counts == (160, 80, 80)
        assert answer["offset"] == offset
        seen += [result["id"] for result in answer["results"]]
        scores += [result["score"] for result in answer["results"]]
        offset, has_more = offset + 50, answer["has_more"]
    assert len(seen) == 160
    assert set(seen) == {str(item.pk) for item in mixed}
    assert all(one >= other - 1e-6 for one, other in pairwise(scores))
    past = answered("rest", token, query="granite stone", limit=50, offset=160)
    assert (past["results"], past["has_more"], past["total"]) == ([], False, 160)


# A route of its own ----------------------------------------------------------------------------


def test_each_search_refuses_what_is_the_others(mint: Mint) -> None:
    token = mint(toolsets=[Toolset.MEMORY, Toolset.LIBRARY])
    code, error = by_rest(token, "POST", "memory/search", query="x", mode="hybrid")
    assert (code, error["field"]) == ("invalid_body", "mode")
    assert "include_graph" in error["allowed"]
    code, error = by_rest(token, "POST", "search", query="x", language="python")
    assert (code, error["field"]) == ("invalid_body", "language")
    assert "folder_id" in error["allowed"]


def test_the_librarys_search_has_one_set_of_defaults_both_ways(mint: Mint, library: Access) -> None:
    for number in range(12):
        memory(library, f"Granite {number}")
    client = mint().client
    got = client.get("/api/v1/search", {"query": "granite"}).json()
    assert got == client.post("/api/v1/search", {"query": "granite"}, format="json").json()
    assert (len(got["results"]), got["mode"]) == (8, "hybrid")


@pytest.mark.parametrize("body", [[], 7, "x", None])
def test_a_body_that_is_no_object_is_refused(token: Minted, body: object) -> None:
    answer = token.client.generic(
        "POST", "/api/v1/memory/search", json.dumps(body), content_type="application/json"
    )
    assert answer.status_code == 400
