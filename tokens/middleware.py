from collections.abc import Callable
from time import perf_counter

from django.http import HttpRequest, HttpResponse

from tokens.activity import record
from tokens.limits import Allowance
from tokens.models import Token


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
        action = getattr(view, "asks", {}).get(request.method)
        if not action or not match:
            return
        data = getattr(response, "data", None)
        body = data if isinstance(data, dict) else {}
        target = match.kwargs.get("item_id") or match.kwargs.get("folder_id")
        record(
            token,
            edge="rest",
            action=action,
            target=str(target or body.get("user_item_id") or ""),
            outcome=str(body["error"]) if response.status_code >= 400 and "error" in body else "ok",
            latency_ms=latency_ms,
            request_id=request.request_id,  # type: ignore[attr-defined]
        )
