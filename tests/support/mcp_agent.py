"""An agent: a real SDK client over HTTP, in each era of the protocol, as plain functions."""

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ErrorData, Tool

T = TypeVar("T")
ERAS = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}
"""Each revision under test, and the name of the way to connect by it."""

DEADLINE = 20


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


def text_of(result: CallToolResult) -> str:
    """The answer for a client that hands its model only text; links to items may follow it."""
    block, *links = result.content
    assert block.type == "text"
    assert {link.type for link in links} <= {"resource_link"}
    return block.text
