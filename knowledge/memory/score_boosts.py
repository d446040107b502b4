"""Boosts of a hit's score: by matching words, similarity, relations and age. Pure."""

from collections.abc import Collection, Mapping
from math import pow, sqrt

SLOWEST = 0.1
"""However old, a hit keeps this share of its relevance."""
NEAR = 0.05
"""The most that age alone takes by default: it decides between hits that are nearly equal."""
UNDATED = 1 / 1.4
"""What is left of a hit that is not of the date which the question names."""

WORDS = 0.2
"""The most that having every word of the query can do."""
LIKENESS = 0.25
"""The most that being like the best hits can do, were those perfect."""
SUPPORT = 0.3
"""The most that one relation to a perfect hit can do."""

RELATION_SHARES = {
    "decides": 1.0,
    "supports": 1.0,
    "requires": 0.9,
    "derived_from": 0.9,
    "depends_on": 0.8,
    "related_to": 0.8,
    "belongs_to": 0.5,
}
"""How far each type of relation speaks for its other end; to contradict or replace does not."""


def recency_boost(age_days: float, half_life: float) -> float:
    """A share that halves with every half-life, down to the least that is kept."""
    return max(SLOWEST, pow(0.5, max(0.0, age_days) / half_life))


def near_equal_boost(recency: float) -> float:
    """The same within the little that separates hits which are nearly equal."""
    return 1 - NEAR * (1 - recency)


def coverage(said: Collection[str], rarity: Mapping[str, float]) -> float:
    """The share of the query's words that a hit has, the rare ones counting for more."""
    whole = sum(rarity.values())
    return sum(rarity[word] for word in set(said)) / whole if whole else 0.0


def reread_boost(covered: float, likeness: float, best: float) -> float:
    """What a second look at a hit is worth; the best hits' word counts as far as they are good."""
    return WORDS * covered + LIKENESS * likeness * best


def support(score: float, relation: str, weight: float, *, among: int = 1) -> float:
    """What a hit lends to an item related to it; the more such items, the less to each."""
    return SUPPORT * RELATION_SHARES[relation] * weight * score / sqrt(among)


def raise_score(score: float, by: float) -> float:
    """A score brought nearer to 1, and never past it."""
    return min(1.0, 1 - (1 - score) * (1 - by))
