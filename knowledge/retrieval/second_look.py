"""The first candidates of a ranking, read once more by a reranker; off unless a setting names one.

It may cost a search its budget and no more: when it fails or is late, the first ranking stands, and
the answer says so.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from psycopg.rows import DictRow

from knowledge.errors import ProviderUnavailable
from knowledge.monitoring.metrics import provider_call
from knowledge.monitoring.turns import while_waiting
from knowledge.providers import live_reranker
from knowledge.providers.protocols import Reranker
from knowledge.retrieval.duplicates import READ_TO_FOLD
from knowledge.retrieval.statement import Shown

if TYPE_CHECKING:
    from knowledge.retrieval.search import Ranking

logger = logging.getLogger(__name__)


def with_second_look(query: str, ask: "Callable[..., Ranking]") -> "Callable[..., Ranking]":
    """The same ranking, its first candidates in the reranker's order, if there is one."""
    if not settings.QUARRY_RERANKER:
        return ask
    return _SecondLook(query, ask)


class _SecondLook:
    """Asks the reranker once, however often more chunks are asked for."""

    def __init__(self, query: str, ask: "Callable[..., Ranking]") -> None:
        self._query, self._ask = query, ask
        self._relevance: dict[int, float] | None = None
        self._note: str | None = None

    def __call__(self, *, limit: int, shown: Shown) -> "Ranking":
        most = min(settings.QUARRY_RERANK_CANDIDATES, READ_TO_FOLD)  # of more, no text is read
        ranking = self._ask(limit=max(limit, most), shown=shown)
        # Words were asked for exactly, or a phrase is to come first: that is an order already.
        if ranking.mode == "keyword" or ranking.words.preferred or len(ranking.rows) < 2:
            return ranking
        first, rest = ranking.rows[:most], ranking.rows[most:]
        if self._relevance is None:
            self._relevance = self._judge(first)
        notes = " ".join(filter(None, (ranking.degraded, self._note)))
        return replace(
            ranking, rows=[*_reorder(first, self._relevance), *rest], degraded=notes or None
        )

    def _judge(self, rows: Sequence[DictRow]) -> dict[int, float]:
        """How well each chunk answers; of none, if the reranker fails."""
        reranker = live_reranker()
        seconds = settings.QUARRY_RERANK_MS / 1000 or reranker.usual_sec
        texts = [f"{row['custom_title'] or row['title']}\n{row['text']}" for row in rows]
        try:
            with provider_call(settings.QUARRY_RERANKER, "rerank"):
                scores = _relevance_in_time(reranker, self._query, texts, seconds)
        except ProviderUnavailable as error:
            logger.warning("The first ranking stands", exc_info=True)
            self._note = f"Not reranked: {error.message}"
            return {}
        return {row["chunk_id"]: score for row, score in zip(rows, scores, strict=True)}


def _reorder(rows: Sequence[DictRow], relevance: dict[int, float]) -> list[DictRow]:
    """The best first; places keep their scores, which thus fall from each to the next."""
    if not relevance:
        return list(rows)
    # A chunk that came meanwhile was not judged, and stands behind those that were.
    ordered = sorted(rows, key=lambda row: -relevance.get(row["chunk_id"], -1.0))
    scores = [row["score"] for row in rows]
    return [{**row, "score": score} for row, score in zip(ordered, scores, strict=True)]


def _relevance_in_time(
    reranker: Reranker, query: str, texts: Sequence[str], seconds: float
) -> Sequence[float]:
    asked = _threads().submit(reranker.relevance, query, texts, seconds=seconds)
    try:
        with while_waiting():
            return asked.result(timeout=seconds)
    except TooSlow:
        asked.cancel()
        raise ProviderUnavailable(
            f"The reranker {reranker.name} took longer than {seconds * 1000:.0f} ms.", may_pass=True
        ) from None


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(8, thread_name_prefix="rerank")
