"""How often each model failed in the last day, counted by hour, and how it did last."""

import logging
import re
from dataclasses import dataclass
from time import time

from django.core.cache import caches

logger = logging.getLogger(__name__)

DAY_SEC = 24 * 3600
LONGEST_WORDS = 300
_HOUR_SEC = 3600


@dataclass(frozen=True, slots=True)
class RecentErrors:
    """Of the last 24 hours."""

    count: int
    last: str


NONE = RecentErrors(0, "")


def count_error(provider: str, error: Exception) -> None:
    """Count a failure; that this fails as well is not told to whoever waits for the model."""
    try:
        key = _key(provider, _hour())
        counters = caches["limits"]
        if not counters.add(key, 1, DAY_SEC + _HOUR_SEC):
            counters.incr(key)
        caches["default"].set(_key(provider, "last"), str(error)[:LONGEST_WORDS], DAY_SEC)
    except Exception as failure:
        # In a line: the database refuses it whenever the caller has left meanwhile.
        logger.warning("An error of %s was not counted: %s", provider, failure)


def recent_errors(provider: str) -> RecentErrors:
    hours = [_key(provider, _hour() - before) for before in range(24)]
    count = sum(caches["limits"].get_many(hours).values())
    return RecentErrors(count, str(caches["default"].get(_key(provider, "last")) or ""))


def _hour() -> int:
    return int(time() // _HOUR_SEC)


def _key(provider: str, what: object) -> str:
    return f"model-errors:{re.sub(r'[^!-~]', '_', provider)[:150]}:{what}"
