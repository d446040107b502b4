"""Finds orders to a model in a document: said aloud, forged, hidden or disguised."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from knowledge.screening.carriers import forged_roles, hidden_passages
from knowledge.screening.concepts import Concept
from knowledge.screening.disguises import disguised_passages
from knowledge.screening.findings import Finding, Span
from knowledge.screening.orders import MEANING, is_suspect_in_code, is_suspect_when_hidden, order_in
from knowledge.screening.reading import Ideas, ideas_of
from knowledge.screening.sentences import sentences
from knowledge.screening.weighing import weighed

_REACH = 2
"""How many sentences to each side lend their ideas to the one between."""


_HEARING = 3
"""How far the word "attack" makes a passage talk about attacks."""


def find_orders(text: str) -> Iterator[Finding]:
    """Every suspected order to a model, also within the strings of a text that is JSON."""
    strings = json_strings(text)
    if strings is None:
        yield from _orders_in(text)
        return
    for words, (start, end) in strings:
        for finding in _orders_in(words):
            yield replace(finding, start=start, end=end)


def _orders_in(text: str) -> Iterator[Finding]:
    for span in forged_roles(text):
        yield _finding("forged_roles", span)
    for rule, passage, span in chain(hidden_passages(text), disguised_passages(text)):
        if passage is None or _is_order(passage, rule):
            yield _finding(rule, span)
    yield from _spoken(text)


def json_strings(text: str) -> list[tuple[str, Span]] | None:
    """The strings of a JSON text and their places; None when it is no JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return [(json.loads(match[0]), match.span()) for match in _STRING.finditer(text)]


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def _spoken(text: str) -> Iterator[Finding]:
    spans = list(sentences(text))
    ideas = [ideas_of(text[start:end]) for start, end in spans]
    for place, span in enumerate(spans):
        here = ideas[place]
        if len(here) < 2:
            continue
        around = _around(ideas, place, _REACH)
        rule = order_in(here, around) or weighed(ideas, place)
        if rule and not _is_discussed(here, ideas, place):
            yield _finding(rule, span)


def _around(ideas: list[Ideas], place: int, reach: int) -> Ideas:
    return frozenset().union(*ideas[max(0, place - reach) : place + reach + 1])


def _is_discussed(here: Ideas, ideas: list[Ideas], place: int) -> bool:
    """Talk about orders is no order, unless it turns to the model and gives one."""
    if Concept.VOCATIVE in here:
        return False
    return Concept.DISCUSSED in here or Concept.ATTACK in _around(ideas, place, _HEARING)


def _is_order(passage: str, rule: str) -> bool:
    """Whether words that were out of sight tell a model what to do."""
    ideas = [ideas_of(passage[start:end], hidden=True) for start, end in sentences(passage)]
    whole = frozenset().union(*ideas)
    suspect = is_suspect_when_hidden if rule == "hidden_text" else is_suspect_in_code
    return any(suspect(here) or order_in(here, whole) for here in ideas)


def _finding(rule: str, span: Span) -> Finding:
    return Finding("injection", rule, f"The text {MEANING[rule]}.", *span)
