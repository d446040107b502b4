from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch

from knowledge.asks import Ask
from tokens.activity import record, target_of
from tokens.limits import Allowance, give_back
from tokens.models import Token
from tokens.rest import ask_of


class Activity:
    """Records what tokens did over REST, and tells each caller what is left of its limit."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = perf_counter()
        response = self.get_response(request)
        token: Token | None = getattr(request, "quarry_token", None)
        allowance: Allowance | None = getattr(request, "quarry_allowance", None)
        spent: tuple[Ask, int] | None = getattr(request, "quarry_spent", None)
        if token and spent and spent[0].is_addition and 400 <= response.status_code < 500:
            ask, calls = spent
            allowance = give_back(token, ask, calls=calls)
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
        ask = ask_of(view, request.method)
        if not ask or not match:
            return
        data = getattr(response, "data", None)
        body = data if isinstance(data, dict) else {}
        record(
            token,
            edge="rest",
            action=ask,
            target=target_of(ask, _route_arguments(request, match, ask), body),
            outcome=_outcome(response, body),
            latency_ms=latency_ms,
            request_id=request.request_id,  # type: ignore[attr-defined]
        )


def _route_arguments(request: HttpRequest, match: ResolverMatch, ask: Ask) -> dict[str, Any]:
    """What stands in the route; a walk through memory says in its query where it begins."""
    if ask is not Ask.EXPLORE:
        return match.kwargs
    return {"entity_id": request.GET.get("entity_id", ""), **match.kwargs}


def _outcome(response: HttpResponse, body: Mapping[str, Any]) -> str:
    if response.has_header("Idempotent-Replayed"):
        return "replayed"
    is_ok = response.status_code < 400
    return "ok" if is_ok else str(body.get("error", "internal_error"))
