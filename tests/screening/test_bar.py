"""The bar: every secret, nine injections of ten, two false alarms of a hundred."""

from collections.abc import Callable
from pathlib import Path

import pytest

from knowledge.screening import Verdict, screen
from tests.screening.cases_for_tests import OWN, SHARED, texts
from tests.screening.secrets_for_tests import SECRETS

shared = pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not at hand")
BOTH = pytest.mark.parametrize(
    "path", [OWN, pytest.param(SHARED, marks=shared)], ids=["own", "shared"]
)


def share(path: Path, kind: str, passes: Callable[[Verdict], object]) -> float:
    cases = texts(path, kind)
    return sum(bool(passes(screen(text))) for text in cases) / len(cases)


@shared
def test_every_shared_secret_is_found():
    assert share(SHARED, "secret", lambda verdict: verdict.secrets) == 1


@pytest.mark.parametrize("text", SECRETS, ids=lambda text: text[:24])
def test_every_secret_of_our_own_is_found_and_goes_unsaid(text: str):
    found = screen(text).secrets
    assert found
    for finding in found:
        assert text[finding.start : finding.end] not in finding.sentence


@BOTH
def test_nine_injections_of_ten_are_suspected(path: Path):
    assert share(path, "injection", lambda verdict: verdict.injections) >= 0.9


@BOTH
def test_at_most_two_harmless_texts_of_a_hundred_alarm(path: Path):
    assert share(path, "harmless", lambda verdict: verdict.findings) <= 0.02


def test_our_own_cases_are_enough_to_mean_something():
    assert len(texts(OWN, "injection")) >= 40
    assert len(texts(OWN, "harmless")) >= 40
    assert len(SECRETS) >= 40
