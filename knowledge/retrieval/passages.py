"""The few sentences of a chunk that answer the query best, and which chunks say the same."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge.retrieval.word_matcher import Span, WordMatcher
from knowledge.text.sentences import sentence_spans

LONGEST = 560
"""A passage is as long as this only if the query's words lie so far apart."""
SHORT = 360
"""A text is shown whole up to here, and as much of one that has none of the words."""
LEAST = 200
"""Sentences around those with the words fill a passage up to here.

Of five such passages 10.5 % answer 472 questions, and hold 64.6 % of the answers; of 360 characters
around the best sentence it was 9.9 and 62.5. On 200 others, which did not choose this, 13.7 and
88.6, before 10.8 and 84.5.
"""
ALIKE = 0.8
"""The share of common word pairs from which two passages say the same thing."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A window of a chunk, and the spans in it that match the query."""

    text: str
    highlights: tuple[Span, ...]
    start: int
    """Where in its chunk the part begins that has most of the query's words."""
    span: Span
    """The window's characters in its chunk."""


WordPairs = set[tuple[str, str]]


def best_passage(
    text: str,
    matcher: WordMatcher,
    *,
    breaks: Sequence[int] = (),
    longest: int = LONGEST,
    least: int = LEAST,
) -> Passage:
    """The shortest window of whole sentences with most of the query's words.

    At each break another part of the source begins: a page, or what is said at some second.
    """
    short = min(longest, max(least, SHORT))
    start, end = 0, len(text)
    if end > short:
        start, end = _window(text, matcher, longest, least, short)
    shown = _with_ellipses(text, start, end)
    best = _best_part(text, start, end, breaks, matcher)
    return Passage(shown, tuple(matcher.find_all(shown)), best, _without_blanks(text, start, end))


def word_pairs(text: str) -> WordPairs:
    """The text's pairs of neighbouring words, by which it is compared with others."""
    words = _WORD.findall(text.lower())
    return set(pairwise(words))


def say_the_same(one: WordPairs, other: WordPairs) -> bool:
    """Whether two texts are near-duplicates: they share most of their pairs of words."""
    longer, shorter = max(len(one), len(other)), min(len(one), len(other))
    if shorter < ALIKE * longer:
        return False
    shared = len(one & other)
    return shared >= ALIKE * (longer + shorter - shared)


def _without_blanks(text: str, start: int, end: int) -> Span:
    window = text[start:end]
    first = start + len(window) - len(window.lstrip())
    return first, max(first, start + len(window.rstrip()))


def _with_ellipses(text: str, start: int, end: int) -> str:
    leading = "…" if text[:start].strip() else ""
    trailing = "…" if text[end:].strip() else ""
    return f"{leading}{text[start:end].strip()}{trailing}"


def _best_part(text: str, start: int, end: int, breaks: Sequence[int], matcher: WordMatcher) -> int:
    """Where the part of the window begins that has most of the query's words."""
    inside = [place for place in breaks if start < place < end]
    if not inside:
        return start
    edges = [start, *inside, end]
    parts = [(one - start, other - start) for one, other in pairwise(edges)]
    return start + parts[_richest(text[start:end], parts, matcher)][0]


def _window(text: str, matcher: WordMatcher, longest: int, least: int, short: int) -> Span:
    sentences = sentence_spans(text)
    said = _words_said(text, sentences, matcher)
    if any(said):
        (first, last), filled = _richest_run(sentences, said, longest), least
    else:
        first, last, filled = 0, 0, short
    while True:
        start, end = sentences[first][0], sentences[last][1]
        if last + 1 < len(sentences) and sentences[last + 1][1] - start <= filled:
            last += 1
        elif first and end - sentences[first - 1][0] <= filled:
            first -= 1
        else:
            return _cut(text, start, end, longest, matcher)


def _richest_run(sentences: Sequence[Span], said: Sequence[set[str]], longest: int) -> Span:
    """The first and last of the shortest run with most of the words that is not too long."""
    first, best, run = 0, (-1, 0), (0, 0)
    last_said: dict[str, int] = {}
    for last, (_, end) in enumerate(sentences):
        if not said[last]:
            continue  # a run that ends here is longer and says no more
        last_said |= dict.fromkeys(said[last], last)
        while first < last and (
            end - sentences[first][0] > longest
            or all(last_said[word] > first for word in said[first])
        ):
            first += 1
        found = sum(at >= first for at in last_said.values()), sentences[first][0] - end
        if found > best:
            best, run = found, (first, last)
    return run


def _richest(text: str, spans: Sequence[Span], matcher: WordMatcher) -> int:
    """The first of the spans that have most of the query's words."""
    said = _words_said(text, spans, matcher)
    return max(range(len(spans)), key=lambda n: len(said[n]))


def _words_said(text: str, spans: Sequence[Span], matcher: WordMatcher) -> list[set[str]]:
    """Which of the query's words each of the spans has, which follow one another."""
    said: list[set[str]] = [set() for _ in spans]
    place = 0
    for start, end in matcher.find_all(text):
        while start >= spans[place][1]:
            place += 1
        said[place].add(text[start:end].lower()[:5])
    return said


def _cut(text: str, start: int, end: int, longest: int, matcher: WordMatcher) -> Span:
    """The window, cut around its first match when one sentence is longer than all of it."""
    if end - start > longest:
        found = next(matcher.find_all(text, start, end), None)
        if found and found[1] > start + longest:
            start = text.rfind(" ", 0, found[0] - longest // 3) + 1
        stop = text.rfind(" ", start + 1, start + longest)
        end = stop if stop > start else start + longest
    return start, end
