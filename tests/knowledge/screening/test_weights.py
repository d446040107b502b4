"""The committed weights belong to the committed cases and to the way that texts are read."""

import numpy as np
import pytest

from benchmarks.screening import training
from knowledge.screening import judging
from knowledge.screening.features import BITS, features_of


def test_the_weights_were_learned_from_the_committed_cases_by_the_present_code():
    with np.load(judging.WEIGHTS) as kept:
        assert str(kept["fingerprint"]) == training.fingerprint(), (
            "Run: python -m benchmarks.screening train"
        )


def test_the_fingerprint_changes_with_the_order_of_what_is_weighed(monkeypatch: pytest.MonkeyPatch):
    before = training.fingerprint()
    monkeypatch.setattr(judging, "features_of", lambda text: reversed(list(features_of(text))))
    assert training.fingerprint() != before


def test_learning_twice_gives_the_same_bits():
    cases = training.read_cases(training.HELD_OUT)[:200]
    one, other = training.train(cases), training.train(cases)
    assert one.weights.shape == (1 << BITS,)
    assert one.weights.tobytes() == other.weights.tobytes()
    assert one.bias == other.bias


def test_no_held_out_case_is_taught():
    taught = {case.text for case in training.read_cases(training.TAUGHT)}
    assert not [case for case in training.read_cases(training.HELD_OUT) if case.text in taught]
