"""What the OpenAPI document says of every route: its errors, its headers and its examples."""

from collections.abc import Iterator
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from knowledge.api.errors import CODES
from knowledge.api.examples import EXAMPLES
from knowledge.api.openapi_links import link
from knowledge.errors import not_found

Json = dict[str, Any]

METHODS = ("get", "post", "patch", "delete", "put")
MEANINGS = {
    400: "An argument is missing, malformed or out of range; `field` names it.",
    401: "No token, or one that is unknown, expired or revoked.",
    402: "The month's allowance is used up.",
    403: "The token may not do this.",
    404: not_found("thing").message,
    409: "The name is taken, the key was used, or the state of things does not allow it.",
    413: "The body is too large.",
    415: "A kind of content that is not taken, or not what it was said to be.",
    422: "The source could not be read.",
    429: "The hour's calls are used; `retry_after_sec` says when there are more.",
    500: "Our fault; quote the `request_id`.",
    503: "A model or vendor that this needs does not answer.",
}

_SUCCESSES = {
    "200": "The answer.",
    "201": "It was made.",
    "202": "It is being done by a job.",
    "204": "Done; there is nothing to say.",
}


class ErrorOutput(serializers.Serializer[Any]):
    """Every error: its code, what to do next, the id to quote, and details by its code."""

    error = serializers.ChoiceField(CODES)
    message = serializers.CharField(help_text="One sentence that says what to do next.")
    request_id = serializers.CharField()
    field = serializers.CharField(required=False, help_text="The argument that is wrong.")
    allowed = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="What it may be."
    )
    reason = serializers.CharField(required=False, help_text="The case in one word.")
    retry_after_sec = serializers.IntegerField(required=False)
    errors = serializers.ListField(  # type: ignore[assignment]
        child=serializers.DictField(child=serializers.CharField()),
        required=False,
        help_text="Every `path` and `message` that is wrong with a skill or unit.",
    )
    entries = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Of an atomic batch: every entry that was refused, by its `index`.",
    )
    findings = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()),
        required=False,
        help_text="The secrets that the screening found: `rule`, `sentence` and `path`.",
    )
    required = serializers.ListField(  # type: ignore[assignment]
        child=serializers.CharField(), required=False, help_text="What the token lacks."
    )
    out_of_scope = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="Folders out of its reach."
    )


class Schema(AutoSchema):
    """Names an answer by its noun, as generated clients would have it."""

    def _get_serializer_name(self, *args: Any, **kwargs: Any) -> str:
        name: str = super()._get_serializer_name(*args, **kwargs)
        return name.removesuffix("Output")


def errors(*statuses: int) -> dict[int, OpenApiResponse]:
    """The documented errors of a route: those of every route, and these."""
    return {
        status: OpenApiResponse(ErrorOutput, description=MEANINGS[status])
        for status in sorted({400, 401, 429, 500, *statuses})
    }


def complete(result: Json, generator: Any, request: Any, public: bool) -> Json:
    """Add what holds for every operation alike, so that no view has to say it."""
    result["components"]["headers"] = HEADERS
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Input"):
            schema["additionalProperties"] = False
    enums = _enums(result["components"]["schemas"])
    for method, operation in _operations(result):
        credentials = operation.get("security", [])
        if not credentials:
            operation["responses"].pop("401", None)
        is_limited = {"token": []} in credentials
        operation["summary"] = operation["operationId"].replace("_", " ").capitalize()
        _document_parameters(operation, enums)
        _document_sending(method, operation, is_limited)
        _document_headers(method, operation, is_limited)
        _give_examples(operation)
        link(operation)
    return result


HEADERS: Json = {
    "X-Request-ID": {
        "description": "The id to quote; yours, if you sent a well-formed one.",
        "schema": {"type": "string"},
    },
    "RateLimit-Limit": {
        "description": "Calls of this kind in an hour.",
        "schema": {"type": "integer"},
    },
    "RateLimit-Remaining": {
        "description": "Calls of this kind that are left.",
        "schema": {"type": "integer"},
    },
    "RateLimit-Reset": {
        "description": "Seconds until there are more.",
        "schema": {"type": "integer"},
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {
        "description": "How to send a token.",
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {
        "description": "`true` when this is the answer to an earlier call with the same key.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}

_IDEMPOTENCY_KEY: Json = {
    "in": "header",
    "name": "Idempotency-Key",
    "description": "Repeat a call with its key, and it is answered as before but runs once. "
    "Good for 24 hours, for this token and route.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}
_CSRF_TOKEN: Json = {
    "in": "header",
    "name": "X-CSRFToken",
    "description": "The value of the cookie `csrftoken`.",
    "schema": {"type": "string"},
}


_ROW_ID: Json = {"type": "string", "format": "uuid"}
_NAMES: Json = {
    "agent_id": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"\S"},
}
"""What paths name otherwise than by the id of a row."""


def _operations(result: Json) -> Iterator[tuple[str, Json]]:
    for methods in result["paths"].values():
        for method in METHODS:
            if method in methods:
                yield method, methods[method]


def _enums(schemas: Json) -> dict[tuple[str, ...], str]:
    return {tuple(schema["enum"]): name for name, schema in schemas.items() if "enum" in schema}


def _document_parameters(operation: Json, enums: dict[tuple[str, ...], str]) -> None:
    """Paths name rows by their ids, an address has no way to say null, and an enum has one name."""
    for parameter in operation.get("parameters", []):
        schema = parameter["schema"]
        if parameter["in"] == "path":
            parameter["schema"] = _NAMES.get(parameter["name"], _ROW_ID)
        elif isinstance(schema.get("type"), list):
            schema["type"] = next(kind for kind in schema["type"] if kind != "null")
        for holder, key in ((parameter, "schema"), (schema, "items")):
            name = enums.get(tuple(holder.get(key, {}).get("enum", ())))
            if name:
                default = {k: v for k, v in holder[key].items() if k == "default"}
                holder[key] = {"$ref": f"#/components/schemas/{name}", **default}


def _document_sending(method: str, operation: Json, is_limited: bool) -> None:
    """What may come with any POST, any body and any session, and how that is refused."""
    extra: list[int] = []
    if method == "post":
        operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
        extra.append(409)
    if "requestBody" in operation:
        extra += [413, 415]
    if is_limited:
        extra.append(403)
    else:
        operation["responses"].pop("429", None)
        if method != "get":
            operation.setdefault("parameters", []).append(_CSRF_TOKEN)
    for status in extra:
        operation["responses"].setdefault(str(status), _error(status))
    operation["responses"] = dict(sorted(operation["responses"].items()))


def _document_headers(method: str, operation: Json, is_limited: bool) -> None:
    for status, response in operation["responses"].items():
        response["description"] = response["description"] or _SUCCESSES[status]
        names = ["X-Request-ID"]
        if is_limited and status != "401":
            names += ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
        if status in ("409", "429") and (method == "post" or status == "429"):
            names.append("Retry-After")
        if status == "401":
            names.append("WWW-Authenticate")
        if method == "post" and status < "5" and status not in ("401", "429"):
            names.append("Idempotent-Replayed")
        refs = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        response["headers"] = {**response.get("headers", {}), **refs}


def _error(status: int) -> Json:
    schema = {"$ref": "#/components/schemas/Error"}
    return {
        "description": MEANINGS[status],
        "content": {"application/json": {"schema": schema}},
    }


def _give_examples(operation: Json) -> None:
    given = EXAMPLES.get(operation["operationId"], {})
    if "request" in given:
        content = operation["requestBody"]["content"]["application/json"]
        content["examples"] = {name: {"value": value} for name, value in given["request"].items()}
    for name, value in given.get("parameters", {}).items():
        parameter = next(each for each in operation["parameters"] if each["name"] == name)
        parameter["example"] = value
    for status, value in given.get("responses", {}).items():
        operation["responses"][status]["content"]["application/json"]["example"] = value
