"""Calls that take long: told how far they are, stopped when nobody waits, and ended in time."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from anyio import to_thread
from django.db import connection
from mcp import Client
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge.library import items as library
from knowledge.models import Content, Item
from mcp_gateway import dispatch
from mcp_gateway.dispatch import Run
from mcp_gateway.tool_table import TOOLS
from tests.support.library import Mint, Minted
from tests.support.mcp_agent import Agent, AgentWith
from tests.support.waiting import DEADLINE, eventually
from tokens.models import Event, Toolset

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "<html><title>Granite</title><body><article>" + "<p>Granite is hard. </p>" * 40
SLEEPING = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep%%'"
)
LIST_RECENT = (Toolset.LIBRARY, "list_recent")
FOREVER = 2 * DEADLINE
"""Seconds: nobody here waits for as long, so that whatever ends before was ended."""


@pytest.fixture(params=["by Django", "past Django"])
def endless(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """list_recent waits for the database for longer than anybody would, as searches do too."""

    def wait(*args: object, **kwargs: object) -> None:
        if request.param == "past Django":
            connection.connection.execute(f"SELECT pg_sleep({FOREVER})")
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_sleep({FOREVER})")

    monkeypatch.setattr(library, "list_recent", wait)
    monkeypatch.setattr(dispatch, "STATEMENT_SECONDS", FOREVER)
    monkeypatch.setitem(TOOLS, LIST_RECENT, replace(TOOLS[LIST_RECENT], seconds=FOREVER))


def sleeping() -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"{SLEEPING} AND state = 'active'")
        return int(cursor.fetchone()[0])


def outcomes(minted: Minted) -> list[str]:
    return list(Event.objects.filter(token=minted.row).values_list("outcome", flat=True))


def test_adding_a_link_tells_its_steps(mint: Mint, agent_with: AgentWith, site: HTTPServer) -> None:
    site.expect_request("/page").respond_with_data(PAGE, content_type="text/html")
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    asked = {"kind": "url", "url": site.url_for("/page")}
    added = agent_with(mint().secret).ask(
        lambda client: client.call_tool("add_to_knowledge", asked, progress_callback=hear)
    )
    assert added.structured_content["status"] == "ready"
    assert told == [(0, 3, "fetching"), (1, 3, "reading"), (2, 3, "indexing")]


def test_a_client_that_did_not_ask_is_told_nothing(
    mint: Mint, agent_with: AgentWith, site: HTTPServer
) -> None:
    site.expect_request("/page").respond_with_data(PAGE, content_type="text/html")
    added = agent_with(mint().secret).call(
        "add_to_knowledge", kind="url", url=site.url_for("/page")
    )
    assert added.structured_content["status"] == "ready"


@pytest.mark.usefixtures("endless")
def test_a_client_that_leaves_stops_its_query(mint: Mint, agent_with: AgentWith) -> None:
    minted = mint()
    leave(agent_with(minted.secret), "list_recent", {}, once=lambda: sleeping() == 1)
    eventually(lambda: sleeping() == 0)
    eventually(lambda: outcomes(minted) == ["stopped"])


def test_what_is_left_in_mid_fetch_adds_nothing(
    mint: Mint, agent_with: AgentWith, site: HTTPServer
) -> None:
    asked, release = threading.Event(), threading.Event()

    def slow(request: Request) -> Response:
        asked.set()
        release.wait(20)
        return Response(PAGE, content_type="text/html")

    site.expect_request("/page").respond_with_handler(slow)
    minted = mint()
    arguments = {"kind": "url", "url": site.url_for("/page")}
    stopped = threading.Event()
    stop = Run.stop

    def note(run: Run) -> None:
        stop(run)
        stopped.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "stop", note)
        leave(agent_with(minted.secret), "add_to_knowledge", arguments, once=asked.is_set)
        assert stopped.wait(20)
        release.set()
        eventually(lambda: outcomes(minted) == ["stopped"])
    assert not Item.objects.exists()
    assert not Content.objects.exists()


def leave(agent: Agent, tool: str, arguments: dict[str, Any], once: Callable[[], bool]) -> None:
    """Call, and go away as soon as the server is at it."""

    async def call_and_leave(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, tool, arguments)
            await to_thread.run_sync(lambda: eventually(once))
            group.cancel_scope.cancel()

    agent.ask(call_and_leave)


@pytest.mark.usefixtures("endless")
def test_a_call_that_takes_too_long_is_stopped_and_told_so(
    mint: Mint, agent_with: AgentWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOOLS, LIST_RECENT, replace(TOOLS[LIST_RECENT], seconds=1))
    minted = mint()
    error = agent_with(minted.secret).refused("list_recent")
    assert (error.code, error.data) == (
        -32603,
        {"error": "provider_unavailable", "timeout_sec": 1},
    )
    assert "longer than 1 seconds and was stopped" in error.message
    eventually(lambda: sleeping() == 0)
    eventually(lambda: outcomes(minted) == ["stopped"])


@pytest.mark.usefixtures("endless")
def test_the_database_itself_ends_a_statement_that_nobody_stopped(
    mint: Mint, agent_with: AgentWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "STATEMENT_SECONDS", 1)
    error = agent_with(mint().secret).refused("list_recent")
    assert error.data["error"] == "provider_unavailable"
    assert sleeping() == 0


def test_every_tool_has_its_time() -> None:
    assert {name: tool.seconds for (_, name), tool in TOOLS.items() if tool.seconds != 30} == {
        "add_to_knowledge": 120
    }


def test_a_connection_that_goes_back_keeps_no_limit(mint: Mint, agent_with: AgentWith) -> None:
    agent_with(mint().secret).call("list_recent")
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)
