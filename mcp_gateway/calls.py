"""One call from end to end, as a plain function: token, limit, tool, record."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from mcp_types import Tool as ToolDefinition

from knowledge.errors import InvalidId, QuarryError
from knowledge.validation import as_id
from mcp_gateway.identity import Caller
from mcp_gateway.payloads import Payload
from mcp_gateway.registry import tool_named, tools_shown_to
from mcp_gateway.tools import library as _library  # noqa: F401 (registers its tools)
from tokens.activity import record
from tokens.authentication import authenticate
from tokens.limits import spend


def list_tools(caller: Caller) -> list[ToolDefinition]:
    """What the caller may call."""
    return tools_shown_to(authenticate(caller.secret))


def call_tool(caller: Caller, name: str, arguments: Mapping[str, Any]) -> Payload:
    """Run a tool for the caller; every call of a known tool is counted and recorded."""
    started = perf_counter()
    token = authenticate(caller.secret)
    tool = tool_named(name)
    outcome, target = "internal_error", _asked_for(arguments)
    try:
        spend(token, tool.ask)
        tool.require(token)
        answer = tool.call(token, arguments)
        outcome, target = "ok", str(getattr(answer, "user_item_id", ""))
        return answer
    except QuarryError as error:
        outcome = error.code
        raise
    finally:
        record(
            token,
            edge=caller.edge,
            action=tool.ask,
            target=target,
            outcome=outcome,
            latency_ms=(perf_counter() - started) * 1000,
            request_id=caller.request_id,
        )


def _asked_for(arguments: Mapping[str, Any]) -> str:
    """The item that the caller named, if it is one: only identifiers go into the record."""
    try:
        return str(as_id(arguments.get("item_id", ""), field="item_id"))
    except InvalidId:
        return ""
