"""EigenTrust: trust begins with a few agents and flows along good judgments to those judged.

An agent passes on a part of the trust that reaches it, split by how often it found whose work
good. Nothing reaches agents that only judge each other, however many they are.

Trust is left unscaled: whoever is trusted from the start begins with 1. To divide it by its sum,
and to hand what the silent ones would pass on back to where trust begins, is the same up to one
common factor, and scores depend on none.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

PASSED_ON = 0.7
"""The part of its trust that an agent passes on."""

ONE_JUDGMENT = 1.5
"""So many judgments of trusted agents make half a score."""

FROM_THE_START = 0.95
"""The least score of an agent that trust begins with."""

PRECISION = 1e-12
MOST_ROUNDS = 200
MOST_VISITS = 2_000

Edge = tuple[str, str, float]
"""Who judged whom, and how much more often well than badly."""

Given = Mapping[str, Mapping[str, float]]
"""For each judge, whom it found good and by how much."""


@dataclass(frozen=True, slots=True)
class Standing:
    """All trust there is, by agent, and the most judgments that one trusted agent gave."""

    trust: Mapping[str, float]
    most_given: float


def standing_of(edges: Iterable[Edge], begins_with: Collection[str]) -> Standing:
    """Exactly how trust settles, the same for the same judgments whatever their order."""
    kept = sorted((judge, judged, weight) for judge, judged, weight in edges if weight > 0)
    names = sorted({*begins_with, *(e[0] for e in kept), *(e[1] for e in kept)})
    places = {name: place for place, name in enumerate(names)}
    begins = np.zeros(len(names))
    begins[[places[name] for name in begins_with]] = 1.0
    judges = np.array([places[judge] for judge, _, _ in kept], np.intp)
    judged = np.array([places[name] for _, name, _ in kept], np.intp)
    weights = np.array([weight for _, _, weight in kept], np.float64)
    given = np.bincount(judges, weights, minlength=len(names))
    shares = weights / given[judges] if kept else weights
    trust = _iterate_trust(begins, judges, judged, shares)
    most = max((float(given[places[name]]) for name in begins_with), default=0.0)
    return Standing(dict(zip(names, trust.tolist(), strict=True)), most)


def _iterate_trust(
    begins: NDArray[np.float64],
    judges: NDArray[np.intp],
    judged: NDArray[np.intp],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    trust = begins
    for _ in range(MOST_ROUNDS):
        flowing = np.bincount(judged, shares * trust[judges], minlength=len(begins))
        settled = begins + PASSED_ON * flowing
        if np.abs(settled - trust).max(initial=0.0) < PRECISION:
            return settled
        trust = settled
    return trust


def propagate_trust(
    due: Mapping[str, float], given_by: Callable[[Collection[str]], Given], *, least: float
) -> dict[str, float]:
    """Propagate a change of trust from some agents to the others, down to a threshold.

    Goes on from those that changed to those that they judged, until what is left is below
    `least` or too many were visited; what is left out then is mended by the exact run.
    """
    changed: dict[str, float] = {}
    wave, visits = dict(due), 0
    while wave and visits < MOST_VISITS:
        visits += len(wave)
        following: dict[str, float] = {}
        given = given_by(sorted(wave))
        for judge, change in wave.items():
            changed[judge] = changed.get(judge, 0.0) + change
            for name, share in shares_of(given.get(judge, {})).items():
                following[name] = following.get(name, 0.0) + PASSED_ON * share * change
        wave = {name: change for name, change in following.items() if abs(change) >= least}
    return changed


def shares_of(given: Mapping[str, float]) -> dict[str, float]:
    """The parts in which an agent passes its trust on."""
    kept = {name: weight for name, weight in sorted(given.items()) if weight > 0}
    total = sum(kept.values())
    return {name: weight / total for name, weight in kept.items()}


def unit_of(most_given: float) -> float:
    """The least trust that one good judgment of a trusted agent brings.

    By the next power of two, so that it is a rare judgment that moves everybody's score.
    """
    return PASSED_ON / 2 ** ceil(log2(most_given)) if most_given >= 1 else PASSED_ON


def score_of(trust: float, unit: float, *, from_the_start: bool) -> float:
    """0 to 1, growing with trust: nothing without it, over one half from two trusted judgments."""
    earned = max(0.0, trust - from_the_start)
    score = earned / (earned + ONE_JUDGMENT * unit)
    return FROM_THE_START + (1 - FROM_THE_START) * score if from_the_start else score
