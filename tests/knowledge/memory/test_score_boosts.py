"""What relevance is weighed with, on cases worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.memory.score_boosts import (
    RELATION_SHARES,
    SUPPORT,
    coverage,
    raise_score,
    recency_boost,
    reread_boost,
    support,
)
from knowledge.models import RelationType

shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("age", "half_life", "boost"),
    [(0, 30, 1), (30, 30, 0.5), (60, 30, 0.25), (365, 365, 0.5), (10_000, 30, 0.1), (-5, 30, 1)],
)
def test_recency_halves_with_every_half_life_down_to_a_tenth(
    age: float, half_life: float, boost: float
) -> None:
    assert recency_boost(age, half_life) == pytest.approx(boost)


@given(age=st.floats(0, 1e9), half_life=st.floats(0, 1e9, exclude_min=True))
def test_recency_is_always_a_share(age: float, half_life: float) -> None:
    assert 0.1 <= recency_boost(age, half_life) <= 1


@given(score=shares, by=shares)
def test_what_is_raised_never_falls_and_never_passes_one(score: float, by: float) -> None:
    assert score - 1e-12 <= raise_score(score, by) <= 1


def test_rare_words_count_for_more() -> None:
    rarity = {"the": 0.1, "quartz": 5.0, "vein": 4.9}
    assert coverage(["the", "quartz", "vein"], rarity) == pytest.approx(1)
    assert coverage(["quartz"], rarity) > 10 * coverage(["the"], rarity)
    assert coverage([], rarity) == coverage([], {}) == 0


def test_a_second_look_trusts_the_best_hits_as_far_as_they_are_good() -> None:
    assert reread_boost(1, 1, 1) == pytest.approx(0.45)
    assert reread_boost(0, 1, 0) == 0


def test_support_follows_score_weight_and_type() -> None:
    assert support(1, "supports", 1) == SUPPORT
    assert support(0.5, "supports", 0.5) == pytest.approx(SUPPORT / 4)
    assert support(1, "belongs_to", 1) < support(1, "requires", 1)
    assert support(1, "supports", 1, among=4) == SUPPORT / 2


def test_to_contradict_or_to_replace_is_no_support() -> None:
    assert set(RelationType.values) - RELATION_SHARES.keys() == {"contradicts", "supersedes"}
    assert set(RELATION_SHARES) <= set(RelationType.values)
