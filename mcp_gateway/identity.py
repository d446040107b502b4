"""Who is calling. Every call reads its token anew, once: at the gate, or where there is none."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from tokens.authentication import authenticate
from tokens.models import Token

FRESH_SECONDS = 1
"""A call that waited longer has its token looked up again: it may be revoked by then."""

_SCOPE_KEY = "quarry_caller"


@dataclass(frozen=True, slots=True)
class Caller:
    """A credential and the edge it came through."""

    secret: str = field(repr=False)
    edge: str
    request_id: str = ""
    token: Token | None = None
    """The live token, where the gate has looked it up for this very call."""

    looked_up: float = field(default_factory=monotonic)
    length: int = 0
    """Of the message, in bytes."""

    def find_token(self) -> Token:
        if self.token and monotonic() - self.looked_up < FRESH_SECONDS:
            return self.token
        return authenticate(self.secret)


def attach_caller(scope: MutableMapping[str, Any], caller: Caller) -> None:
    """Leave the caller with the HTTP request, for the handlers behind the gate."""
    scope[_SCOPE_KEY] = caller


def caller_of_scope(scope: MutableMapping[str, Any]) -> Caller:
    """The caller that the gate left with the HTTP request."""
    caller: Caller = scope[_SCOPE_KEY]
    return caller
