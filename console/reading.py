"""A text as the reader shows it: in parts of a few screens, each as its source is made."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from console.markdown import render_markdown
from knowledge.models import Content

LONGEST_PART = 18_000
PLAIN_KINDS = ("pdf", "image")
"""Their lines are as they were printed, and no Markdown."""
_BREAK = re.compile(r"^[ \t]*(?:```|~~~)|\n[ \t]*\n(?=\S)", re.MULTILINE)
_PARAGRAPH = re.compile(r"\S(?:.|\n(?![ \t]*\n))*")

_WRAPPED = re.compile(r"\n(?=[^\W\d_])(?![A-Z])")
"""The end of a printed line within a sentence: the next line begins with a small letter."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Characters that are shown together, marked or not."""

    text: str
    is_marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One utterance, and its place in text and time."""

    text: str
    start: int
    end: int
    second: float
    is_marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Utterances that stand in one paragraph."""

    second: float
    speaker: str
    said: list[Said]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A page or slide, or the whole part where there are none."""

    page: int | None
    html: SafeString | None = None
    paragraphs: list[tuple[Span, list[Run]]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some screens of a text."""

    number: int
    count: int
    start: int
    end: int
    sections: list[Section]
    turns: list[Turn]
    marked: Span | None = None

    @property
    def before(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def after(self) -> int | None:
        return self.number + 1 if self.number < self.count else None


class Reading:
    """One content, cut into parts."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.text = content.text
        self.locators: list[dict[str, Any]] = content.locators
        self.is_transcript = any(each.get("start_sec") is not None for each in self.locators)
        self.has_pages = any(each.get("page") is not None for each in self.locators)
        self.starts = self._starts()

    def _starts(self) -> list[int]:
        """Where each part begins."""
        if self.has_pages and not self.is_transcript:
            breaks = [each["start"] for each in self.locators[1:]]
        else:
            breaks = list(_breaks(self.text))
        starts = [0]
        for place in breaks:
            if place - starts[-1] >= LONGEST_PART:
                starts.append(place)
        return starts

    def part(self, number: int, *, marked: Span | None = None) -> Part:
        """The part of this number, or the nearest there is."""
        number = min(max(number, 1), len(self.starts))
        start, end = self.span_of(number)
        return Part(
            number=number,
            count=len(self.starts),
            start=start,
            end=end,
            sections=[] if self.is_transcript else list(self._sections(start, end, marked)),
            turns=list(self._turns(start, end, marked)) if self.is_transcript else [],
            marked=marked,
        )

    def span_of(self, number: int) -> Span:
        ends = [*self.starts[1:], len(self.text)]
        return self.starts[number - 1], ends[number - 1]

    def number_at(self, character: int) -> int:
        """The part that has this character of the text."""
        return max(1, bisect_right(self.starts, character))

    @property
    def index(self) -> list[dict[str, Any]]:
        """Where each part begins, in characters, pages and seconds, for links within the page."""
        firsts = []
        for start in self.starts:
            at = bisect_right(self.locators, start, key=lambda each: each["start"]) - 1
            located = self.locators[max(at, 0)] if self.locators else {}
            firsts.append({"c": start, "page": located.get("page"), "t": located.get("start_sec")})
        return firsts

    def _sections(self, start: int, end: int, marked: Span | None) -> Iterator[Section]:
        within = [each for each in self.locators if each["end"] > start and each["start"] < end]
        if not within:
            yield self._section(None, start, end, marked)
        for each in within:
            first, last = max(start, each["start"]), min(end, each["end"])
            yield self._section(each.get("page"), first, last, marked)

    def _section(self, page: int | None, start: int, end: int, marked: Span | None) -> Section:
        if self.content.kind in PLAIN_KINDS:
            found = list(_paragraphs(self.text, start, end, marked))
            return Section(page=page, paragraphs=found)
        html = render_markdown(
            self.text[start:end], offset=start, base_url=self.content.url, marked=marked
        )
        return Section(page=page, html=html)

    def _turns(self, start: int, end: int, marked: Span | None) -> Iterator[Turn]:
        turn: Turn | None = None
        last_end = start
        for each in self.locators:
            if each["start"] < start or each["start"] >= end:
                continue
            begins = turn is None or "\n\n" in self.text[last_end : each["start"]]
            if turn is None or begins:
                if turn is not None:
                    yield turn
                speaker = each.get("speaker", "")
                turn = Turn(second=each.get("start_sec") or 0.0, speaker=speaker, said=[])
            turn.said.append(
                Said(
                    text=self.text[each["start"] : each["end"]],
                    start=each["start"],
                    end=each["end"],
                    second=each.get("start_sec") or 0.0,
                    is_marked=_overlaps(marked, each["start"], each["end"]),
                )
            )
            last_end = each["end"]
        if turn is not None:
            yield turn


def _breaks(text: str) -> Iterator[int]:
    """Where a text may be cut: between paragraphs, and within code only if it is very long."""
    in_code = False
    last = 0
    for found in _BREAK.finditer(text):
        if found[0].strip():
            in_code = not in_code
        elif not in_code or found.end() - last > 2 * LONGEST_PART:
            yield (last := found.end())
    while len(text) - last > 3 * LONGEST_PART:  # one endless paragraph
        last = (text.find("\n", last + LONGEST_PART) + 1) or last + LONGEST_PART
        yield last


def _paragraphs(
    text: str, start: int, end: int, marked: Span | None
) -> Iterator[tuple[Span, list[Run]]]:
    printed = _WRAPPED.sub(" ", text[start:end])  # of the same length
    shift = None if marked is None else (marked[0] - start, marked[1] - start)
    for found in _PARAGRAPH.finditer(printed):
        first, last = found.span()
        yield (start + first, start + last), list(_runs(printed, first, last, shift))


def _runs(text: str, start: int, end: int, marked: Span | None) -> Iterator[Run]:
    if not _overlaps(marked, start, end) or marked is None:
        yield Run(text=text[start:end], is_marked=False)
        return
    first, last = max(start, marked[0]), min(end, marked[1])
    for one, other, is_marked in ((start, first, False), (first, last, True), (last, end, False)):
        if one < other:
            yield Run(text=text[one:other], is_marked=is_marked)


def _overlaps(marked: Span | None, start: int, end: int) -> bool:
    return marked is not None and marked[0] < end and start < marked[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A place in the text that has the words looked for."""

    before: str
    words: str
    after: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The places with some words, and the one that the page shows."""

    places: Sequence[Occurrence]
    at: int | None
    """The index of the shown place; none before the first step."""

    @property
    def number(self) -> int:
        return 0 if self.at is None else self.at + 1

    @property
    def before(self) -> Occurrence:
        return self.places[(self.number - 2 if self.number else -1) % len(self.places)]

    @property
    def after(self) -> Occurrence:
        return self.places[self.number % len(self.places)]


MOST_FOUND = 500
_AROUND = 60


def occurrences_at(text: str, words: str, shown: Span | None) -> Occurrences:
    """Where the words are, and which of these places is marked."""
    places = find_in_text(text, words)
    spans = [place.span for place in places]
    return Occurrences(places, spans.index(shown) if shown in spans else None)


def find_in_text(text: str, words: str) -> Sequence[Occurrence]:
    """Every place of the text with these words, in any case; the first few hundred."""
    words = " ".join(words.split())[:200]
    if not words:
        return []
    # Between two words there may be signs of Markdown, which nobody sees in the reader.
    pattern = re.compile(r"[\s*_~`]+".join(map(re.escape, words.split())), re.IGNORECASE)
    found = []
    for match in pattern.finditer(text):
        start, end = match.span()
        found.append(
            Occurrence(
                before=text[max(0, start - _AROUND) : start],
                words=match[0],
                after=text[end : end + _AROUND],
                start=start,
                end=end,
            )
        )
        if len(found) == MOST_FOUND:
            break
    return found
