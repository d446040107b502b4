"""Trust as it flows, without a database."""

from collections.abc import Collection
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.trust.eigentrust import (
    FROM_THE_START,
    PASSED_ON,
    Edge,
    Given,
    propagate_trust,
    score_of,
    shares_of,
    standing_of,
    unit_of,
)

TRUSTED = ("t1", "t2")


def scores_of(edges: list[Edge], begins_with: Collection[str] = TRUSTED) -> dict[str, float]:
    standing = standing_of(edges, begins_with)
    unit = unit_of(standing.most_given)
    return {
        name: score_of(trust, unit, from_the_start=name in begins_with)
        for name, trust in standing.trust.items()
    }


def sybils(count: int) -> list[Edge]:
    """Each finds the work of ten others excellent."""
    names = [f"s{n}" for n in range(count)]
    return [(a, names[(n + k) % count], 9.0) for n, a in enumerate(names) for k in range(1, 11)]


@pytest.mark.parametrize("honest", [1, 30, 3000])
def test_a_thousand_sybils_stay_near_0_while_two_trusted_judgments_make_more_than_half(
    honest: int,
) -> None:
    edges = [("t1", "good", 1.0), ("t2", "good", 1.0), *sybils(1000)]
    edges += [("t1", f"other{n}", 1.0) for n in range(honest)]
    scores = scores_of(edges)
    assert scores["good"] > 0.5
    assert max(score for name, score in scores.items() if name.startswith("s")) < 0.05


def test_judgments_of_sybils_bring_nothing() -> None:
    flattered = [("t1", "good", 1.0), *((f"s{n}", "bad", 50.0) for n in range(1000))]
    assert scores_of([*flattered, *sybils(1000)])["bad"] == 0.0


def test_whoever_trust_begins_with_is_near_1_without_any_judgment() -> None:
    assert scores_of([])["t1"] == FROM_THE_START
    assert 0.95 <= scores_of([("t1", "t2", 1.0)])["t2"] < 1


def test_nobody_is_trusted_where_trust_begins_with_nobody() -> None:
    assert set(scores_of(sybils(20), begins_with=()).values()) == {0.0}
    assert scores_of([], begins_with=()) == {}


def test_a_score_grows_with_every_judgment_and_stays_below_1() -> None:
    one = scores_of([("t1", "a", 1.0), ("t1", "b", 1.0)])["a"]
    two = scores_of([("t1", "a", 1.0), ("t1", "b", 1.0), ("t2", "a", 1.0)])["a"]
    assert 0 < one < two < 1


def test_trust_that_is_passed_on_grows_less() -> None:
    scores = scores_of([("t1", "a", 1.0), ("a", "b", 1.0), ("b", "c", 1.0)])
    assert scores["a"] > scores["b"] > scores["c"] > 0


def test_more_bad_than_good_judgments_pass_nothing_on() -> None:
    assert scores_of([("t1", "a", -2.0), ("t2", "b", 1.0)]).get("a", 0.0) == 0.0


def test_the_order_of_the_log_makes_no_difference() -> None:
    edges = [*sybils(50), ("t1", "a", 2.0), ("a", "s3", 1.0), ("t2", "s4", 1.0)]
    shuffled = edges[:]
    Random(7).shuffle(shuffled)
    assert standing_of(edges, TRUSTED) == standing_of(shuffled, TRUSTED[::-1])


def test_trust_solves_its_equation() -> None:
    edges = [("t1", "a", 1.0), ("t1", "b", 3.0), ("a", "b", 1.0), ("b", "a", 1.0), ("b", "t2", 1.0)]
    trust = standing_of(edges, TRUSTED).trust
    for name in trust:
        flows = sum(
            trust[judge] * weight / sum(w for j, _, w in edges if j == judge)
            for judge, judged, weight in edges
            if judged == name
        )
        assert trust[name] == pytest.approx((name in TRUSTED) + PASSED_ON * flows, abs=1e-9)


agents = st.sampled_from(["t1", "t2", *(f"a{n}" for n in range(8))])
logs = st.dictionaries(st.tuples(agents, agents), st.integers(1, 5), max_size=30)


@settings(max_examples=60)
@given(logs, agents, agents, st.integers(0, 5))
def test_one_vote_counted_by_itself_agrees_with_the_exact_count(
    log: dict[tuple[str, str], int], judge: str, judged: str, weight: int
) -> None:
    before = _given(log)
    after = _given({**log, (judge, judged): weight})
    trust = dict(standing_of(_edges(before), TRUSTED).trust)
    was, now = shares_of(before.get(judge, {})), shares_of(after.get(judge, {}))
    due = {
        name: PASSED_ON * trust.get(judge, 0.0) * (now.get(name, 0.0) - was.get(name, 0.0))
        for name in was.keys() | now.keys()
    }
    for name, change in propagate_trust(due, lambda names: after, least=1e-9).items():
        trust[name] = trust.get(name, 0.0) + change
    exact = standing_of(_edges(after), TRUSTED).trust
    for name in trust.keys() | exact.keys():
        assert trust.get(name, 0.0) == pytest.approx(exact.get(name, 0.0), abs=1e-6)


def test_a_ripple_that_reaches_too_many_ends() -> None:
    endless = {f"a{n}": {f"a{n + 1}": 1.0} for n in range(10_000)}
    changed = propagate_trust({"a0": 1e300}, lambda names: endless, least=1e-300)
    assert len(changed) < 10_000


def _given(log: dict[tuple[str, str], int]) -> dict[str, dict[str, float]]:
    given: dict[str, dict[str, float]] = {}
    for (judge, judged), weight in log.items():
        given.setdefault(judge, {})[judged] = float(weight)
    return given


def _edges(given: Given) -> list[Edge]:
    return [(judge, name, weight) for judge, by in given.items() for name, weight in by.items()]
