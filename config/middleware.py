"""What every answer carries, whichever app made it."""

from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from knowledge.api.asgi import PERSON, request_id_for


class RequestId:
    """Gives each request an id, or keeps a well-formed one from the caller, and answers with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = request_id_for(request.headers.get("X-Request-ID", ""))
        request.request_id = request_id  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        if isinstance(request, ASGIRequest):
            _note(request, cast(dict[str, Any], request.scope))
        return response


def _note(request: HttpRequest, scope: dict[str, Any]) -> None:
    """Leave what the apps before Django want to know of a request where they find it."""
    if request.resolver_match:  # its template, never the address, for the metrics
        scope["quarry.route"] = f"/{request.resolver_match.route}"
    session: SessionBase | None = getattr(request, "session", None)
    if session is not None and session.accessed and (person := session.get(SESSION_KEY)):
        scope[PERSON] = int(person)


class Cors:
    """Lets the pages of named origins call REST. No origin is named unless the operator says so.

    A token comes in a header that such a page must have been given, so cookies are never allowed.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.QUARRY_CORS_ORIGINS or not request.path.startswith("/api/"):
            return self.get_response(request)
        origin = request.headers.get("Origin", "")
        is_allowed = origin in settings.QUARRY_CORS_ORIGINS
        is_preflight = request.method == "OPTIONS" and (
            "Access-Control-Request-Method" in request.headers
        )
        if is_allowed and is_preflight:
            response = HttpResponse(status=204, headers=_PREFLIGHT)
        else:
            response = self.get_response(request)
        patch_vary_headers(response, ["Origin"])
        if is_allowed:
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = _EXPOSED
        return response


_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-ID"
    ),
    "Access-Control-Max-Age": "600",
}
_EXPOSED = (
    "ETag, Idempotent-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "
    "Retry-After, X-Request-ID"
)
