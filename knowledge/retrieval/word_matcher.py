"""Where a text says a query's words, in any of their forms."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

Span = tuple[int, int]

_REST_OF_WORD = re.compile(r"\w*")
_SPECIAL_CASE = "\u0130\u0131\u017f"
"""Letters that a pattern without regard to case takes for i or s, but that have other lowercase."""


class _Word(NamedTuple):
    """A query's word, or how its forms begin: most forms differ in their last letters only."""

    said: str
    has_forms: bool
    is_whole: bool
    """Whether it must not go on as a longer word."""

    @property
    def pattern(self) -> str:
        ending = r"\w*" if self.has_forms else r"\b" if self.is_whole else ""
        return re.escape(self.said) + ending


class WordMatcher:
    """Finds any form of the words; where two begin at one place, the longer one is found.

    Texts are searched for each word by itself: to make one pattern of a question's words takes
    longer than all else that is done with them, and it is tried at every character. Only words that
    are not ASCII need it, for what their other case is.
    """

    def __init__(self, words: Sequence[str]) -> None:
        found = {_read(word) for word in words if word}
        self._words = sorted(found, key=lambda word: (-len(word.pattern), -len(word.said), word))
        self._is_ascii = all(word.said.isascii() for word in self._words)

    def find_all(self, text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
        """The characters of each, in order; none overlaps another."""
        if not self._words:
            return iter(())
        stop = len(text) if end is None else min(end, len(text))
        if not self._is_ascii or any(letter in text for letter in _SPECIAL_CASE):
            matches = self._pattern.finditer(text, start, stop)
            return (match.span() for match in matches)
        return self._find_longest(text, start, stop)

    def _find_longest(self, text: str, start: int, stop: int) -> Iterator[Span]:
        last = start
        for at, number in sorted(self._find_each(text, start, stop)):
            if at >= last:
                word = self._words[number]
                last = at + len(word.said)
                if word.has_forms:
                    last = _end_of_word(text, last, stop)
                yield at, last

    def _find_each(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Where a form of each word begins, and which word it is."""
        lower = text.lower()
        for number, (said, _, is_whole) in enumerate(self._words):
            at = lower.find(said, start, stop)
            while at >= 0:
                end = at + len(said)
                is_inside = at and text[at - 1].isalnum()
                goes_on = is_whole and end < stop and _is_of_word(text[end])
                if not (is_inside or goes_on):
                    yield at, number
                at = lower.find(said, at + 1, stop)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        either = "|".join(word.pattern for word in self._words)
        return re.compile(rf"(?<![^\W_])(?:{either})", re.IGNORECASE)


def _read(word: str) -> _Word:
    has_forms = len(word) > 4 and word.isalpha() and word.isascii()
    said = word[: max(4, len(word) - 3)] if has_forms else word
    is_whole = not has_forms and word[-1:].isalnum() and word.isascii()
    return _Word(said.lower() if word.isascii() else said, has_forms, is_whole)


def _is_of_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _end_of_word(text: str, start: int, stop: int) -> int:
    match = _REST_OF_WORD.match(text, start, stop)
    return match.end() if match else start
