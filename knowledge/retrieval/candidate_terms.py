"""Candidate terms: which combinations of query words are rare enough to be worth ranking.

Asking for all words finds nothing for most questions, and asking for any of them finds nearly
everything. Between the two: of all combinations of the rarest words, take the weightiest until
about as many chunks are expected as are wanted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, prod

WANTED = 1_000
MOST_WORDS = 7


@dataclass(frozen=True, slots=True)
class Word:
    """A word as a tsquery, and the share of chunks that have it."""

    query: str
    share: float

    @property
    def weight(self) -> float:
        return -log(self.share)


TOO_MANY = 5 * WANTED
"""No combination is taken that brings more than this, as long as there are others."""


def candidates_query(
    words: Sequence[Word], chunks: int, *, wanted: int = WANTED, too_many: float = TOO_MANY
) -> str:
    """A tsquery for the chunks whose words weigh most, by their expected number."""
    rarest = sorted(words, key=lambda word: word.share)[:MOST_WORDS]
    chosen: list[frozenset[int]] = []
    expected = 0.0
    for combination in _weightiest_first(rarest):
        if any(kept <= combination for kept in chosen):
            continue
        expected += chunks * prod(rarest[place].share for place in combination)
        if chosen and expected > too_many:
            break
        chosen = [kept for kept in chosen if not combination <= kept] + [combination]
        if expected >= wanted:
            break
    return " | ".join(
        "(" + " & ".join(rarest[place].query for place in sorted(combination)) + ")"
        for combination in chosen
    )


def _weightiest_first(words: Sequence[Word]) -> list[frozenset[int]]:
    places = range(len(words))
    weights = [word.weight for word in words]
    every = [
        frozenset(combination)
        for size in range(1, len(words) + 1)
        for combination in combinations(places, size)
    ]
    return sorted(every, key=lambda combination: -sum(weights[place] for place in combination))
