"""MCP alone, for `manage.py mcp_server`; Django is set up by then, and its views are not loaded."""

from config.entry import DrainBody, RequestMetrics, RequestsPerAddress, Route, Routes
from mcp_gateway.asgi import McpApp

mcp_app = McpApp()
routes = Routes(Route(lambda scope: True, mcp_app, "/mcp"))
application = RequestMetrics(RequestsPerAddress(DrainBody(routes)))
