"""Toolsets bind both edges: what a token is not shown over MCP it may not ask for over REST."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern

from knowledge.api.base import AskView
from knowledge.api.urls import urlpatterns as library_urls
from tests.support.edges import MISSING, over_mcp
from tests.support.library import Mint
from tokens.models import Event, Toolset
from tokens.urls import urlpatterns as token_urls

OF_PEOPLE = {"tokens", "token"}
EVERY = {"whoami", "activity", "usage"}
LIBRARY = {
    *("ingest", "ingest-batch", "search", "items", "item-retry", "item-transform", "item-original"),
    *("signed-url", "finalize", "finalize-document", "webhooks", "webhook", "export", "import"),
    "import-state",
    "export-state",
}
ITEMS = {"item", "item-folders", "item-folder", "folders", "folder"}
MEMORY = {
    *(
        "memory",
        "memory-batch",
        "memory-search",
        "task-moves",
        "item-relations",
        "relation",
        "explore",
        "context",
    ),
    *("sources", "source", "source-crawls", "source-pages"),
}
REGISTRY = {
    *("skills", "skill", "skill-versions", "skill-archive", "judge-skill", "skill-reports"),
    *("knowledge", "units", "unit", "unit-versions", "judge-unit", "unit-reports"),
    *("reputation", "leaderboard", "providers", "provider", "heartbeats"),
}
OPEN = {
    "library": LIBRARY | ITEMS,
    "memory": MEMORY | ITEMS,
    "registry": REGISTRY | ITEMS,
    "chatgpt": {"search"},
}


def views() -> Iterator[tuple[str, str, type[AskView]]]:
    for pattern in (*library_urls, *token_urls):
        assert isinstance(pattern, URLPattern)
        view = getattr(pattern.callback, "cls", None)
        if isinstance(view, type) and issubclass(view, AskView) and view.asks:
            route = re.sub(r"<\w+:\w+>", MISSING, str(pattern.pattern))
            yield str(pattern.name), route, view


CALLS = [(name, route, method) for name, route, view in views() for method in view.asks]


@pytest.mark.parametrize("toolset", Toolset.values)
def test_every_route_is_open_to_just_the_tokens_of_its_toolset(mint: Mint, toolset: str) -> None:
    client = mint(toolsets=[toolset], name=toolset).client
    for name, route, method in CALLS:
        answer = client.generic(method, f"/api/v1/{route}", "{}", content_type="application/json")
        told = answer.json() if answer.status_code == 403 else {}
        denied = told.get("have") == [toolset]
        is_open = name in OPEN[toolset] | EVERY or (
            toolset == "chatgpt" and (name, method) == ("item", "GET")
        )
        assert denied is not is_open, (name, method, answer.status_code)
        if denied:
            assert told["error"] == "capability_denied"
            assert told["required"]
            assert toolset not in told["required"]


def test_no_route_is_without_a_row() -> None:
    known = LIBRARY | ITEMS | MEMORY | REGISTRY | EVERY | OF_PEOPLE
    assert {name for name, _, _ in views()} - known == set()


def test_both_edges_refuse_in_the_same_words_and_count_the_call(mint: Mint) -> None:
    token = mint(toolsets=["library"])
    asked: dict[str, Any] = {"title": "new", "content": "granite is cut along its grain"}
    rest = token.client.post("/api/v1/memory", asked, format="json")
    assert rest.status_code == 403
    assert rest.json()["required"] == ["memory"]
    assert rest.json()["have"] == ["library"]
    assert over_mcp(token, "add", **asked) == ("capability_denied", rest.json()["message"])
    assert list(Event.objects.values_list("edge", "action", "outcome").order_by("pk")) == [
        ("rest", "remember", "capability_denied"),
        ("mcp", "remember", "capability_denied"),
    ]
