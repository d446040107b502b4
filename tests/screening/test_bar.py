"""The bar: every secret, nine injections of ten, two false alarms of a hundred."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from knowledge.screening import Verdict, screen
from tests.screening.cases_for_tests import SHARED, TAUGHT, UNSEEN, texts
from tests.screening.secrets_for_tests import SECRETS

shared = pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not at hand")
NEVER_TAUGHT = pytest.mark.parametrize(
    "paths", [UNSEEN, pytest.param([SHARED], marks=shared)], ids=["unseen", "shared"]
)


def share(paths: Iterable[Path], kind: str, passes: Callable[[Verdict], object]) -> float:
    cases = [text for path in paths for text in texts(path, kind)]
    return sum(bool(passes(screen(text))) for text in cases) / len(cases)


@shared
def test_every_shared_secret_is_found() -> None:
    assert share([SHARED], "secret", lambda verdict: verdict.secrets) == 1


@pytest.mark.parametrize("text", SECRETS, ids=lambda text: text[:24])
def test_every_secret_of_our_own_is_found_and_goes_unsaid(text: str) -> None:
    found = screen(text).secrets
    assert found
    for finding in found:
        assert text[finding.start : finding.end] not in finding.sentence


@NEVER_TAUGHT
def test_nine_injections_of_ten_are_suspected(paths: list[Path]) -> None:
    assert share(paths, "injection", lambda verdict: verdict.injections) >= 0.9


@NEVER_TAUGHT
def test_at_most_two_harmless_texts_of_a_hundred_alarm(paths: list[Path]) -> None:
    assert share(paths, "harmless", lambda verdict: verdict.findings) <= 0.02


def test_no_unseen_case_was_ever_taught() -> None:
    taught = {text for path in TAUGHT for kind in KINDS for text in texts(path, kind)}
    unseen = {text for path in UNSEEN for kind in KINDS for text in texts(path, kind)}
    assert taught.isdisjoint(unseen)
    assert len(taught) > 5_000
    assert len(unseen) > 250


KINDS = ("injection", "harmless")
