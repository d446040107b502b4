"""Where a transcriber keeps its notes in tests, and how its worker is killed."""

import json
from collections.abc import Mapping
from typing import Any


class Killed(BaseException):
    """The worker dies here."""


class Paper:
    """A notebook that keeps only JSON, and whose holder may be killed after a certain write."""

    def __init__(self, kept: str = "{}", killed_after: int = 0) -> None:
        self.kept = kept
        self.killed_after = killed_after
        self.percents: list[int] = []

    def read(self) -> dict[str, Any]:
        notes: dict[str, Any] = json.loads(self.kept)
        return notes

    def write(self, notes: Mapping[str, Any], *, percent: int | None = None) -> None:
        self.kept = json.dumps(notes)
        self.percents.append(percent or 0)
        if len(self.percents) == self.killed_after:
            raise Killed
