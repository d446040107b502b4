"""Where orders hide in plain sight of a machine: unseen words, remarks, forged turns."""

from collections.abc import Iterator
from itertools import chain

from knowledge.screening.forging import forged_passages, forged_roles
from knowledge.screening.hidden_orders import Passage, wants_anything
from knowledge.screening.remarks import remarks_to_machines
from knowledge.screening.unseen import unseen_passages

__all__ = ["forged_roles", "hidden_passages"]


def hidden_passages(text: str) -> Iterator[Passage]:
    """What a person would not see or look at, and what somebody else pretends to say."""
    for rule, words, span in chain(unseen_passages(text), remarks_to_machines(text)):
        if words is None or wants_anything(words):
            yield rule, words, span
    yield from forged_passages(text)
