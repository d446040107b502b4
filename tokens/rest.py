"""Tokens as Django REST framework meets them: who a request is from, and what it has left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from knowledge.asks import Ask
from knowledge.errors import QuarryError, RateLimited
from tokens.authentication import authenticate, secret_from_header
from tokens.limits import remaining, spend
from tokens.models import Token

if TYPE_CHECKING:  # the framework loads this module while it makes that class
    from rest_framework.views import APIView


TOKEN = "quarry.token"  # noqa: S105 (the name of a key)
"""Where in its scope the gate leaves the token that it looked up for this very call."""
REFUSAL = "quarry.refusal"
"""Where it leaves the error for which the view is to refuse."""


class BearerAuthentication(BaseAuthentication):
    """`request.user` is the token's owner, `request.auth` the token."""

    def authenticate(self, request: Request) -> tuple[User, Token]:
        scope = getattr(request._request, "scope", {})
        if refusal := scope.get(REFUSAL):
            raise refusal
        token = scope.get(TOKEN) or authenticate(
            secret_from_header(request.headers.get("Authorization"))
        )
        # The activity middleware sees only Django's own request.
        request._request.quarry_token = token  # type: ignore[attr-defined]
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="quarry"'


class HourlyThrottle(BaseThrottle):
    """Spends a call of the ask that the view names for this method; views without one are free."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        ask = ask_of(view, request.method)
        if ask and isinstance(request.auth, Token):
            # The activity middleware sees only Django's own request.
            spent = request._request
            calls, unreadable = _calls_of(view, request)
            try:
                spent.quarry_allowance = spend(request.auth, ask, calls=calls)  # type: ignore[attr-defined]
                spent.quarry_spent = ask, calls  # type: ignore[attr-defined]
            except RateLimited:
                spent.quarry_allowance = remaining(request.auth, ask)  # type: ignore[attr-defined]
                raise
            if unreadable:
                raise unreadable
        return True


def _calls_of(view: object, request: Request) -> tuple[int, Exception | None]:
    """As how many calls this one counts, and why its body cannot be read if it cannot."""
    calls: Callable[[Request], int] | None = getattr(view, "calls", None)
    try:
        return (calls(request) if calls else 1), None
    except (APIException, QuarryError) as error:
        return 1, error


def ask_of(view: object, method: str | None) -> Ask | None:
    """The ask that a view answers to a method; HEAD does all the work of GET."""
    asks: dict[str, Ask] = getattr(view, "asks", {})
    return asks.get("GET" if method == "HEAD" else method or "")
