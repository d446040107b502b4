"""The table of asks: every edge names its asks from there, and every ask is asked for somewhere."""

from typing import Any

from django.urls import get_resolver

from knowledge.asks import ADDS, Ask
from mcp_gateway.calls import list_tools  # noqa: F401 (registers the tools)
from mcp_gateway.tool_table import TOOLS


def asks_of_routes() -> set[Ask]:
    views = [getattr(route.callback, "cls", None) for route in routes(get_resolver())]
    return {ask for view in views for ask in getattr(view, "asks", {}).values()}


def routes(resolver: Any) -> list[Any]:
    found: list[Any] = []
    for route in resolver.url_patterns:
        found += routes(route) if hasattr(route, "url_patterns") else [route]
    return found


def test_every_ask_has_a_route_or_a_tool() -> None:
    assert asks_of_routes() | {tool.ask for tool in TOOLS.values()} == set(Ask)


def test_what_is_added_is_named_by_its_answer() -> None:
    assert all(ask.about for ask in Ask if ask.effect is ADDS)
