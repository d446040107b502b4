"""Judges whether a passage gives orders to a model, by weights learned from written cases.

`python -m benchmarks.screening --train` learns them anew; docs/screening.md says from what.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from knowledge.screening.traits import BITS, Numbers, Traits

WEIGHTS = Path(__file__).with_name("weights.npz")

SHARES = (1.3, 1.3, 0.7)
"""How much words, letters and ideas count, whatever the length of the passage."""
FEWEST = (8.0, 16.0, 2.0)
"""The least that each sort's length is taken for, so that a scrap of a text proves little."""

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Places = np.ndarray[Any, np.dtype[np.int64]]


class Judge(NamedTuple):
    """What was learned: a weight for each trait, and from where on a passage is suspected."""

    weights: Floats
    bias: float
    enough: float
    enough_of_scrap: float
    """A scrap of a text proves little, so that it must read the more like an order."""
    enough_in_part: float
    """Of many parts some look like orders by chance, so each must do so more clearly."""


@cache
def judge() -> Judge:
    """The weights as they were learned, read once per process."""
    kept = np.load(WEIGHTS)
    weights = kept["weights"].astype(np.float32) * kept["scale"]
    return Judge(weights, *(float(kept[name]) for name in Judge._fields[1:]))


def suspicion(passage: Traits, by: Judge) -> float:
    """How much a passage reads like an order; more than `enough` is a finding."""
    return float(suspicions([passage], by)[0])


def suspicions(passages: Sequence[Traits], by: Judge) -> Floats:
    """The same for many passages, which together take a fraction of the time."""
    total = np.full(len(passages), by.bias)
    for places, numbers, strengths in strengths_of(passages):
        total += np.bincount(places, strengths * by.weights[numbers], len(passages))
    return total


def strengths_of(passages: Sequence[Traits]) -> Iterator[tuple[Places, Numbers, Floats]]:
    """For each sort of trait: in which passage, which, and how strong.

    A passage's strengths of one sort are together of one length, however many there are.
    """
    for share, fewest, sort in zip(SHARES, FEWEST, zip(*passages, strict=True), strict=True):
        places = np.repeat(np.arange(len(passages)), [len(traits) for traits in sort])
        marked = places.astype(np.uint64) << np.uint64(BITS) | np.concatenate(sort)
        found, counts = np.unique(marked, return_counts=True)
        places = (found >> np.uint64(BITS)).astype(np.int64)
        strengths = 1 + np.log(counts)
        lengths = np.sqrt(np.bincount(places, strengths**2, len(passages)))
        numbers = found & np.uint64((1 << BITS) - 1)
        yield places, numbers, share * strengths / np.maximum(lengths, fewest)[places]
