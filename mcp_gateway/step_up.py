"""Asking an OAuth client for more: a 403 that names the scope it would need."""

import json

from knowledge.access import Capability
from mcp_gateway.tool_table import TOOLS
from tokens.models import Token


def needs_more(token: Token, body: bytes) -> bool:
    """Whether this message calls a tool that the connection's scope is too small for."""
    if not token.client_id or token.can_write:
        return False
    try:
        message = json.loads(body)
        is_call = message["method"] == "tools/call"
        name = message["params"]["name"]
    except (ValueError, KeyError, TypeError):
        return False
    known = [tool for (_, known_name), tool in TOOLS.items() if known_name == name]
    return (
        is_call
        and bool(known)
        and all(tool.ask.needs == Capability.WRITE for tool in known)
        and any(tool.toolset in token.toolsets for tool in known)
    )
