"""Calls per hour, per token and ask: one bucket, whichever edge the call came through."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django_ratelimit.core import _get_window

from knowledge.asks import Ask
from knowledge.errors import QuarryError, RateLimited
from tokens.models import Token

REFUSALS_PER_CALL = 5
"""How many calls may be refused in an hour, for each that may succeed."""

_OUR_FAULT = frozenset({"internal_error", "provider_unavailable"})
_HOUR_SEC = 3600
_KEPT_SEC = _HOUR_SEC + 5


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


def spend(token: Token, ask: Ask, *, calls: int = 1) -> Allowance:
    """Count calls; the first one over the limit, and every one after it, is refused."""
    limit, time_left = limit_of(token, ask), _hour_ends(token) - int(time.time())
    counted, refusals = _count(token, ask, calls)
    if refusals < limit * REFUSALS_PER_CALL and counted - refusals <= limit:
        return _allowance(limit, calls=counted, refusals=refusals, time_left=time_left)
    _count_refusal(token, ask, calls)
    used = f"used its {limit:,} calls an hour of this kind"
    if refusals >= limit * REFUSALS_PER_CALL:
        used = f"been refused {refusals:,} times in this hour"
    reset_sec = max(1, time_left)
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


def give_back(token: Token, ask: Ask, *, calls: int = 1) -> Allowance:
    """Count what was refused: calls of an addition are given back. Answer what is left."""
    _count_refusal(token, ask, calls)
    return remaining(token, ask)


def remaining(token: Token, ask: Ask) -> Allowance:
    """What is left, without counting a call."""
    return allowances(token, [ask])[str(ask)]


def allowances(token: Token, asks: Iterable[Ask]) -> dict[str, Allowance]:
    """What is left of each ask by its name, all counters read at once and none of them made."""
    asks = list(asks)
    hour_ends = _hour_ends(token)
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


def _hour_ends(token: Token) -> int:
    """When the token's hour is over: tokens' hours do not all end at once."""
    end: int = _get_window(str(token.pk), _HOUR_SEC)
    return end


def _counter(token: Token, ask: Ask, group: str, hour_ends: int) -> str:
    """The key of a counter; of another limit there is another one."""
    return f"{group}:{ask}:{limit_of(token, ask)}:{token.pk}:{hour_ends}"


def _allowance(limit: int, *, calls: int, refusals: int, time_left: int) -> Allowance:
    left = max(0, limit - max(0, calls - refusals))
    is_flooded = refusals >= limit * REFUSALS_PER_CALL
    return Allowance(limit=limit, remaining=0 if is_flooded else left, reset_sec=max(1, time_left))


def _count_refusal(token: Token, ask: Ask, calls: int) -> None:
    if ask.is_addition:
        _count(token, ask, calls, group="refused")


def _count(token: Token, ask: Ask, calls: int, *, group: str = "token") -> tuple[int, int]:
    """Add to a counter of this hour; what it holds now, and how many calls were refused."""
    cache: Any = caches[settings.RATELIMIT_USE_CACHE]
    hour_ends = _hour_ends(token)
    key = _counter(token, ask, group, hour_ends)
    refused = _counter(token, ask, "refused", hour_ends) if ask.is_addition else ""
    if hasattr(cache, "add_and_read"):  # by one statement
        counts: tuple[int, int] = cache.add_and_read(key, calls, refused, timeout=_KEPT_SEC)
        return counts
    cache.add(key, 0, _KEPT_SEC)
    return cache.incr(key, calls), cache.get(refused, 0) if refused else 0
