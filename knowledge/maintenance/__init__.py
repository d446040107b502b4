"""Keeping the index whole: building the next generation, finding what is wrong, mending it."""

from typing import NamedTuple


class Progress(NamedTuple):
    """How far a long work has come."""

    done: int
    total: int
