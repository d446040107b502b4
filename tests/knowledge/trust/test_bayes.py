"""How judgments move a score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.trust.bayes import FLOOR, STRENGTH, WeighedJudgment, posterior_of, weight_of

scores = st.floats(0, 1)
judgments = st.lists(st.builds(WeighedJudgment, st.booleans(), scores), max_size=40)


def test_without_judgments_a_score_is_what_the_server_gave() -> None:
    assert posterior_of(0.8, []).mean == pytest.approx(0.8)


def test_a_trusted_judgment_counts_one_against_the_strength_of_the_prior() -> None:
    worse = posterior_of(0.8, [WeighedJudgment(False, 1.0)])
    assert worse.mean == pytest.approx(0.8 * STRENGTH / (STRENGTH + 1))


def test_an_unknown_agent_moves_a_score_by_next_to_nothing() -> None:
    assert weight_of(0.0, FLOOR) == FLOOR
    assert 0 < 0.8 - posterior_of(0.8, [WeighedJudgment(False, 0.0)]).mean < 0.01


def test_a_thousand_unknown_agents_count_no_more_than_one_trusted() -> None:
    crowd = posterior_of(0.8, [WeighedJudgment(False, 0.0)] * 1000)
    assert crowd.weight_against == pytest.approx(1.0)
    assert crowd.mean == pytest.approx(posterior_of(0.8, [WeighedJudgment(False, 1.0)]).mean)


@given(scores, judgments)
def test_a_score_stays_between_0_and_1_and_does_not_depend_on_order(
    intrinsic: float, given: list[WeighedJudgment]
) -> None:
    mean = posterior_of(intrinsic, given).mean
    assert 0 <= mean <= 1
    assert mean == posterior_of(intrinsic, list(reversed(given))).mean


@given(scores, judgments, scores)
def test_one_more_judgment_never_moves_a_score_the_wrong_way(
    intrinsic: float, given: list[WeighedJudgment], reputation: float
) -> None:
    few = given[:15]  # while every floor is the same
    before = posterior_of(intrinsic, few).mean
    assert posterior_of(intrinsic, [*few, WeighedJudgment(True, reputation)]).mean >= before - 1e-12
    assert (
        posterior_of(intrinsic, [*few, WeighedJudgment(False, reputation)]).mean <= before + 1e-12
    )
