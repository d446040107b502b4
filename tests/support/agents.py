"""The official MCP client, connected by whatever a client's configuration names."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.support.snippets import Http, Stdio

T = TypeVar("T")


def ask(server: Http | Stdio, question: Callable[[Client], Awaitable[T]], **env: str) -> T:
    """Connect, ask one thing and leave; `env` is set beside what the configuration sets."""

    async def connect_and_ask() -> T:
        async with AsyncExitStack() as stack:
            if isinstance(server, Http):
                http = await stack.enter_async_context(create_mcp_http_client(server.headers))
                client = Client(_transport(server.url, http))
            else:
                client = Client(
                    StdioServerParameters(
                        command=server.command, args=server.args, env=env | server.env
                    )
                )
            return await question(await stack.enter_async_context(client))

    return anyio.run(connect_and_ask)


@asynccontextmanager
async def _transport(url: str, http: Any) -> Any:
    async with streamable_http_client(url, http_client=http) as streams:
        yield streams


async def tool_names(client: Client) -> list[str]:
    return sorted(tool.name for tool in (await client.list_tools()).tools)
