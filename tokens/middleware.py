from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from tokens.activity import record
from tokens.limits import Allowance
from tokens.models import Token
from tokens.rest import ask_of

_TARGETS = ("item_id", "folder_id", "webhook_id")


class Activity:
    """Records what tokens did over REST, and tells each caller what is left of its limit."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = perf_counter()
        response = self.get_response(request)
        allowance: Allowance | None = getattr(request, "quarry_allowance", None)
        if allowance:
            response["RateLimit-Limit"] = str(allowance.limit)
            response["RateLimit-Remaining"] = str(allowance.remaining)
            response["RateLimit-Reset"] = str(allowance.reset_sec)
        token: Token | None = getattr(request, "quarry_token", None)
        if token:
            self._record(request, response, token, (perf_counter() - started) * 1000)
        return response

    def _record(
        self, request: HttpRequest, response: HttpResponse, token: Token, latency_ms: float
    ) -> None:
        match = request.resolver_match
        view = getattr(match.func, "cls", None) if match else None
        action = ask_of(view, request.method)
        if not action or not match:
            return
        data = getattr(response, "data", None)
        body = data if isinstance(data, dict) else {}
        record(
            token,
            edge="rest",
            action=action,
            target=_target(match.kwargs, body),
            outcome=_outcome(response, body),
            latency_ms=latency_ms,
            request_id=request.request_id,  # type: ignore[attr-defined]
        )


def _target(named: Mapping[str, Any], answered: Mapping[str, Any]) -> str:
    """What the call named or made: only identifiers go into the record, never words."""
    for name in _TARGETS:
        if name in named:
            return _id(named[name])
    return _id(answered.get("user_item_id") or answered.get("id") or "")


def _outcome(response: HttpResponse, body: Mapping[str, Any]) -> str:
    if response.has_header("Idempotent-Replayed"):
        return "replayed"
    is_ok = response.status_code < 400
    return "ok" if is_ok else str(body.get("error", "internal_error"))


def _id(value: object) -> str:
    try:
        return str(UUID(str(value)))
    except ValueError:
        return ""
