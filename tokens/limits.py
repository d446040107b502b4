"""Calls per hour, per token and ask: one bucket, whichever edge the call came through."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

from django.conf import settings
from django_ratelimit.core import get_usage

from knowledge.errors import QuarryError, RateLimited
from tokens.hourly import PER_HOUR as PER_HOUR
from tokens.models import Token

ADDITIONS = frozenset({"add", "begin_upload", "finish_upload", "remember", "contribute"})
"""Asks of which a refused call is not counted, only how many were refused."""

REFUSALS_PER_CALL = 5
"""How many calls may be refused in an hour, for each that may succeed."""

_OUR_FAULT = frozenset({"internal_error", "provider_unavailable"})


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much of an hour's calls is left."""

    limit: int
    remaining: int
    reset_sec: int


def limit_of(token: Token, ask: str) -> int:
    """Calls an hour: the token's own number, else the operator's, else the product's."""
    number: int = token.limits.get(ask) or settings.QUARRY_LIMITS.get(ask) or PER_HOUR[ask]
    return number


def spend(token: Token, ask: str) -> Allowance:
    """Count one call; the first one over the limit, and every one after it, is refused."""
    usage = _usage(token, ask, increment=True)
    limit, refusals = limit_of(token, ask), _refusals(token, ask)
    if refusals < limit * REFUSALS_PER_CALL and usage["count"] - refusals <= limit:
        return _allowance(token, ask, usage, refusals)
    _count_refusal(token, ask)
    used = f"used its {limit:,} calls an hour of this kind"
    if refusals >= limit * REFUSALS_PER_CALL:
        used = f"been refused {refusals:,} times in this hour"
    reset_sec = max(1, usage["time_left"])
    raise RateLimited(
        f"This token has {used}; try again in {reset_sec} seconds.",
        retry_after_sec=reset_sec,
        limit=limit,
    )


@contextmanager
def spending(token: Token, ask: str) -> Iterator[None]:
    """Spend a call on what is done within; of an addition that is refused, give it back."""
    spend(token, ask)
    try:
        yield
    except QuarryError as error:
        if error.code not in _OUR_FAULT:
            give_back(token, ask)
        raise


def give_back(token: Token, ask: str) -> Allowance:
    """Count a call that was refused: one of an addition is given back. Answer what is left."""
    _count_refusal(token, ask)
    return remaining(token, ask)


def remaining(token: Token, ask: str) -> Allowance:
    """What is left, without counting a call."""
    return _allowance(token, ask, _usage(token, ask, increment=False), _refusals(token, ask))


def _allowance(token: Token, ask: str, usage: dict[str, int], refusals: int) -> Allowance:
    limit = limit_of(token, ask)
    left = max(0, limit - max(0, usage["count"] - refusals))
    is_flooded = refusals >= limit * REFUSALS_PER_CALL
    return Allowance(
        limit=limit, remaining=0 if is_flooded else left, reset_sec=max(1, usage["time_left"])
    )


def _refusals(token: Token, ask: str) -> int:
    """How many of the hour's counted calls were refused."""
    if ask not in ADDITIONS:
        return 0
    return _usage(token, ask, group="refused", increment=False)["count"]


def _count_refusal(token: Token, ask: str) -> None:
    if ask in ADDITIONS:
        _usage(token, ask, group="refused", increment=True)


def _usage(token: Token, ask: str, *, increment: bool, group: str = "token") -> dict[str, int]:
    # Both groups have one key and rate, so that their hours begin and end together.
    stand_in = SimpleNamespace(method="POST", META={})
    usage: dict[str, int] = get_usage(
        stand_in,
        group=f"{group}:{ask}",
        key=lambda group, request: str(token.pk),
        rate=f"{limit_of(token, ask)}/h",
        increment=increment,
    )
    return usage
