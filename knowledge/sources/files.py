"""Files of every kind that is read, into one shape; the bytes are only opened in a child."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.sources.child import ENVIRONMENT, run_in_child
from knowledge.sources.extracted import MAX_STORED_TEXT, Extracted
from knowledge.sources.parsers import ocr
from knowledge.sources.parsers.dispatch import READERS, Read, from_json, read
from knowledge.sources.parsers.draft import Draft, too_long
from knowledge.sources.sniffing import (
    ALLOWED,
    HEAD,
    check_announcement,
    check_declared,
    check_media_type,
    kind_of,
    sniff,
)
from knowledge.sources.webpage import read_page

__all__ = [
    "ALLOWED",
    "HEAD",
    "check_announcement",
    "check_declared",
    "kind_of",
    "ocr_engine",
    "read_file",
    "sniff",
]

SECONDS = 60
MEGABYTES = 1_024
LONGEST_PAGE = 20_000_000
OCR_MEGABYTES = 2_048
OCR_PAGES = 300
OCR_BATCH = 8
OCR_SECONDS_A_PAGE = 60
OCR_SECONDS = 3_600
READING = f"{read.__module__}:{read.__name__}"
OCR = f"{ocr.__name__}:{ocr.read_pages.__name__}"


def read_file(
    path: Path,
    *,
    media_type: str,
    filename: str,
    progress: Callable[[float], None] = lambda share: None,
) -> Extracted:
    """The text of a document with its places; the share of its scanned pages read is told.

    Sound and moving pictures have no text to read: they are transcribed.
    """
    media_type = check_media_type(media_type)
    if not path.stat().st_size:
        raise IngestFailed("The file is empty; send one with content.", reason="empty")
    if kind_of(media_type) == "webpage":
        return _page(path)
    if media_type not in READERS:
        raise UnsupportedMedia(f"{media_type} is transcribed, not read.", media_type=media_type)
    request = {"path": str(path.resolve()), "media_type": media_type, "filename": filename}
    answer = from_json(run_in_child(READING, request, seconds=SECONDS, megabytes=MEGABYTES))
    found = _with_scanned(answer, request, progress) if answer.scanned else answer.found
    if not found.text.strip():
        raise IngestFailed(
            "There is no text in this file; send one that has some.", reason="not_extractable"
        )
    return found


def ocr_engine() -> str:
    """rapidocr, tesseract, or empty: what reads scanned pages and pictures here."""
    return ocr.engine(ENVIRONMENT["PATH"])


def _page(path: Path) -> Extracted:
    if path.stat().st_size > LONGEST_PAGE:
        raise too_long()
    found = read_page(path.read_bytes(), url="", charset="")
    if len(found.text) > MAX_STORED_TEXT:
        raise too_long()
    return found


def _with_scanned(
    answer: Read, request: dict[str, str], progress: Callable[[float], None]
) -> Extracted:
    """With no engine, a PDF of which only some pages are scanned is read without those."""
    engine = ocr_engine()
    if not engine and answer.found.text:
        return answer.found
    if not engine:
        raise IngestFailed(
            "It is a picture of text, and no OCR engine is installed; install the extra "
            "`quarry[ocr]` or tesseract, then retry.",
            reason="needs_ocr",
        )
    if len(answer.scanned) > OCR_PAGES:
        raise IngestFailed(
            f"It has {len(answer.scanned):,} scanned pages, and {OCR_PAGES} are read at most; "
            "split it.",
            reason="too_many_pages",
            pages=len(answer.scanned),
            max_pages=OCR_PAGES,
        )
    seen = dict(_read_by_ocr({**request, "engine": engine}, answer.scanned, progress))
    return _merge_pages(answer.found, seen)


def _read_by_ocr(
    request: dict[str, str], pages: list[int], progress: Callable[[float], None]
) -> Iterator[tuple[int, str]]:
    """Each page with its text, a few pages to a child, so that none lives long."""
    end = time.monotonic() + OCR_SECONDS
    for first in range(0, len(pages), OCR_BATCH):
        batch = pages[first : first + OCR_BATCH]
        seconds = min(OCR_SECONDS_A_PAGE * (len(batch) + 1), max(end - time.monotonic(), 1))
        answer = run_in_child(
            OCR, {**request, "pages": batch}, seconds=seconds, megabytes=OCR_MEGABYTES
        )
        yield from ((page, text) for page, text in answer["texts"])
        progress((first + len(batch)) / len(pages))


def _merge_pages(found: Extracted, seen: dict[int, str]) -> Extracted:
    """Pages that were read and pages that were seen, in the order of their numbers."""
    for part in found.parts:
        seen[part.page or 0] = found.text[part.start : part.end]
    draft = Draft()
    for page in sorted(seen):
        draft.add(seen[page], page=page)
    whole = draft.finish()
    return replace(found, text=whole.text, parts=whole.parts)
