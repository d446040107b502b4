"""MCP alone, for `manage.py mcp_server`; Django is set up by then, and its views are not loaded."""

from config.lingering import Lingering, Message, Receive, Send
from config.measuring import ROUTE, Measured
from mcp_gateway.asgi import McpApp

mcp_app = McpApp()


async def _answer(scope: Message, receive: Receive, send: Send) -> None:
    scope[ROUTE] = "/mcp"
    await mcp_app(scope, receive, send)


application = Measured(Lingering(_answer))
