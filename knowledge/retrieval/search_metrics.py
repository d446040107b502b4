"""How long searches take and how they end, by the mode asked for."""

from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import ParamSpec, Protocol, TypeVar

from knowledge.errors import ProviderUnavailable
from knowledge.monitoring.metrics import SEARCH_SECONDS


class _Ranking(Protocol):
    @property
    def degraded(self) -> str | None: ...


P = ParamSpec("P")
R = TypeVar("R", bound=_Ranking)


def count_searches(rank: Callable[P, R]) -> Callable[P, R]:
    """Count every search that runs; a caller's mistake is none."""

    @wraps(rank)
    def rank_and_count(*args: P.args, **asked: P.kwargs) -> R:
        mode, started = str(asked["mode"]), perf_counter()
        try:
            ranking = rank(*args, **asked)
        except ProviderUnavailable:
            SEARCH_SECONDS.labels(mode, "failed").observe(perf_counter() - started)
            raise
        outcome = "degraded" if ranking.degraded else "ok"
        SEARCH_SECONDS.labels(mode, outcome).observe(perf_counter() - started)
        return ranking

    return rank_and_count
