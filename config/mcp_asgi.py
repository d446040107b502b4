"""MCP alone, for `manage.py mcp_server`; Django is set up by then, and its views are not loaded."""

from config.entry import DrainBody, RequestMetrics, Route, Routes
from mcp_gateway.asgi import McpApp

mcp_app = McpApp()
application = RequestMetrics(DrainBody(Routes(Route(lambda scope: True, mcp_app, "/mcp"))))
