"""What a screening found, and where."""

from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["secret", "injection"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret or one suspected order to a model, told without repeating it."""

    kind: Kind
    rule: str
    sentence: str
    start: int
    end: int
    path: str = ""
    """The JSON path of the string it stands in; empty for a plain text."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that one screening found, in the order of the text."""

    findings: tuple[Finding, ...] = ()

    @property
    def secrets(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.kind == "secret")

    @property
    def injections(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.kind == "injection")

    @property
    def is_clean(self) -> bool:
        return not self.findings


def without_overlaps(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each place: of several, the one that was named first."""
    kept: list[Finding] = []
    for finding in findings:
        at = bisect(kept, finding.start, key=lambda other: other.start)
        follows = at == 0 or kept[at - 1].end <= finding.start
        precedes = at == len(kept) or finding.end <= kept[at].start
        if follows and precedes:
            kept.insert(at, finding)
    return tuple(kept)
