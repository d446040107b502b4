"""What a source gives: a text with its places, or a recording that must be transcribed first."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

MAX_STORED_TEXT = 2_000_000
"""Characters of the text of any one source; a text that is sent in a call may have fewer."""
MAX_PAGE_URL = 2_000
"""Characters of the address of a page that is crawled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A span of the text, `text[start:end]`, and where it stands in its source."""

    start: int
    end: int
    page: int | None = None
    start_sec: float | None = None
    end_sec: float | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A text that was read from a source. Empty fields are what the source does not tell."""

    text: str
    title: str = ""
    author: str = ""
    language: str = ""
    published_at: datetime | None = None
    duration_sec: float | None = None
    parts: tuple[Part, ...] = ()
    """In order and without overlap; empty when characters are the only places there are."""

    @property
    def locators(self) -> list[dict[str, Any]]:
        """The places of its parts, as a content keeps them."""
        return [
            {name: value for name, value in asdict(part).items() if value not in (None, "")}
            for part in self.parts
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Speech that nobody has written down yet, to be fetched from `media_url`."""

    media_url: str
    title: str = ""
    author: str = ""
    language: str = ""
    published_at: datetime | None = None
    duration_sec: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedLink:
    """What a link led to, and the keys by which it is known again."""

    kind: str
    """webpage, youtube, podcast, audio, video, pdf, image, office, markdown or text."""
    key: str
    """The canonical key of the address that really answered."""
    url: str = ""
    """The address that people open; without what only tells who sent them there."""
    rung: str = ""
    """How a transcript was come by: publisher or captions; empty when there is none."""
    found: Extracted | Recording
    media_url: str = ""
    """Where a recording can be heard, also when its transcript was there already."""
    is_lasting: bool = True
    """Whether the link leads to the same thing next time; a feed leads to its newest episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One utterance of a transcript."""

    start_sec: float
    end_sec: float
    text: str
    speaker: str = ""


def join_segments(segments: list[Segment]) -> tuple[str, tuple[Part, ...]]:
    """A transcript as one text, with the seconds of each utterance.

    A new speaker, a pause or a long run of sentences begins a paragraph.
    """
    text = ""
    parts: list[Part] = []
    begun = 0
    last: Segment | None = None
    for segment in segments:
        words = " ".join(segment.text.split())
        if not words:
            continue
        if last is not None:
            begins = _begins_paragraph(last, segment, len(text) - begun)
            text += "\n\n" if begins else " "
            begun = len(text) if begins else begun
        if segment.speaker and (last is None or last.speaker != segment.speaker):
            text += f"{segment.speaker}: "
        start = len(text)
        text += words
        parts.append(
            Part(
                start=start,
                end=len(text),
                start_sec=segment.start_sec,
                end_sec=segment.end_sec,
                speaker=segment.speaker,
            )
        )
        last = segment
    return text, tuple(parts)


def _begins_paragraph(last: Segment, segment: Segment, length: int) -> bool:
    if last.speaker != segment.speaker or segment.start_sec - last.end_sec > 2:
        return True
    return length > 500 and last.text.rstrip().endswith((".", "?", "!", "。", "？", "！"))
