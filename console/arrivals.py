"""How many rows are in which state, as the chips above a list show it."""

from collections.abc import Iterable, Mapping


def count_states(counts: Mapping[str, int], states: Iterable[str]) -> list[tuple[str, int]]:
    """Each state that has any, in the order of the states."""
    return [(state, counts[state]) for state in states if counts[state]]
