"""How the domain's errors look over MCP: one table of JSON-RPC codes."""

from mcp.shared.exceptions import MCPError
from mcp_types import ReadResourceRequestParams

from knowledge.errors import NotFound, QuarryError

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RATE_LIMITED = -32605

JSON_RPC_CODES = {
    "invalid_body": INVALID_PARAMS,
    "invalid_id": INVALID_PARAMS,
    "forbidden_binary": INVALID_PARAMS,
    "missing_bearer_token": INTERNAL_ERROR,
    "invalid_token": INTERNAL_ERROR,
    "quota_exceeded": INTERNAL_ERROR,
    "capability_denied": INTERNAL_ERROR,
    "forbidden_scope": INTERNAL_ERROR,
    "not_found": INTERNAL_ERROR,
    "method_not_allowed": METHOD_NOT_FOUND,
    "name_taken": INVALID_PARAMS,
    "conflict": INVALID_PARAMS,
    "payload_too_large": INVALID_PARAMS,
    "unsupported_media": INVALID_PARAMS,
    "ingest_failed": INTERNAL_ERROR,
    "rate_limited": RATE_LIMITED,
    "busy": RATE_LIMITED,
    "provider_unavailable": INTERNAL_ERROR,
    "internal_error": INTERNAL_ERROR,
}

# Clients act on these by their HTTP status, which JSON-RPC has no place for. Over HTTP a bad
# token never gets this far: the gate answers 401.
_HTTP_STATUSES = {"missing_bearer_token": 401, "invalid_token": 401, "quota_exceeded": 402}


def error_data(error: QuarryError) -> dict[str, object]:
    """What goes in `data` beside the JSON-RPC code and the sentence."""
    data = {"error": error.code, **error.details}
    if error.code in _HTTP_STATUSES:
        data["http_status"] = _HTTP_STATUSES[error.code]
    return data


def json_rpc(error: QuarryError) -> MCPError:
    """The error as a client gets it."""
    return MCPError(JSON_RPC_CODES[error.code], error.message, error_data(error))


def resource_error(error: QuarryError, params: ReadResourceRequestParams) -> MCPError:
    """An error of reading a resource: by the protocol, a wrong address is a wrong param."""
    code = INVALID_PARAMS if isinstance(error, NotFound) else JSON_RPC_CODES[error.code]
    return MCPError(code, error.message, {**error_data(error), "uri": params.uri})
