"""The measures, on cases worked out by hand."""

from math import log2

import pytest

from benchmarks.metrics import length, merged, ndcg, overlap, recall, reciprocal_rank, shared
from benchmarks.quality import span_scores


def test_a_perfect_ranking_has_gain_one() -> None:
    assert ndcg(["a", "b", "c"], {"a": 3, "b": 1}) == 1


def test_gain_is_linear_and_discounted_by_rank() -> None:
    found = 1 / log2(2) + 3 / log2(4)
    best = 3 / log2(2) + 1 / log2(3)
    assert ndcg(["b", "x", "a"], {"a": 3, "b": 1}) == pytest.approx(found / best)


def test_gain_looks_no_further_than_k() -> None:
    assert ndcg(["x", "y", "a"], {"a": 1}, k=2) == 0
    assert ndcg(["a"], {"a": 1, "b": 1, "c": 1}, k=1) == 1


def test_the_ideal_is_no_longer_than_k() -> None:
    gains = {str(n): 1 for n in range(30)}
    assert ndcg([str(n) for n in range(10)], gains) == pytest.approx(1)


def test_recall_counts_relevant_documents_only() -> None:
    assert recall(["a", "z", "b"], {"a": 2, "b": 0, "c": 1}) == 0.5
    assert recall(["z", "a"], {"a": 1}, k=1) == 0


def test_reciprocal_rank_is_that_of_the_first_relevant() -> None:
    assert reciprocal_rank(["x", "b", "a"], {"a": 1, "b": 1}) == 0.5
    assert reciprocal_rank(["b", "a"], {"a": 1, "b": 0}) == 0.5
    assert reciprocal_rank(["x", "a"], {"a": 1}, k=1) == 0


def test_a_question_that_nothing_answers_scores_nothing() -> None:
    assert ndcg(["a"], {}) == recall(["a"], {}) == reciprocal_rank(["a"], {}) == 0


def test_overlap_is_the_share_of_what_was_wanted() -> None:
    assert overlap([1, 2, 3], [2, 3, 4, 5]) == 0.5
    assert overlap([], []) == 1
    assert overlap([1], [2]) == 0


def test_spans_that_touch_or_overlap_become_one() -> None:
    assert merged([(8, 9), (0, 5), (5, 7), (1, 3)]) == [(0, 7), (8, 9)]
    assert length([(0, 5), (3, 7)]) == 7


def test_shared_characters_are_counted_once() -> None:
    assert shared([(0, 10), (5, 20)], [(8, 12), (30, 40)]) == 4
    assert shared([(0, 5)], [(5, 9)]) == 0


def test_an_answer_held_whole_has_full_recall_and_its_share_of_precision() -> None:
    row = span_scores("a", [(10, 20)], [("a", (0, 40)), ("a", (40, 60))])
    assert row == {
        "recall": 100,
        "precision": pytest.approx(100 * 10 / 60),
        "IoU": pytest.approx(100 * 10 / 60),
    }


def test_the_same_place_in_another_text_is_found_but_not_wanted() -> None:
    row = span_scores("a", [(0, 10)], [("b", (0, 10)), ("a", (5, 15))])
    assert row == {
        "recall": 50,
        "precision": 25,
        "IoU": pytest.approx(100 * 5 / 25),
    }


def test_finding_nothing_scores_nothing() -> None:
    assert span_scores("a", [(0, 10)], []) == {"recall": 0, "precision": 0, "IoU": 0}
