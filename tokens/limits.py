"""Calls per hour, per token and ask: one bucket, whichever edge the call came through."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

from django.conf import settings
from django.core.cache import caches
from django_ratelimit.core import ALL, _get_window, _make_cache_key, get_usage

from knowledge.asks import Ask
from knowledge.errors import QuarryError, RateLimited
from tokens.models import Token

REFUSALS_PER_CALL = 5
"""How many calls may be refused in an hour, for each that may succeed."""

_OUR_FAULT = frozenset({"internal_error", "provider_unavailable"})
_HOUR_SEC = 3600


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much of an hour's calls is left."""

    limit: int
    remaining: int
    reset_sec: int


def limit_of(token: Token, ask: Ask) -> int:
    """Calls an hour: the token's own number, else the operator's, else the product's."""
    number: int = token.limits.get(ask) or settings.QUARRY_LIMITS.get(ask) or ask.per_hour
    return number


def spend(token: Token, ask: Ask) -> Allowance:
    """Count one call; the first one over the limit, and every one after it, is refused."""
    usage = _count(token, ask)
    limit, refusals = limit_of(token, ask), _refusals(token, ask)
    if refusals < limit * REFUSALS_PER_CALL and usage["count"] - refusals <= limit:
        return _allowance(
            limit, calls=usage["count"], refusals=refusals, time_left=usage["time_left"]
        )
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
def spending(token: Token, ask: Ask) -> Iterator[None]:
    """Spend a call on what is done within; of an addition that is refused, give it back."""
    spend(token, ask)
    try:
        yield
    except QuarryError as error:
        if error.code not in _OUR_FAULT:
            give_back(token, ask)
        raise


def give_back(token: Token, ask: Ask) -> Allowance:
    """Count a call that was refused: one of an addition is given back. Answer what is left."""
    _count_refusal(token, ask)
    return remaining(token, ask)


def remaining(token: Token, ask: Ask) -> Allowance:
    """What is left, without counting a call."""
    return allowances(token, [ask])[str(ask)]


def allowances(token: Token, asks: Iterable[Ask]) -> dict[str, Allowance]:
    """What is left of each ask by its name, all counters read at once and none of them made."""
    asks = list(asks)
    hour_ends = _get_window(str(token.pk), _HOUR_SEC)
    calls = {ask: _counter(token, ask, "token", hour_ends) for ask in asks}
    refused = {ask: _counter(token, ask, "refused", hour_ends) for ask in asks if ask.is_addition}
    counts = caches[settings.RATELIMIT_USE_CACHE].get_many([*calls.values(), *refused.values()])
    time_left = hour_ends - int(time.time())
    return {
        str(ask): _allowance(
            limit_of(token, ask),
            calls=counts.get(key, 0),
            refusals=counts.get(refused.get(ask), 0),
            time_left=time_left,
        )
        for ask, key in calls.items()
    }


def _counter(token: Token, ask: Ask, group: str, hour_ends: int) -> str:
    """The key under which `get_usage` counts these calls."""
    rate = f"{limit_of(token, ask)}/h"
    key: str = _make_cache_key(f"{group}:{ask}", hour_ends, rate, str(token.pk), ALL)
    return key


def _allowance(limit: int, *, calls: int, refusals: int, time_left: int) -> Allowance:
    left = max(0, limit - max(0, calls - refusals))
    is_flooded = refusals >= limit * REFUSALS_PER_CALL
    return Allowance(limit=limit, remaining=0 if is_flooded else left, reset_sec=max(1, time_left))


def _refusals(token: Token, ask: Ask) -> int:
    """How many of the hour's counted calls were refused."""
    if not ask.is_addition:
        return 0
    key = _counter(token, ask, "refused", _get_window(str(token.pk), _HOUR_SEC))
    count: int = caches[settings.RATELIMIT_USE_CACHE].get(key, 0)
    return count


def _count_refusal(token: Token, ask: Ask) -> None:
    if ask.is_addition:
        _count(token, ask, group="refused")


def _count(token: Token, ask: Ask, *, group: str = "token") -> dict[str, int]:
    # Both groups have one key and rate, so that their hours begin and end together.
    stand_in = SimpleNamespace(method="POST", META={})
    usage: dict[str, int] = get_usage(
        stand_in,
        group=f"{group}:{ask}",
        key=lambda group, request: str(token.pk),
        rate=f"{limit_of(token, ask)}/h",
        increment=True,
    )
    return usage
