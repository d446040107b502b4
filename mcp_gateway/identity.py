"""Who is calling. A caller carries its secret, so that every call reads the token anew."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

_SCOPE_KEY = "quarry_caller"


@dataclass(frozen=True, slots=True)
class Caller:
    """A credential and the edge it came through; not yet known to be good."""

    secret: str = field(repr=False)
    edge: str
    request_id: str = ""


def attach_caller(scope: MutableMapping[str, Any], caller: Caller) -> None:
    """Leave the caller with the HTTP request, for the handlers behind the gate."""
    scope[_SCOPE_KEY] = caller


def attached_caller(scope: MutableMapping[str, Any]) -> Caller:
    """The caller that the gate left with the HTTP request."""
    caller: Caller = scope[_SCOPE_KEY]
    return caller
