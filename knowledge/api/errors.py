"""How the domain's errors look over REST: one envelope, one table of statuses."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings

from knowledge.errors import (
    CapabilityDenied,
    InternalError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    QuarryError,
    UnsupportedMedia,
    not_found,
)

logger = logging.getLogger(__name__)

STATUSES = {
    "invalid_body": 400,
    "invalid_id": 400,
    "forbidden_binary": 400,
    "missing_bearer_token": 401,
    "invalid_token": 401,
    "quota_exceeded": 402,
    "capability_denied": 403,
    "forbidden_scope": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "name_taken": 409,
    "conflict": 409,
    "payload_too_large": 413,
    "unsupported_media": 415,
    "ingest_failed": 422,
    "rate_limited": 429,
    "busy": 429,
    "provider_unavailable": 503,
    "internal_error": 500,
}
CODES = tuple(STATUSES)


_OURS: dict[type[exceptions.APIException], type[QuarryError]] = {
    exceptions.PermissionDenied: CapabilityDenied,
    exceptions.NotFound: NotFound,
}


def answer_error(error: Exception, context: dict[str, Any]) -> Response:
    """The envelope for any exception of a view; an unexpected one is logged and not shown."""
    request = context["request"]
    quarry_error, status, headers = _translate(error, context.get("view"))
    body = {
        "error": quarry_error.code,
        "message": quarry_error.message,
        "request_id": getattr(request, "request_id", ""),
        **quarry_error.details,
    }
    return Response(body, status=status, headers=headers)


def _translate(error: Exception, view: Any) -> tuple[QuarryError, int, dict[str, str]]:
    if isinstance(error, exceptions.MethodNotAllowed):
        allowed = [method for method in view.allowed_methods if method != "OPTIONS"]
        error = MethodNotAllowed(f"This route takes {', '.join(allowed)}.", allowed=allowed)
    if isinstance(error, exceptions.UnsupportedMediaType):
        error = UnsupportedMedia(
            "Send JSON, with Content-Type: application/json.", allowed=["application/json"]
        )
    if isinstance(error, exceptions.APIException):
        return _from_framework(error)
    if isinstance(error, Http404):
        error = not_found("thing")
    if isinstance(error, RequestDataTooBig):
        error = PayloadTooLarge("The body is too large; send less at a time.")
    elif isinstance(error, SuspiciousOperation):  # such as more parameters than are read
        error = InvalidInput(str(error) or "This request cannot be read.", field="query")
    if isinstance(error, PermissionDenied):
        error = CapabilityDenied(f"Refused: {error}")
    if not isinstance(error, QuarryError):
        logger.error("A request failed", exc_info=error)
        error = InternalError("Something went wrong here; try again, then tell the operator.")
    return error, STATUSES[error.code], _headers(error)


def _headers(error: QuarryError) -> dict[str, str]:
    if wait := error.details.get("retry_after_sec"):
        return {"Retry-After": str(wait)}
    if STATUSES[error.code] == 401:
        return {"WWW-Authenticate": f'Bearer realm="quarry", error="{error.code}"'}
    return {}


def _from_framework(error: exceptions.APIException) -> tuple[QuarryError, int, dict[str, str]]:
    """DRF's own complaints, in our words; a status of its own is kept."""
    if isinstance(error, exceptions.ValidationError):
        fields = _messages(error.detail)
        field, message = next(iter(fields.items()))
        return InvalidInput(f"{field}: {message}", field=field, fields=fields), 400, {}
    kind = _OURS.get(type(error), InvalidInput)
    return kind(str(error.detail)), error.status_code, {}


def _messages(detail: Any, path: str = "") -> dict[str, str]:
    """Flatten DRF's nested details to one sentence a field."""
    if isinstance(detail, dict):
        flat: dict[str, str] = {}
        for name, inner in detail.items():
            names = [path, "" if name == api_settings.NON_FIELD_ERRORS_KEY else str(name)]
            flat |= _messages(inner, ".".join(filter(None, names)))
        return flat
    if isinstance(detail, list) and detail and isinstance(detail[0], (dict, list)):
        return _messages(next(inner for inner in detail if inner), path)
    words = detail if isinstance(detail, list) else [detail]
    return {path or "body": " ".join(str(word) for word in words)}
