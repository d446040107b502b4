"""Cut a text into pieces along its own structure, so that each can be found and cited alone."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import ceil
from operator import attrgetter
from typing import NamedTuple
from unicodedata import category, combining

from knowledge.text.outline import Block, Outline, blocks
from knowledge.text.token_estimate import TokenRuler

TARGET_TOKENS = 280
"""Pieces are filled up to here, which makes them about 220 long.

Measured on 472 questions with known answers: eight hits of 280 hold 94 % of the answers, of 200
only 92 %, of 130 only 86 %; larger ones find no more for the same number of characters.
"""

MAX_TOKENS = 360
"""What stays whole, such as a long sentence, may reach this: 3,600 characters at most."""

FENCE_TOKENS = 1_500
"""A code fence stays whole up to here.

One beyond 512 tokens gets the mean of its parts' vectors from a model that reads no more at once.
"""

CONTEXT_TOKENS = 64
"""What a title and headings may add to a piece; both together fit a model that reads 512."""

TINY_TOKENS = 50
"""A section smaller than this joins its neighbour."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One span of a text, equal to `text[start:end]`, and the headings that stand above it."""

    start: int
    end: int
    text: str
    heading_path: tuple[str, ...]

    def indexed_text(self, title: str = "") -> str:
        return indexed_text(self.text, title, self.heading_path)


def indexed_text(text: str, title: str, heading_path: tuple[str, ...]) -> str:
    """A piece below its title and headings, as both search indexes read it."""
    context = _context(title, heading_path)
    return f"{context}\n\n{text}" if context else text


def chunk(
    text: str,
    *,
    target_tokens: int = TARGET_TOKENS,
    max_tokens: int = MAX_TOKENS,
    fence_tokens: int = FENCE_TOKENS,
) -> list[Piece]:
    """Cut so that every non-blank character is in exactly one piece, in order."""
    cutter = _Cutter(text, min(target_tokens, max_tokens), max_tokens, fence_tokens)
    parts = list(blocks(text))
    outline = Outline(parts)
    pieces = []
    for stretch in cutter.stretches(parts):
        for start, end in cutter.spans(stretch):
            if kept := text[start:end].strip():
                start = text.index(kept[0], start)
                end = start + len(kept)
                path = outline.path(start, end) + outline.opening_above(start)
                pieces.append(Piece(start, end, kept, path))
    return pieces


@lru_cache(maxsize=1024)  # the pieces of a text share most of theirs
def _context(title: str, heading_path: tuple[str, ...]) -> str:
    parts = (" ".join(part.split()) for part in (title, *heading_path))
    context = " > ".join(dict.fromkeys(part for part in parts if part))
    return context[: TokenRuler(context).reach(0, CONTEXT_TOKENS)].rstrip()


class _Strength(IntEnum):
    """How good a place is to cut at."""

    WRAP, SENTENCE, ITEM, BLOCK, SECTION = range(5)


_STRENGTHS = dict(_Strength.__members__)  # an enumeration's own look-up is slower


class _Break(NamedTuple):
    offset: int
    strength: _Strength
    follows_fence: bool = False
    """Whether a fence that stays whole ends here."""


_PROSE_BREAK = re.compile(
    r"""
      (?P<SENTENCE> [.!?\u2026]["'\u201d\u2019\xbb)\]*_]*+(?=\s)
                  | [\u3002\uff01\uff1f\uff0e]["'\u201d\u2019\u300d\u300f\uff09\]]*+)
    | (?P<ITEM> \n[ \t]*+(?=[-*+|>\u2022]|\d{1,9}[.)]))
    | (?P<WRAP> \n)
    """,
    re.VERBOSE,
)
_LINE_BREAK = re.compile(r"(?P<ITEM>\n(?=\S|\n|\r\n))|(?P<WRAP>\n)")


class _Cutter:
    """Finds where to cut one text so that pieces are near the target and hold together."""

    def __init__(self, text: str, target: float, limit: float, fence_limit: float) -> None:
        self._text = text
        self._target = target
        self._limit = limit
        self._fence_limit = fence_limit
        self._ruler = TokenRuler(text)

    def stretches(self, parts: Iterable[Block]) -> Iterator[list[Block]]:
        """Sections, where small ones have joined their neighbours."""
        stretch: list[Block] = []
        for section in _sections(parts):
            if stretch and not self._belong_together(stretch, section):
                yield stretch
                stretch = []
            stretch += section
        if stretch:
            yield stretch

    def spans(self, stretch: Sequence[Block]) -> Iterator[tuple[int, int]]:
        """The stretch whole if it fits, else cut at its best places into even parts."""
        start, end = stretch[0].start, stretch[-1].end
        breaks = list(self._breaks(stretch)) if self._is_over(self._target, start, end) else []
        breaks.append(_Break(end, _Strength.SECTION, self._stays_whole(stretch[-1])))
        while start < end:
            cut = self._next_cut(start, breaks)
            yield start, cut
            start = cut

    def _is_over(self, tokens: float, start: int, end: int) -> bool:
        return self._ruler.is_over(tokens, start, end)

    def _belong_together(self, stretch: Sequence[Block], section: Sequence[Block]) -> bool:
        """Both fit in one piece, and one is below the other's heading or too small to stand."""
        before = self._ruler.between(stretch[0].start, stretch[-1].end)
        after = self._ruler.between(section[0].start, section[-1].end)
        if before + after > self._target:
            return False
        return section[0].level > stretch[0].level or min(before, after) < TINY_TOKENS

    def _breaks(self, stretch: Sequence[Block]) -> Iterator[_Break]:
        """Between blocks, but not below a heading; within a block only if it is too large."""
        may_cut = follows_fence = False
        for block in stretch:
            if may_cut:
                strength = _Strength.SECTION if block.level else _Strength.BLOCK
                yield _Break(block.start, strength, follows_fence)
            may_cut, follows_fence = not block.level, self._stays_whole(block)
            if not follows_fence and self._is_over(self._target, block.start, block.end):
                pattern = _LINE_BREAK if block.kind in ("fence", "table") else _PROSE_BREAK
                yield from self._inner_breaks(block, pattern)

    def _stays_whole(self, block: Block) -> bool:
        """Whether it is a fence that is not too long; one that never closes may hold anything."""
        return (
            block.kind == "fence"
            and not self._is_over(self._fence_limit, block.start, block.end)
            and self._text[block.start : block.end].rstrip().endswith(("```", "~~~"))
        )

    def _inner_breaks(self, block: Block, pattern: re.Pattern[str]) -> Iterator[_Break]:
        for found in pattern.finditer(self._text, block.start, block.end):
            yield _Break(found.end(), _STRENGTHS[found.lastgroup or "WRAP"])

    def _next_cut(self, start: int, breaks: Sequence[_Break]) -> int:
        if not self._is_over(self._target, start, breaks[-1].offset):
            return breaks[-1].offset
        rest = self._ruler.between(start, breaks[-1].offset)
        goal = rest / ceil(rest / self._target)
        half, whole = self._ruler.reach(start, goal / 2), self._ruler.reach(start, goal)
        full = self._ruler.reach(start, self._target)
        low, high = bisect_right(breaks, half, key=_offset), bisect_right(breaks, full, key=_offset)
        if low < high:
            best = max(breaks[low:high], key=lambda at: (at.strength, -abs(at.offset - whole)))
            return best.offset
        after, before = breaks[high], breaks[high - 1].offset if high else start
        if after.offset <= self._ruler.reach(start, self._limit):
            return after.offset
        if after.follows_fence and not self._is_over(TINY_TOKENS, start, max(start, before)):
            return after.offset  # the fence, and no more above it than a line that introduces it
        if before > start:
            return before
        return _word_end(self._text, start, max(full, start + 1))


_offset = attrgetter("offset")


def _sections(parts: Iterable[Block]) -> Iterator[list[Block]]:
    """Headings, each with what follows it; a heading followed by another keeps to that one."""
    section: list[Block] = []
    for block in parts:
        if block.level and section and not section[-1].level:
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _word_end(text: str, start: int, end: int) -> int:
    """The last blank in the second half of the span, or else the last whole character in it."""
    for at in range(end, start + (end - start) // 2, -1):
        if text[at - 1].isspace():
            return at
    for at in range(end, max(start, end - _CLUSTER_CHARS), -1):
        if not _continues(text[at - 1 : at + 1]):
            return at
    return end


_CLUSTER_CHARS = 64
_JOINER = "\u200d"
_VIRAMA = 9


def _continues(pair: str) -> bool:
    """Whether two characters are one to a reader: accents, conjuncts, emoji, surrogates."""
    first, second = pair[:1], pair[1:]
    return bool(second) and (
        category(second).startswith("M")
        or _JOINER in pair
        or combining(first) == _VIRAMA
        or "\U0001f3fb" <= second <= "\U0001f3ff"
        or ("\ud800" <= first <= "\udbff" and "\udc00" <= second <= "\udfff")
    )
