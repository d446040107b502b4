"""How good a ranking is, and how much of an answer a set of spans holds. Pure computation."""

from collections.abc import Collection, Mapping, Sequence
from math import log2

Span = tuple[int, int]


def ndcg(ranking: Sequence[str], gains: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted gain, with linear gains, as trec_eval counts it."""
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(doc, 0) for doc in ranking[:k]]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranking: Sequence[str], gains: Mapping[str, int], k: int = 20) -> float:
    """The share of the relevant documents among the first `k`."""
    relevant = {doc for doc, gain in gains.items() if gain > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def hit(ranking: Sequence[str], gains: Mapping[str, int], k: int = 5) -> float:
    """Whether any relevant document is among the first `k`."""
    return float(any(gains.get(doc, 0) > 0 for doc in ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], gains: Mapping[str, int], k: int = 10) -> float:
    """One over the rank of the first relevant document, 0 when it is not in the first `k`."""
    for rank, doc in enumerate(ranking[:k], start=1):
        if gains.get(doc, 0) > 0:
            return 1 / rank
    return 0.0


def overlap(found: Collection[int], wanted: Collection[int]) -> float:
    """The share of what was wanted that was found; all of nothing is all."""
    return len(set(found) & set(wanted)) / len(set(wanted)) if wanted else 1.0


def merged(spans: Collection[Span]) -> list[Span]:
    """The same characters in spans that neither touch nor overlap."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def length(spans: Collection[Span]) -> int:
    return sum(end - start for start, end in merged(spans))


def shared(first: Collection[Span], second: Collection[Span]) -> int:
    """Characters that lie in both."""
    return length(first) + length(second) - length([*first, *second])
