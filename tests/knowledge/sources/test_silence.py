"""Long recordings are cut where nobody speaks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.sources.silence import windows
from tests.support.recordings import silence, speech, tone

RATE = 1_000
"""Low, so that minutes are quick to make; nothing here depends on it."""


def noise(seconds: float, level: float) -> np.ndarray:
    return np.random.default_rng(7).normal(0, level, int(seconds * RATE)).astype(np.int16)


def talk(*spans: tuple[float, float]) -> np.ndarray:
    """Loud for the first of each pair of seconds, quiet for the second."""
    return np.concatenate(
        [part for loud, quiet in spans for part in (noise(loud, 5_000), noise(quiet, 20))]
    )


def cuts(samples: np.ndarray, rate: int = RATE) -> list[float]:
    return [end / rate for _, end in windows(samples, rate)]


def test_a_short_recording_is_one_window():
    assert cuts(noise(119, 5_000)) == [119]


def test_nothing_has_no_windows():
    assert cuts(np.zeros(0, np.int16)) == []


def test_the_cut_lies_in_the_middle_of_the_longest_pause_of_the_first_minute():
    samples = talk((35, 0.5), (10, 2.0), (10, 0.5), (80, 0))

    assert cuts(samples)[0] == pytest.approx(46.5, abs=0.1)


def test_a_pause_before_half_a_minute_is_too_early():
    samples = talk((10, 5.0), (35, 0.4), (80, 0))

    assert cuts(samples)[0] == pytest.approx(50.2, abs=0.1)


def test_without_a_pause_in_a_minute_the_next_one_is_awaited():
    samples = talk((100, 0.6), (60, 0))

    assert cuts(samples)[0] == pytest.approx(100.3, abs=0.1)


def test_the_stops_within_words_are_no_pauses():
    samples = talk(*[(0.4, 0.1)] * 140, (0.4, 0.8), *[(0.4, 0.1)] * 200)

    assert cuts(samples)[0] == pytest.approx(70.8, abs=0.1)


def test_a_pause_is_found_in_a_noisy_room():
    samples = talk((50, 1.0), (90, 0)).astype(np.int32) + noise(141, 600)

    assert cuts(samples.clip(-32_768, 32_767).astype(np.int16))[0] == pytest.approx(50.5, abs=0.2)


def test_digital_silence_is_a_pause_too():
    samples = talk((40, 0), (0, 0), (100, 0))
    samples[40 * RATE : 41 * RATE] = 0

    assert cuts(samples)[0] == pytest.approx(40.5, abs=0.1)


@pytest.mark.parametrize(
    "samples",
    [noise(700, 5_000), np.zeros(700 * RATE, np.int16), tone(43.75)],
    ids=["noise", "nothing", "a tone"],
)
def test_without_any_pause_it_is_cut_all_the_same(samples):
    found = cuts(samples)

    lengths = np.diff([0, *found])
    assert found[-1] == len(samples) / RATE
    assert max(lengths) <= 120
    assert min(lengths[:-1]) >= 30


def test_real_speech_is_cut_between_utterances():
    rate = 16_000
    one = np.concatenate([speech(), silence(1.5)])
    samples = np.tile(one, 14)

    for cut in cuts(samples, rate)[:-1]:
        at = cut % 12.5
        assert at > 10.4 or at < 0.4


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 70), st.floats(0, 3)), min_size=1, max_size=12))
def test_the_windows_follow_each_other_and_can_be_taken_up_anywhere(spans):
    samples = talk(*spans)
    found = list(windows(samples, RATE))

    assert [start for start, _ in found] == [0, *[end for _, end in found]][: len(found)]
    assert not found or found[-1][1] == len(samples)
    for position, (start, _) in enumerate(found):
        assert list(windows(samples, RATE, start=start)) == found[position:]
