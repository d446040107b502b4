"""Cuts long recordings where nobody speaks. Pure computation on 16-bit samples."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]

FRAME_SEC = 0.02
SHORTEST_PAUSE_SEC = 0.25
"""Longer than the stops within words."""

SHORTEST_SEC = 30
WISHED_SEC = 60
LONGEST_SEC = 120

QUIET_BELOW_SPEECH_DB = 30.0
QUIET_ABOVE_FLOOR = 0.2
"""How far the way from the noise floor up to speech still counts as quiet."""


def windows(samples: Samples, rate: int, *, start: int = 0) -> Iterator[tuple[int, int]]:
    """Consecutive spans from `start` to the end, cut in pauses where there are any.

    The cuts behind `start` depend only on what comes behind it, so that an interrupted walk
    can be taken up at any cut.
    """
    while start < len(samples):
        end = start + _next_cut(samples[start : start + LONGEST_SEC * rate + 1], rate)
        yield start, end
        start = end


def _next_cut(ahead: Samples, rate: int) -> int:
    """Where to cut: in the longest pause within the wished length, else in any, else anywhere."""
    if len(ahead) <= LONGEST_SEC * rate:
        return len(ahead)
    loudness = _loudness(ahead, int(rate * FRAME_SEC))
    quiet = loudness <= _quiet_level(loudness)
    first = int(SHORTEST_SEC / FRAME_SEC)
    for last_sec in (WISHED_SEC, LONGEST_SEC):
        last = int(last_sec / FRAME_SEC)
        if (frame := _middle_of_longest_pause(quiet, first, last)) is not None:
            break
    else:
        frame = _quietest(loudness, first)
    return int(frame * FRAME_SEC * rate)


def _loudness(samples: Samples, frame: int) -> NDArray[np.float32]:
    """The level of each frame in decibels of full scale; digital silence lies at -90."""
    whole = samples[: len(samples) // frame * frame].reshape(-1, frame).astype(np.float32)
    power = np.mean(np.square(whole / 32768), axis=1)
    level: NDArray[np.float32] = 10 * np.log10(np.maximum(power, 1e-9))
    return level


def _quiet_level(loudness: NDArray[np.float32]) -> float:
    """What counts as silence here: far below the speech, or near the noise that is always there."""
    floor, speech = (float(level) for level in np.percentile(loudness, (10, 99)))
    return max(speech - QUIET_BELOW_SPEECH_DB, floor + QUIET_ABOVE_FLOOR * (speech - floor))


def _middle_of_longest_pause(quiet: NDArray[np.bool_], first: int, last: int) -> int | None:
    edges = np.flatnonzero(np.diff(quiet[first:last].astype(np.int8), prepend=0, append=0))
    begins, ends = edges[::2], edges[1::2]
    if not len(begins):
        return None
    longest = int(np.argmax(ends - begins))
    if ends[longest] - begins[longest] < SHORTEST_PAUSE_SEC / FRAME_SEC:
        return None
    return first + int(begins[longest] + ends[longest]) // 2


def _quietest(loudness: NDArray[np.float32], first: int) -> int:
    """The frame in the middle of the quietest stretch as long as a pause should be."""
    length = round(SHORTEST_PAUSE_SEC / FRAME_SEC)
    around = np.convolve(loudness[first:], np.ones(length), mode="valid")
    return first + int(np.argmin(around)) + length // 2
