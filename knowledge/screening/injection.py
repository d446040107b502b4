"""Finds orders to a model in a text, in plain words and in one round of encoding."""

from collections.abc import Iterable, Iterator

import numpy as np

from knowledge.screening.findings import Finding, Span, without_overlaps
from knowledge.screening.judging import (
    SCRAP,
    WHOLE,
    Judge,
    Passages,
    Reading,
    judge,
    read,
    suspicions,
)
from knowledge.screening.normalising import Decoded

INJECTION_RULES = ("suspected_order", "encoded_order")
MOST_FINDINGS = 20
"""A text with so many suspected passages is suspected enough."""
SENTENCE = 1.0
"""How much more a sentence must read like an order that is suspected without those around it."""


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
    yield from _suspected(reading, passages, enough, by)
    each = np.arange(len(reading.spans))
    yield from _suspected(reading, Passages(each, each + 1), by.enough_of_scrap + SENTENCE, by)


def _suspected(reading: Reading, passages: Passages, enough: float, by: Judge) -> Iterator[Span]:
    found = suspicions(reading, passages, by)
    enough += by.per_doubling * float(np.log2(len(found)))
    ranked = np.argsort(-found, kind="stable")[:MOST_FINDINGS]
    for at in ranked[found[ranked] > enough].tolist():
        yield _worst_sentence(reading, int(passages.first[at]), int(passages.after[at]), by)


def _worst_sentence(reading: Reading, first: int, after: int, by: Judge) -> Span:
    each = np.arange(first, after)
    worst = first + int(np.argmax(suspicions(reading, Passages(each, each + 1), by)))
    return reading.spans[worst]
