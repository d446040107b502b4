"""Plain requests of the handshake's revisions, answered without a session of the SDK.

The SDK makes a transport, four streams and as many tasks for each request, which costs three times
what most calls do. Whatever is not plain is left to the SDK: other methods, notifications, the
stateless revision, callers that want progress, and all that is malformed. The answers are the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pydantic_core
from mcp.shared.exceptions import MCPError
from mcp_types import DEFAULT_NEGOTIATED_VERSION, CallToolRequestParams, CallToolResult
from mcp_types.methods import serialize_server_result
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from mcp_gateway.calls import list_tools
from mcp_gateway.identity import Caller
from tokens.models import Token

_STRUCTURED = frozenset({"2025-06-18", "2025-11-25"})
"""Revisions that leave out nothing of a tool's answer."""


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """A request that needs nothing but its answer."""

    id: int | str
    method: str
    params: Mapping[str, Any]
    version: str

    @property
    def call(self) -> CallToolRequestParams | None:
        """The tool that it calls, if it calls one."""
        if self.method != "tools/call":
            return None
        name, arguments = self.params["name"], self.params.get("arguments")
        return CallToolRequestParams.model_construct(name=name, arguments=arguments)

    def answer_for(self, token: Token) -> bytes:
        """The message for a request that calls no tool."""
        if self.method == "ping":
            return self._message("result", b"{}")
        return self._message(
            "result", _tool_list(self.version, tuple(token.toolsets), token.can_write)
        )

    def result_message(self, result: CallToolResult) -> bytes:
        """As it was made: only tests check it against the protocol's schema."""
        wire = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        wire.pop("resultType", None)
        if self.version not in _STRUCTURED:
            wire = serialize_server_result("tools/call", self.version, wire)
        return self._message("result", pydantic_core.to_json(wire))

    def error_message(self, error: MCPError) -> bytes:
        told = error.error.model_dump(mode="json", by_alias=True, exclude_none=True)
        return self._message("error", pydantic_core.to_json(told))

    def _message(self, kind: str, content: bytes) -> bytes:
        return b'{"jsonrpc":"2.0","id":%s,"%s":%s}' % (
            json.dumps(self.id, ensure_ascii=False).encode(),
            kind.encode(),
            content,
        )


def read_plain(headers: Mapping[str, str], body: bytes) -> PlainRequest | None:
    """The request in a body, if it is plain."""
    version = headers.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
    if version not in HANDSHAKE_PROTOCOL_VERSIONS or not _takes_events(headers):
        return None
    try:
        message = pydantic_core.from_json(body)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.keys() - {"jsonrpc", "id", "method", "params"}:
        return None
    id_, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return None
    if not isinstance(id_, (int, str)) or isinstance(id_, bool):
        return None
    if not _is_plain(method, params):
        return None
    return PlainRequest(id_, method, params, version)


def _takes_events(headers: Mapping[str, str]) -> bool:
    accept, content_type = headers.get("accept", ""), headers.get("content-type", "")
    is_json = content_type.partition(";")[0].strip() == "application/json"
    return is_json and "application/json" in accept and "text/event-stream" in accept


def _is_plain(method: str, params: object) -> bool:
    if method in ("ping", "tools/list"):
        return params == {}
    if method != "tools/call" or not isinstance(params, dict):
        return False
    arguments = params.get("arguments", {})
    is_known = params.keys() <= {"name", "arguments"}
    return is_known and isinstance(params.get("name"), str) and isinstance(arguments, dict)


@lru_cache(maxsize=512)
def _tool_list(version: str, toolsets: tuple[str, ...], can_write: bool) -> bytes:
    """What a token of this kind is shown, which is the same until the server is another one."""
    caller = Caller("", edge="mcp", token=Token(toolsets=list(toolsets), can_write=can_write))
    listed = list_tools(caller).model_dump(by_alias=True, mode="json", exclude_none=True)
    return pydantic_core.to_json(serialize_server_result("tools/list", version, listed))
