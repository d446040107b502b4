"""Another try at a vendor whose failure may pass, after as long as it asked for."""

import random
from collections.abc import Callable
from typing import TypeVar

from knowledge.errors import ProviderUnavailable

LONGEST_WAIT = 30.0

T = TypeVar("T")


def ask_with_retries(ask: Callable[[], T], attempts: int, sleep: Callable[[float], object]) -> T:
    """What `ask` answers; the last attempt's failure, or the first that is not `retryable`."""
    for attempt in range(attempts - 1):
        try:
            return ask()
        except ProviderUnavailable as error:
            if not error.details.get("retryable"):
                raise
            sleep(_wait(attempt, error))
    return ask()


def _wait(attempt: int, error: ProviderUnavailable) -> float:
    """Seconds before the next attempt: as asked for, or longer each time."""
    jitter = 1 + random.random() / 2  # noqa: S311 - it spreads callers, it guards nothing
    asked_for = float(str(error.details.get("retry_after_sec", 0)))
    return min(LONGEST_WAIT, max(asked_for, float(2**attempt) * jitter))
