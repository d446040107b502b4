"""Finds orders to a model in a document: said aloud, forged, hidden or disguised."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import NamedTuple

import numpy as np

from knowledge.screening.carriers import forged_roles, hidden_passages
from knowledge.screening.concepts import Concept
from knowledge.screening.disguises import disguised_passages
from knowledge.screening.findings import Finding, Span
from knowledge.screening.hidden_orders import is_suspect_in_code, is_suspect_when_hidden
from knowledge.screening.judging import Judge, judge, suspicion, suspicions
from knowledge.screening.naming import MEANING, deed_in
from knowledge.screening.reading import Ideas, ideas_of
from knowledge.screening.sentences import sentences
from knowledge.screening.sure_orders import order_in
from knowledge.screening.traits import Reading

SCRAP, _WHOLE, _PART = 100, 1_000, 200
"""Characters of a scrap, of a text that is judged as a whole, and of the parts of every text.

An order drowns in a passage that is much longer than itself.
"""

_AT_ONCE = 500
"""Parts that are judged together: enough to be quick, few enough to take little memory."""

_REACH, _HEARING = 2, 3
"""Sentences to each side that lend their ideas; and in which "attack" makes all mere talk."""

_FEWEST_WORDS = 5
_ENOUGH_OUT_OF_SIGHT = 0.0
"""Words that a person cannot read need less than others to be suspected."""


class Sentence(NamedTuple):
    """A sentence and where it stands: in a text, or in the string at a path of a document."""

    words: str
    start: int
    end: int
    path: str = ""

    @property
    def place(self) -> Span:
        return self.start, self.end


def find_orders(text: str) -> Iterator[Finding]:
    """Every suspected order to a model, also within the strings of a text that is JSON."""
    yield from find_guises(text)
    yield from find_spoken(spoken_in(text))


def find_guises(text: str, by: Judge | None = None) -> Iterator[Finding]:
    """Orders that forge a role, or are not there for a person to read."""
    for words, place in _strings(text):
        for rule, span in _guises(words, by or judge()):
            yield _finding(rule, place or span)


def spoken_in(text: str, path: str = "") -> Iterator[Sentence]:
    """The sentences of a text; those of a JSON text's strings stand where their string does."""
    for words, place in _strings(text):
        for start, end in sentences(words):
            yield Sentence(words[start:end], *(place or (start, end)), path)


def find_spoken(said: Iterable[Sentence]) -> Iterator[Finding]:
    """Orders in plain words: the sure ones, and the gravest sentence of what reads like one."""
    said = list(said)
    ideas = [ideas_of(sentence.words) for sentence in said]
    reading = Reading([sentence.words for sentence in said], ideas)
    for at, rule in _sure(said, ideas):
        yield _finding(rule, said[at].place, said[at].path)
    by = judge()
    for part in suspected(reading, [len(sentence.words) for sentence in said], by):
        places = range(*part.indices(len(said)))
        gravest = max(places, key=lambda at: suspicion(reading.of(slice(at, at + 1)), by))
        rule = deed_in(ideas[gravest], frozenset().union(*ideas[part]))
        yield _finding(rule, said[gravest].place, said[gravest].path)


def _sure(said: Sequence[Sentence], ideas: Sequence[Ideas]) -> Iterator[tuple[int, str]]:
    """The sentences that are orders whatever stands around them, and the rule that each breaks."""
    for at, here in enumerate(ideas):
        if len(here) < 2 or _is_discussed(ideas, at):
            continue
        if rule := order_in(said[at].words, here, _around(ideas, at, _REACH)):
            yield at, rule


def _around(ideas: Sequence[Ideas], at: int, reach: int) -> Ideas:
    return frozenset().union(*ideas[max(0, at - reach) : at + reach + 1])


def _is_discussed(ideas: Sequence[Ideas], at: int) -> bool:
    """Talk about orders is no order, unless it turns to the model and gives one."""
    if Concept.VOCATIVE in ideas[at]:
        return False
    return Concept.DISCUSSED in ideas[at] or Concept.ATTACK in _around(ideas, at, _HEARING)


def suspected(reading: Reading, lengths: Sequence[int], by: Judge) -> Iterator[slice]:
    """The passages that read like orders: the whole of a short text, or parts of any."""
    whole, characters = slice(0, len(lengths)), sum(lengths)
    enough = by.enough if characters >= SCRAP else by.enough_of_scrap
    if 0 < characters <= _WHOLE and suspicion(reading.of(whole), by) > enough:
        yield whole
        return
    parts = parts_of(lengths)
    while some := list(islice(parts, _AT_ONCE)):
        judged = suspicions([reading.of(part) for part in some], by)
        yield from (some[at] for at in np.flatnonzero(judged > by.enough_in_part))


def parts_of(lengths: Sequence[int]) -> Iterator[slice]:
    """Short runs of sentences, each beginning where the one before is half over."""
    ends = list(accumulate(lengths))
    first = 0
    while first < len(lengths):
        begin = ends[first] - lengths[first]
        last = first
        while last + 1 < len(lengths) and ends[last + 1] - begin <= _PART:
            last += 1
        yield slice(first, last + 1)
        if last + 1 == len(lengths):
            return
        middle = begin + (ends[last] - begin) // 2
        first = next(at for at in range(first + 1, last + 2) if ends[at - 1] >= middle)


def _strings(text: str) -> list[tuple[str, Span | None]]:
    """The strings of a JSON text and their places; a text of another kind as it is."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return [(text, None)]
        return [(json.loads(match[0]), match.span()) for match in _STRING.finditer(text)]
    return [(text, None)]


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def _guises(text: str, by: Judge) -> Iterator[tuple[str, Span]]:
    for span in forged_roles(text):
        yield "forged_roles", span
    for rule, passage, span in chain(hidden_passages(text), disguised_passages(text)):
        if passage is None or _is_order(passage, rule, by):
            yield rule, span


def _is_order(passage: str, rule: str, by: Judge) -> bool:
    """Whether words that were out of sight tell a model what to do: likely is enough."""
    said = [passage[start:end] for start, end in sentences(passage)]
    ideas = [ideas_of(sentence, hidden=True) for sentence in said]
    is_suspect = is_suspect_when_hidden if rule == "hidden_text" else is_suspect_in_code
    if any(map(is_suspect, ideas)):
        return True
    if len(passage.split()) < _FEWEST_WORDS:
        return False
    return suspicion(Reading(said, ideas).of(slice(None)), by) > _ENOUGH_OUT_OF_SIGHT


def _finding(rule: str, span: Span, path: str = "") -> Finding:
    return Finding("injection", rule, f"The text {MEANING[rule]}.", *span, path)
