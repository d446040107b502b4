from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch

from tokens.activity import record
from tokens.limits import ADDITIONS, Allowance, give_back
from tokens.models import Token
from tokens.rest import ask_of

_NAMED = (
    "item_id",
    "folder_id",
    "webhook_id",
    "provider_id",
    "source_id",
    "task_id",
    "relation_id",
    "entity_id",
)
"""The parts of a request that name what it is about."""

_ABOUT = ("user_item_id", "id", "upload_id")
"""The fields in which an answer names what was read or made."""


class Activity:
    """Records what tokens did over REST, and tells each caller what is left of its limit."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = perf_counter()
        response = self.get_response(request)
        token: Token | None = getattr(request, "quarry_token", None)
        allowance: Allowance | None = getattr(request, "quarry_allowance", None)
        spent: str = getattr(request, "quarry_spent", "")
        if token and spent in ADDITIONS and 400 <= response.status_code < 500:
            allowance = give_back(token, spent)
        if allowance:
            response["RateLimit-Limit"] = str(allowance.limit)
            response["RateLimit-Remaining"] = str(allowance.remaining)
            response["RateLimit-Reset"] = str(allowance.reset_sec)
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
            target=_target(_named(request, match, action), body),
            outcome=_outcome(response, body),
            latency_ms=latency_ms,
            request_id=request.request_id,  # type: ignore[attr-defined]
        )


def _named(request: HttpRequest, match: ResolverMatch, action: str) -> dict[str, Any]:
    """What stands in the route; a walk through memory says in its query where it begins."""
    if action != "explore":
        return match.kwargs
    return {"entity_id": request.GET.get("entity_id", ""), **match.kwargs}


def _target(named: Mapping[str, Any], answered: Mapping[str, Any]) -> str:
    """What the call named or made: only identifiers go into the record, never words."""
    for name in _NAMED:
        if name in named:
            return _id(named[name])
    return _id(next((answered[name] for name in _ABOUT if answered.get(name)), ""))


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
