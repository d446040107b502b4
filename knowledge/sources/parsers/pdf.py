"""PDF: the text of each page, with its number; pages without text are named for OCR."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import groupby
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from pypdfium2 import raw

from knowledge.errors import IngestFailed
from knowledge.sources.parsers.dispatch import Read
from knowledge.sources.parsers.draft import Draft, broken_file, one_line
from knowledge.sources.parsers.ooxml import Facts
from knowledge.sources.parsers.right_to_left import Glyph, has_right_to_left, read_line

MOST_PAGES = 5_000
LONGEST_LINE = 5_000
PASSWORD_NEEDED = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?)?")
_HYPHEN = re.compile(r"[\x02\ufffe\u00ad]\s*\n\s*")
_PROGRAM = re.compile(r"^(Microsoft \w+ - |untitled|.*\.(docx?|indd|pptx?|xlsx?|tex|pdf)$)", re.I)


def read(path: Path, filename: str) -> Read:
    document = open_pdf(path)
    count = len(document)
    if count > MOST_PAGES:
        raise IngestFailed(
            f"The PDF has {count:,} pages, and {MOST_PAGES:,} are read at most; split it.",
            reason="too_many_pages",
            pages=count,
            max_pages=MOST_PAGES,
        )
    draft = Draft()
    scanned = []
    for number, text, has_marks in _pages(document):
        draft.add(text, page=number)
        if has_marks and not text.strip():
            scanned.append(number)
    return Read(draft.finish(**_facts(document)), scanned)


def open_pdf(path: Path) -> Any:
    try:
        document = pdfium.PdfDocument(path)
        if len(document) < 1:
            raise broken_file("it has no pages")
        return document
    except pdfium.PdfiumError as error:
        if error.err_code in PASSWORD_NEEDED:
            raise IngestFailed(
                "The PDF is protected by a password; send it without one.", reason="encrypted"
            ) from None
        raise broken_file("it cannot be opened as a PDF") from None


def _pages(document: Any) -> Iterator[tuple[int, str, bool]]:
    """Number, text, and whether anything is on the page; a page that cannot be read is empty."""
    for index in range(len(document)):
        try:
            page = document[index]
        except pdfium.PdfiumError:
            continue
        words = page.get_textpage()
        yield index + 1, _join_hyphens(_text(words)), raw.FPDFPage_CountObjects(page) > 0
        words.close()
        page.close()


def _text(words: Any) -> str:
    """The text of a page; lines that are read to the left are put in order by their places."""
    text = str(words.get_text_range())
    if not has_right_to_left(text):
        return text
    return "\n".join(_line(words, places) for places in _lines(words))


def _lines(words: Any) -> Iterator[list[int]]:
    """The characters of each line; what stands beside the end of a line goes on with it."""
    line: list[int] = []
    low = high = 0.0
    is_ended = False
    for place in range(words.count_chars()):
        _, bottom, _, top = words.get_charbox(place)
        if _character(words, place) in "\r\n":
            is_ended = True
            continue
        shared = min(top, high) - max(bottom, low)
        if is_ended and shared <= 0.5 * min(top - bottom, high - low):
            yield line
            line, low, high = [], bottom, top
        elif top > bottom:
            low, high = (min(low, bottom), max(high, top)) if high > low else (bottom, top)
        is_ended = False
        line.append(place)
    yield line


def _line(words: Any, places: list[int]) -> str:
    text = "".join(_character(words, place) for place in places)
    if not has_right_to_left(text) or len(places) > LONGEST_LINE:
        return text
    return read_line(_glyphs(words, places))


def _glyphs(words: Any, places: list[int]) -> Iterator[Glyph]:
    """What stands where; what names no letter, or is drawn twice, is left out."""
    known = (place for place in places if raw.FPDFText_HasUnicodeMapError(words, place) != 1)
    seen = set()
    word = 0
    for box, same in groupby(known, key=lambda place: words.get_charbox(place, loose=True)):
        # Several letters of one glyph have been turned around by the library.
        text = "".join(reversed([_character(words, place) for place in same])).strip()
        word += not text
        if text and box not in seen:
            seen.add(box)
            left, bottom, right, top = box
            yield Glyph(left, right, top - bottom, text, word)


def _character(words: Any, place: int) -> str:
    return chr(raw.FPDFText_GetUnicode(words, place))


def _join_hyphens(text: str) -> str:
    """Words that were cut at the end of a line are whole again."""
    return _HYPHEN.sub("", text.replace("\r\n", "\n"))


def _facts(document: Any) -> Facts:
    told = document.get_metadata_dict()
    title = one_line(told.get("Title", ""))
    return Facts(
        title="" if _PROGRAM.match(title) else title,
        author=told.get("Author", ""),
        published_at=_moment(told.get("CreationDate", "")),
    )


def _moment(written: str) -> datetime | None:
    found = _DATE.match(written)
    if not found:
        return None
    year, month, day, hour, minute, second, sign, ahead, minutes = found.groups()
    offset = timedelta(hours=int(ahead or 0), minutes=int(minutes or 0))
    try:
        zone = timezone(-offset if sign == "-" else offset) if sign else UTC
        clock = (int(hour or 0), int(minute or 0), int(second or 0))
        return datetime(int(year), int(month or 1), int(day or 1), *clock, tzinfo=zone)
    except ValueError:
        return None
