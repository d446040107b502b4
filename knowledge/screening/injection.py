"""Finds orders to a model in a text, in plain words and in one round of encoding."""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from knowledge.screening.findings import Finding, Span, without_overlaps
from knowledge.screening.judging import (
    SCRAP,
    WHOLE,
    Floats,
    Judge,
    Passages,
    Reading,
    judge,
    read,
    suspicions,
)
from knowledge.screening.normalising import Decoded, normalise

_WORD = re.compile(r"\w+")

INJECTION_RULES = ("suspected_order", "encoded_order")
MOST_FINDINGS = 20
"""A text with so many suspected passages is suspected enough."""
SENTENCE = 1.0
"""How much more a sentence must read like an order that is suspected without those around it."""
MOST_DOUBLINGS = 5
"""From 32 sentences on no more is asked of each: a plain order is found in any long text."""
FEW_CHARACTERS, MORE = 60, 0.9
"""A text of fewer characters, such as a list of names, must read that much more like an order."""
FEW_WORDS, REPEATED = 10, 5
"""A passage of fewer distinct words, each said so often on average, says nothing."""


def find_injections(text: str, decoded: Iterable[Decoded]) -> tuple[Finding, ...]:
    """Every passage that reads like an order to a model, by the sentence that does so most."""
    return without_overlaps((*_encoded(decoded), *_plain(text)))


def _plain(text: str) -> Iterator[Finding]:
    for span in suspected_spans(text, judge()):
        yield Finding("injection", "suspected_order", "This reads like an order to a model.", *span)


def _encoded(decoded: Iterable[Decoded]) -> Iterator[Finding]:
    for said, start, end in decoded:
        if any(suspected_spans(said, judge())):
            what = "This is encoded, and decoded it reads like an order to a model."
            yield Finding("injection", "encoded_order", what, start, end)


def suspected_spans(text: str, by: Judge) -> Iterator[Span]:
    """Where the suspected passages stand, the most suspected first."""
    if not text.strip():
        return
    reading = read(text)
    passages = reading.passages(is_short=len(text) <= WHOLE)
    enough = by.enough if len(text) >= SCRAP else by.enough_of_scrap
    enough += MORE if len(text) < FEW_CHARACTERS else 0
    doublings = float(np.log2(len(passages.first)))
    sentences = np.arange(len(reading.spans))
    alone = Passages(sentences, sentences + 1)
    both = Passages(*map(np.concatenate, zip(passages, alone, strict=True)))
    found = suspicions(reading, both, by)  # in one go, as each costs more than what it reads
    at = len(passages.first)
    for first, after in (
        *_suspected(passages, found[:at], enough + by.per_doubling * doublings),
        *_suspected(alone, found[at:], _enough_alone(reading, by)),
    ):
        if _says_something(text[reading.spans[first][0] : reading.spans[after - 1][1]]):
            yield _worst_sentence(reading, first, after, by)


def _enough_alone(reading: Reading, by: Judge) -> float:
    doublings = min(float(np.log2(len(reading.spans))), MOST_DOUBLINGS)
    return by.enough_of_scrap + SENTENCE + by.per_doubling * doublings


def _suspected(passages: Passages, found: Floats, enough: float) -> Iterator[tuple[int, int]]:
    """The first sentence of each passage that is suspected, and the one after its last."""
    ranked = np.argsort(-found, kind="stable")[:MOST_FINDINGS]
    for at in ranked[found[ranked] > enough].tolist():
        yield int(passages.first[at]), int(passages.after[at])


def _says_something(passage: str) -> bool:
    words = _WORD.findall(normalise(passage))
    distinct = len(set(words))
    return distinct >= FEW_WORDS or len(words) < REPEATED * distinct


def _worst_sentence(reading: Reading, first: int, after: int, by: Judge) -> Span:
    each = np.arange(first, after)
    worst = first + int(np.argmax(suspicions(reading, Passages(each, each + 1), by)))
    return reading.spans[worst]
