"""Screens texts for secrets and for orders to a model, without network, model or framework."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from knowledge.screening.announced import find_announced
from knowledge.screening.assignments import find_assigned
from knowledge.screening.commands import find_in_commands
from knowledge.screening.findings import Finding, Verdict, without_overlaps
from knowledge.screening.injection import find_guises, find_orders, find_spoken, spoken_in
from knowledge.screening.joining import find_split
from knowledge.screening.naming import MEANING
from knowledge.screening.nearby import find_near
from knowledge.screening.placeholders import lowered
from knowledge.screening.prose import find_told
from knowledge.screening.samples import unpublished
from knowledge.screening.secrets import SECRET_RULES, find_tokens

__all__ = [
    "RULES",
    "Finding",
    "JsonValue",
    "Verdict",
    "screen",
    "screen_document",
]

RULES = frozenset((*SECRET_RULES, *MEANING))
"""The name of every rule that a finding can carry; docs/screening.md explains each."""

JsonValue: TypeAlias = (
    "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)


def screen(text: str) -> Verdict:
    """Every secret and every suspected order in a text, each named by its rule and place."""
    secrets = without_overlaps(_secrets(text))
    orders = without_overlaps(find_orders(text))
    return Verdict(tuple(sorted((*secrets, *orders), key=lambda finding: finding.start)))


def screen_document(value: JsonValue) -> Verdict:
    """Every string and key of a JSON value, each finding with the path of its string."""
    strings = list(_strings(value))
    alone = [
        replace(finding, path=path)
        for path, name, text in strings
        for finding in (*without_overlaps(_secrets(text)), *find_guises(text), *_named(name, text))
    ]
    # What is said in one step of a trace may be meant for the next, so all are heard together.
    said = [sentence for path, _, text in strings for sentence in spoken_in(text, path)]
    return Verdict((*alone, *_one_a_place(find_spoken(said))))


def _one_a_place(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple({(found.path, found.start): found for found in findings}.values())


def _named(name: str, text: str) -> Iterator[Finding]:
    """A member called `password` makes a secret of a word that is none in a text."""
    if name and not any(_secrets(text)):
        lead = f"{name}: "
        for finding in find_assigned(f"{lead}{json.dumps(text, ensure_ascii=False)}"):
            yield replace(finding, start=0, end=len(text))


def _secrets(text: str) -> Iterator[Finding]:
    yield from find_tokens(text)
    yield from find_split(text)
    yield from find_assigned(text)
    yield from find_in_commands(text)
    yield from find_told(text)
    low = lowered(text)
    yield from find_near(text, low)
    yield from unpublished(text, find_announced(text, low))


def _strings(document: JsonValue) -> Iterator[tuple[str, str, str]]:
    """Every string and key: its path, its member's name, itself.

    A stack holds what is still to do, because a hostile value may be deep.
    """
    waiting: list[tuple[str, str, JsonValue]] = [("$", "", document)]
    while waiting:
        path, name, value = waiting.pop()
        if isinstance(value, str):
            yield path, name, value
        elif isinstance(value, Mapping):
            yield from ((f"{path}.{key}", "", key) for key in value)
            members = reversed(list(value.items()))
            waiting += [(f"{path}.{key}", key, inner) for key, inner in members]
        elif isinstance(value, Sequence):
            waiting += [(f"{path}[{at}]", name, value[at]) for at in reversed(range(len(value)))]
