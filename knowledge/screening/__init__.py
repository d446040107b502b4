"""Screens texts for secrets and for orders to a model, without network, model or framework."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

from knowledge.screening.assignments import PLACE_RULES, find_assignments
from knowledge.screening.findings import Finding, Verdict, without_overlaps
from knowledge.screening.injection import INJECTION_RULES, find_injections
from knowledge.screening.judging import WHOLE
from knowledge.screening.normalising import Decoded, decode_runs
from knowledge.screening.shapes import SHAPE_RULES, find_shapes, vendor_shapes

__all__ = ["FIRST_PART", "RULES", "Finding", "JsonValue", "Verdict", "screen", "screen_document"]

FIRST_PART = 50_000
"""So many characters are screened in about a tenth of a second.

A caller that must answer at once screens `text[:FIRST_PART]`, and leaves the whole of a longer text
to a job.
"""
RULES = frozenset(
    (*(shape.rule for shape in vendor_shapes()), *SHAPE_RULES, *PLACE_RULES, *INJECTION_RULES)
)
"""The name of every rule that a finding can carry; docs/screening.md explains each."""

JsonValue: TypeAlias = (
    "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)


def screen(text: str) -> Verdict:
    """Every secret and every suspected order in a text, each named by its rule and place."""
    decoded = decode_runs(text)
    return _verdict((*_secrets(text, decoded), *find_injections(text, decoded)))


def screen_document(value: JsonValue) -> Verdict:
    """Every string and key of a JSON value, each finding with the path of its string."""
    strings = list(_strings(value))
    secrets = [replace(found, path=each.path) for each in strings for found in _secrets_of(each)]
    return _verdict((*secrets, *_injections_of(strings)))


def _secrets(text: str, decoded: Iterable[Decoded]) -> tuple[Finding, ...]:
    """Every secret of a text as it stands, and in one round of encoding."""
    plain = (*find_shapes(text), *find_assignments(text))
    encoded = [
        replace(found, start=start, end=end)
        for said, start, end in decoded
        for found in (*find_shapes(said), *find_assignments(said))
    ]
    return without_overlaps((*plain, *encoded))


def _verdict(findings: tuple[Finding, ...]) -> Verdict:
    return Verdict(tuple(sorted(findings, key=lambda finding: (finding.path, finding.start))))


class _String(NamedTuple):
    """A string or key of a document: its path, its member's name, itself."""

    path: str
    name: str
    text: str


def _secrets_of(string: _String) -> tuple[Finding, ...]:
    found = _secrets(string.text, decode_runs(string.text))
    if found or not string.name:
        return found
    # A member called `password` makes a secret of a word that is none in a text.
    named = find_assignments(f"{string.name}: {json.dumps(string.text, ensure_ascii=False)}")
    return tuple(replace(each, start=0, end=len(string.text)) for each in named)[:1]


def _injections_of(strings: list[_String]) -> Iterator[Finding]:
    """What is said in one string may be meant for the next, so all are read as one text.

    A short text is judged as a whole, so the title and the names of fields beside it would make an
    order in it less suspicious: it is also read by itself.
    """
    if len(strings) > 1:
        longest = max(strings, key=lambda string: len(string.text))
        alone = list(_injections_of([longest])) if len(longest.text) <= WHOLE else []
        if alone:
            yield from alone
            return
    starts = [0, *accumulate(len(string.text) + 1 for string in strings)]
    text = "\n".join(string.text for string in strings)
    for found in find_injections(text, decode_runs(text)):
        shared = [min(found.end, after) - max(found.start, at) for at, after in pairwise(starts)]
        at = shared.index(max(shared))
        start, last = max(0, found.start - starts[at]), len(strings[at].text)
        yield replace(
            found, start=start, end=min(last, found.end - starts[at]), path=strings[at].path
        )


def _strings(document: JsonValue) -> Iterator[_String]:
    """Every string and key; a stack instead of recursion, as a hostile value may be deep."""
    waiting: list[tuple[str, str, JsonValue]] = [("$", "", document)]
    while waiting:
        path, name, value = waiting.pop()
        if isinstance(value, str):
            yield _String(path, name, value)
        elif isinstance(value, Mapping):
            yield from (_String(f"{path}.{key}", "", key) for key in value)
            waiting += [
                (f"{path}.{key}", key, inner) for key, inner in reversed(list(value.items()))
            ]
        elif isinstance(value, Sequence):
            waiting += [(f"{path}[{at}]", name, value[at]) for at in reversed(range(len(value)))]
