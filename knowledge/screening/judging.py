"""Judges whether a passage gives orders to a model, by weights learned from written cases.

`python -m benchmarks.screening train` learns them; docs/screening.md says from what.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from knowledge.screening.features import Feature, Places, features_of
from knowledge.screening.findings import Span
from knowledge.screening.normalising import normalise

WEIGHTS = Path(__file__).with_name("weights.npz")
SHARES = (1.0, 1.0, 1.0, 1.3, 1.3, 1.0, 1.0, 1.0)
"""How much each sort of feature counts, in the order of `features_of`."""
FEWEST = (60, 60, 60, 20, 20, 20, 20, 20)
"""The least number of features of each sort that is assumed, so that a scrap proves little."""
_SHARES, _FEWEST = np.array(SHARES)[:, np.newaxis], np.array(FEWEST)[:, np.newaxis]
WHOLE, WINDOW = 500, 400
"""A text of up to WHOLE characters is one passage; a longer one is judged in windows of WINDOW."""
SCRAP = 150
"""A text with fewer characters is a scrap."""
SHORTEST_SENTENCE, LONGEST_SENTENCE = 30, 400

# From the first of several points on: tried from each of them, a long row takes the square of it.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”»)\]]*+\s+|[。！？।॥؟۔]+\s*|\n\s*")

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Judge(NamedTuple):
    """What was learned: a weight for each feature, and from where on a passage is suspected."""

    weights: Floats
    bias: float
    enough: float
    enough_of_scrap: float
    """A short text must read the more like an order, as it says little."""
    per_doubling: float
    """Of many windows some look like orders by chance: what each doubling of them adds."""


class Passages(NamedTuple):
    """Runs of sentences: the first of each, and the one after its last."""

    first: Places
    after: Places


class Reading(NamedTuple):
    """The sentences of a text, where they stand in it, and the features of what they say."""

    spans: Sequence[Span]
    bounds: Places
    features: Sequence[Feature]

    def passages(self, *, is_short: bool) -> Passages:
        """The whole of a short text; of a longer one a window from each sentence on."""
        count = len(self.spans)
        if is_short or count == 1:
            return Passages(np.array([0]), np.array([count]))
        after = np.minimum(np.searchsorted(self.bounds, self.bounds[:-1] + WINDOW), count)
        return _until_the_end(after, count)


def _until_the_end(after: Places, count: int) -> Passages:
    """The windows up to the first that reaches the end; later ones are parts of it."""
    windows = int(np.argmax(after == count)) + 1
    return Passages(np.arange(windows), after[:windows])


@cache
def judge() -> Judge:
    """The weights as they were learned, read once per process."""
    with np.load(WEIGHTS) as kept:
        weights = kept["weights"].astype(np.float32) * np.float32(kept["scale"])
        return Judge(weights, *(float(kept[name]) for name in Judge._fields[1:]))


def read(text: str) -> Reading:
    """Cut a text into sentences and normalise each; one that is said again says nothing more."""
    spans = list(sentences(text))
    said = [f" {normalise(text[start:end])}" for start, end in spans]
    said = [now if now != before else "" for before, now in pairwise(["", *said])]
    bounds = np.cumsum([0, *map(len, said)])
    return Reading(spans, bounds, list(features_of("".join(said) + " ")))


def sentences(text: str) -> Iterator[Span]:
    """The span of each sentence; short ones go with the next, a very long one is cut at a blank."""
    start = 0
    for end in _END.finditer(text):
        if end.end() - start >= SHORTEST_SENTENCE:
            yield from _cut(text, start, end.end())
            start = end.end()
    yield from _cut(text, start, len(text))


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > LONGEST_SENTENCE:
        blank = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        middle = blank + 1 if blank > 0 else start + LONGEST_SENTENCE
        yield start, middle
        start = middle
    if start < end:
        yield start, end


def features_within(
    reading: Reading, passages: Passages
) -> Iterator[tuple[Feature, Places, Places, Floats]]:
    """For each sort: its features, which of them each passage has, and how much each counts."""
    starts, ends = reading.bounds[passages.first], reading.bounds[passages.after] + 1
    first = np.array([feature.starts.searchsorted(starts) for feature in reading.features])
    after = np.array([feature.ends.searchsorted(ends, "right") for feature in reading.features])
    after = np.maximum(first, after)
    strength = _SHARES / np.sqrt(np.maximum(after - first, _FEWEST))
    yield from zip(reading.features, first, after, strength, strict=True)


def suspicions(reading: Reading, passages: Passages, by: Judge) -> Floats:
    """How much each passage reads like an order; more than `enough` is a finding."""
    total = np.full(len(passages.first), by.bias)
    for feature, first, after, strength in features_within(reading, passages):
        sums = np.zeros(len(feature.numbers) + 1)
        by.weights[feature.numbers].cumsum(dtype=np.float64, out=sums[1:])
        total += (sums[after] - sums[first]) * strength
    return total
