"""How judgments move a score: a Beta prior from what a contribution scores by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

STRENGTH = 8.0
"""As many fully trusted judgments weigh as much as the score that the server gave."""

FLOOR = 0.05
"""The weight of a judgment by an unknown agent."""

MOST_OF_UNKNOWN = 1.0
"""All floors together never count more than one fully trusted judgment."""


@dataclass(frozen=True, slots=True)
class WeighedJudgment:
    """One judgment, and the reputation (0 to 1) of who gave it."""

    valid: bool
    reputation: float


@dataclass(frozen=True, slots=True)
class Posterior:
    """The posterior after all judgments."""

    alpha: float
    beta: float
    weight_for: float
    weight_against: float

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)


def posterior_of(intrinsic: float, judgments: Sequence[WeighedJudgment]) -> Posterior:
    """The prior with each judgment added at its weight; their order does not matter."""
    floor = floor_of(len(judgments))
    weights = [(each.valid, weight_of(each.reputation, floor)) for each in judgments]
    weight_for = fsum(weight for valid, weight in weights if valid)
    weight_against = fsum(weight for valid, weight in weights if not valid)
    return Posterior(
        alpha=STRENGTH * intrinsic + weight_for,
        beta=STRENGTH * (1 - intrinsic) + weight_against,
        weight_for=weight_for,
        weight_against=weight_against,
    )


def floor_of(judgments: int) -> float:
    """What an unknown agent's word counts among so many."""
    return min(FLOOR, MOST_OF_UNKNOWN / judgments) if judgments else FLOOR


def weight_of(reputation: float, floor: float) -> float:
    """The weight of one judgment: from the floor for unknown agents to 1 for the most trusted."""
    return floor + (1 - floor) * reputation
