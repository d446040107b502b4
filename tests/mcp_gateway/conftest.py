"""Agents: real SDK clients over HTTP, in each era of the protocol, as plain functions."""

import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ErrorData, Tool

from mcp_gateway.asgi import McpApp

T = TypeVar("T")

ERAS = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}
"""Each revision under test, and the name of the way to connect by it."""
DEADLINE = 20


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A real server in this process, on whichever port is free."""
    config = uvicorn.Config(
        McpApp(), host="127.0.0.1", port=0, lifespan="on", ws="none", log_config=None
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + DEADLINE
    while not server.started:
        assert thread.is_alive(), "The server did not start."
        assert time.monotonic() < deadline, "The server did not start in time."
        time.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()
    yield f"http://{host}:{port}"
    server.should_exit = True
    thread.join(DEADLINE)


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """A protocol revision: the stateless one and the newest with a handshake."""
    return str(request.param)


@dataclass(frozen=True)
class Agent:
    """A client that connects, asks one thing and leaves."""

    url: str
    secret: str
    era: str
    path: str = "/mcp"

    def call(self, name: str, **arguments: Any) -> CallToolResult:
        return self.ask(lambda client: client.call_tool(name, arguments))

    def refused(self, name: str, **arguments: Any) -> ErrorData:
        return self.ask(lambda client: error_of(client.call_tool(name, arguments)))

    def tools(self) -> dict[str, Tool]:
        listed = self.ask(lambda client: client.list_tools())
        return {tool.name: tool for tool in listed.tools}

    def ask(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        async def connect_and_ask() -> T:
            headers = {"Authorization": f"Bearer {self.secret}"}
            async with (
                create_mcp_http_client(headers) as http,
                Client(
                    _transport(self.url + self.path, http), mode=ERAS.get(self.era, self.era)
                ) as client,
            ):
                return await ask(client)

        return anyio.run(connect_and_ask)


@asynccontextmanager
async def _transport(url: str, http: Any) -> Any:
    async with streamable_http_client(url, http_client=http) as streams:
        yield streams


async def error_of(asked: Awaitable[object]) -> ErrorData:
    """Caught within the connection: on its way out the SDK would wrap it in groups."""
    with pytest.raises(MCPError) as raised:
        await asked
    return raised.value.error


AgentWith = Callable[[str], Agent]


@pytest.fixture
def agent_with(server_url: str, era: str) -> AgentWith:
    """An agent that holds this secret."""
    return lambda secret: Agent(server_url, secret, era)


def text_of(result: CallToolResult) -> str:
    """The answer for a client that hands its model only text; links to items may follow it."""
    block, *links = result.content
    assert block.type == "text"
    assert {link.type for link in links} <= {"resource_link"}
    return block.text
