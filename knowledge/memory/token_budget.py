"""Fits entries into a token budget: which facet is next, how many entries, how much text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from knowledge.text.token_estimate import TokenRuler, token_count

Name = TypeVar("Name", bound=str)

_ELLIPSIS = "…"
_ELLIPSIS_TOKENS = token_count(_ELLIPSIS)


@dataclass(frozen=True, slots=True)
class Entry:
    """A piece of text and the heading that it stands under."""

    heading: str
    text: str


def turns(places: int, weights: Mapping[Name, int], counts: Mapping[Name, int]) -> list[Name]:
    """Whose turn each place is: by weight, as long as there is something left to put there."""
    taken = dict.fromkeys(weights, 0)
    order: list[Name] = []
    for _ in range(places):
        hungry = [name for name in weights if taken[name] < counts.get(name, 0)]
        if not hungry:
            break
        following = max(hungry, key=lambda name: weights[name] / (taken[name] + 1))
        taken[following] += 1
        order.append(following)
    return order


def cut(text: str, tokens: float) -> str:
    """As much of the beginning as has no more than these tokens, in whole words if it can be."""
    ruler = TokenRuler(text)
    if ruler.between(0, len(text)) <= tokens:
        return text
    end = ruler.reach(0, max(0.0, tokens - _ELLIPSIS_TOKENS))
    space = text.rfind(" ", end // 2, end)
    return text[: space if space > 0 else end].rstrip() + _ELLIPSIS


def pack_entries(
    head: str, entries: Sequence[Entry], *, headings: Sequence[str], budget: float
) -> tuple[str, list[int]]:
    """The text with every entry that fits, tried in order, and the numbers of those entries."""
    text, kept = head, list[int]()
    for number, entry in enumerate(entries):
        tried = _join_sections(head, [*(entries[each] for each in kept), entry], headings)
        if token_count(tried) <= budget:
            text = tried
            kept.append(number)
    return text, kept


def _join_sections(head: str, entries: Sequence[Entry], headings: Sequence[str]) -> str:
    sections = [
        "\n".join([f"## {heading}", *texts])
        for heading in headings
        if (texts := [entry.text for entry in entries if entry.heading == heading])
    ]
    return "\n\n".join([head, *sections])
