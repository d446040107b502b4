"""What a text is made of: headings, paragraphs, speakers' turns, tables, code fences."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

HEADING_CHARS = 200
"""Headings are cut here, so that a text cannot grow by being repeated as context."""

LANGUAGE_CHARS = 30


class Block(NamedTuple):
    """A heading (with its level), a fence (titled by its language), a table (by its first row), or
    lines together."""

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""


def blocks(text: str) -> Iterator[Block]:
    """Every block in order; between them is nothing but blanks."""
    paragraph: list[Block] = []
    for line in _lines(text):
        if line.kind == "underline" and len(paragraph) == 1 and paragraph[0].kind != "item":
            yield _setext_heading(text, paragraph.pop(), line)
        elif line.kind in ("plain", "item", "underline"):
            paragraph.append(line)
        else:
            yield from _join_lines(paragraph)
            paragraph = [line] if line.kind == "turn" else []
            if line.kind in ("heading", "fence", "front", "table"):
                yield line
    yield from _join_lines(paragraph)


class Outline:
    """Knows which headings stand above any span."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        named = [block for block in blocks if block.title]
        self._headings = [block for block in named if block.level]
        self._opened = [block for block in named if block.kind in ("fence", "table")]
        self._depths: list[int] = []
        self._paths: list[tuple[str, ...]] = []
        trail: list[Block] = []
        for heading in self._headings:
            while trail and trail[-1].level >= heading.level:
                trail.pop()
            self._depths.append(len(trail))
            trail.append(heading)
            self._paths.append(tuple(above.title for above in trail))

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """The headings above the whole span, outermost first; those within it do not count."""
        first = bisect_right(self._headings, start, key=lambda heading: heading.end)
        last = bisect_left(self._headings, end, key=lambda heading: heading.start)
        path = self._paths[first - 1] if first else ()
        return path[: min(self._depths[first:last], default=len(path))]

    def opening_above(self, start: int) -> tuple[str, ...]:
        """How the fence or table opens that a span begins within: its language, its first row."""
        before = bisect_left(self._opened, start, key=lambda block: block.start)
        if not before or start >= self._opened[before - 1].end:
            return ()
        block = self._opened[before - 1]
        return (f"```{block.title}" if block.kind == "fence" else block.title,)


_NAME = r"(?:[^\W\d_a-z][\w.'\u2019-]{0,40}+|\d{1,3}|user|assistant|system|speaker)"
_CLOCK = r"[\[(]?\d{1,2}(?::\d\d){1,2}(?:\.\d+)?[\])]?"
_MARKER = r"(?:[-*+]|\d{1,9}[.)])[ \t]"
_LINE = re.compile(
    rf"""
      (?P<blank> \s*(?:\n|\Z))
    | (?P<fence> [ \t>]*+(?:{_MARKER}[ \t]*+)?(?P<ticks>`{{3,}}+(?=[^`\n]*$)|~{{3,}}+)
                [ \t]*+\{{?\.?(?P<language>[\w+\#.-]*+).*\n?)
    | (?P<heading> [ ]{{0,3}}(?P<hashes>\#{{1,6}})(?=\s|\Z)(?P<title>.*)\n?)
    | (?P<underline> [ ]{{0,3}}(?:(?P<double>={{2,}}+)|-{{2,}}+)[ \t\r]*+(?:\n|\Z))
    | (?P<turn> (?:\*\*|__)?(?:{_CLOCK}[ ])?{_NAME}(?:[ ]{_NAME}){{0,3}}(?:\*\*|__)?
                (?:[ ]{_CLOCK})?[:\uff1a](?:\*\*|__)?(?:[^\S\n].*)?(?:\n|\Z))
    | (?P<item> [ \t]*+(?:{_MARKER}|[|>\u2022]).*\n?)
    | (?P<plain> .*\n?)
    """,
    re.MULTILINE | re.VERBOSE,
)
_BAR_AHEAD = r"(?=[^\n|]*+\|)"
_NO_OTHER_BLOCK = r"(?![ ]{0,3}\#{1,6}\s|[ \t>]*(?:`{3}|~{3}))"
# A first row, the row of dashes below it, and every row with a bar that follows.
_TABLE = re.compile(
    rf"{_BAR_AHEAD}(?P<header>[^\n]*+)\n"
    rf"{_BAR_AHEAD}[ \t>]*+(?:\|?[ \t]*+:?-++:?[ \t]*+)++\|?[ \t\r]*+(?:\n|\Z)"
    rf"(?:{_NO_OTHER_BLOCK}{_BAR_AHEAD}[^\n]*+(?:\n|\Z))*+"
)
_CLOSING = re.compile(r"^[ \t>]*+(`{3,}+|~{3,}+)[ \t\r]*+(?:\n|\Z)", re.MULTILINE)
_FRONT_MATTER = re.compile(r"---[ \t\r]*\n(?:[^\n]+\n){1,100}?---[ \t\r]*(?:\n|\Z)")


def _lines(text: str) -> Iterator[Block]:
    """Each line with its kind; a whole fence counts as one line."""
    position = 0
    if front := _FRONT_MATTER.match(text):
        position = front.end()
        yield Block("front", 0, position)
    while position < len(text) and (line := _LINE.match(text, position)):
        start, position = position, line.end()
        if line.lastgroup in ("item", "plain") and (table := _TABLE.match(text, start)):
            position = table.end()
            yield Block("table", start, position, 0, _title(table["header"]))
            continue
        if line.lastgroup == "fence":
            position = _fence_end(text, position, line["ticks"])
        yield Block(line.lastgroup or "plain", start, position, *_heading(line))


def _heading(line: re.Match[str]) -> tuple[int, str]:
    if line.lastgroup == "heading":
        return len(line["hashes"]), _title(line["title"])
    if line.lastgroup == "underline":
        return 1 if line["double"] else 2, ""
    if line.lastgroup == "fence":
        return 0, line["language"][:LANGUAGE_CHARS]
    return 0, ""


def _title(line: str) -> str:
    title = line.strip()
    before, _, closing = title.rpartition(" ")
    if not closing.strip("#"):
        title = before.rstrip()
    return title[:HEADING_CHARS]


def _fence_end(text: str, position: int, ticks: str) -> int:
    """Where the fence closes: like Markdown itself, at the end of the text if nowhere else."""
    for closing in _CLOSING.finditer(text, position):
        if closing[1].startswith(ticks):
            return closing.end()
    return len(text)


def _setext_heading(text: str, title: Block, underline: Block) -> Block:
    name = _title(text[title.start : title.end])
    return Block("heading", title.start, underline.end, underline.level, name)


def _join_lines(lines: Sequence[Block]) -> Iterator[Block]:
    if lines:
        yield Block("paragraph", lines[0].start, lines[-1].end)
