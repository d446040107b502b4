"""The sentences of an answer, each with what it cites; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge.providers.protocols import AnswerPart, Citation
from knowledge.text.sentences import sentence_spans

_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence that stands on at least one passage."""

    text: str
    citations: tuple[Citation, ...]


def cited_paragraphs(parts: Sequence[AnswerPart]) -> tuple[list[list[CitedSentence]], int]:
    """The answer by paragraphs, without the sentences that cite nothing, and how many those are.

    A model cites by pieces of text which begin and end anywhere, so a sentence has the citations
    of every piece that has some of its words.
    """
    text = "".join(part.text for part in parts)
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part.text))
    pieces = list(zip(pairwise(ends), parts, strict=True))
    paragraphs, dropped = [], 0
    for start, end in _paragraph_spans(text):
        sentences = [
            CitedSentence(text[a:b].strip(), _citations_within(a, b, text, pieces))
            for a, b in ((start + a, start + b) for a, b in sentence_spans(text[start:end]))
            if text[a:b].strip()
        ]
        kept = [sentence for sentence in sentences if sentence.citations]
        dropped += len(sentences) - len(kept)
        if kept:
            paragraphs.append(kept)
    return paragraphs, dropped


def _paragraph_spans(text: str) -> list[tuple[int, int]]:
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    return list(pairwise([0, *breaks, len(text)]))


def _citations_within(
    start: int, end: int, text: str, pieces: Sequence[tuple[tuple[int, int], AnswerPart]]
) -> tuple[Citation, ...]:
    found = (
        citation
        for (first, last), part in pieces
        if text[max(start, first) : min(end, last)].strip()
        for citation in part.citations
    )
    return tuple(dict.fromkeys(found))
