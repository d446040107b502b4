"""Plain text and what is written in it: Markdown, tables, transcripts, pages."""

import csv
import re
from pathlib import Path

from charset_normalizer import from_bytes

from knowledge.sources.extracted import MAX_STORED_TEXT, Extracted, join_segments
from knowledge.sources.parsers.draft import (
    Draft,
    first_heading,
    one_line,
    table,
    tidy,
    too_long,
)
from knowledge.sources.parsers.ooxml import moment

MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
SAMPLE = 100_000
_FRONT = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\s*\n", re.DOTALL)
_FIELD = re.compile(r"^(title|author|date):\s*(.+)$", re.MULTILINE)


def read_plain(path: Path, filename: str) -> Extracted:
    draft = Draft()
    draft.add(decode_file(path))
    return draft.finish()


def read_markdown(path: Path, filename: str) -> Extracted:
    """The text as it stands; title, author and date from its front matter."""
    text = tidy(decode_file(path))
    front = _FRONT.match(text)
    told = dict(_FIELD.findall(front[1])) if front else {}
    told = {key: one_line(value).strip("\"'") for key, value in told.items()}
    draft = Draft()
    draft.add(text)
    return draft.finish(
        title=told.get("title") or first_heading(text[front.end() :] if front else text),
        author=told.get("author", ""),
        published_at=moment(told.get("date", "")),
    )


def read_table(path: Path, filename: str) -> Extracted:
    text = tidy(decode_file(path))
    draft = Draft()
    csv.field_size_limit(MAX_STORED_TEXT)
    draft.add(table(list(csv.reader(text.splitlines(keepends=True), _dialect(text, filename)))))
    return draft.finish()


def read_transcript(path: Path, filename: str) -> Extracted:
    from knowledge.sources.transcripts import parse_transcript

    written = decode_file(path).lstrip()
    segments = parse_transcript(written, "vtt" if written.startswith("WEBVTT") else "srt")
    text, parts = join_segments(segments)
    if len(text) > MAX_STORED_TEXT:
        raise too_long()
    return Extracted(
        text=text, parts=parts, duration_sec=segments[-1].end_sec if segments else None
    )


def decode_file(path: Path) -> str:
    """The text in whatever encoding it was written: what it says itself, else the likeliest."""
    with path.open("rb") as file:
        raw = file.read(4 * MAX_STORED_TEXT + 4)
    if len(raw) > 4 * MAX_STORED_TEXT:
        raise too_long()
    for mark, encoding in MARKS:
        if raw.startswith(mark):
            return raw.decode(encoding, "replace")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode(_likeliest(raw), "replace")


def _likeliest(raw: bytes) -> str:
    best = from_bytes(raw[:SAMPLE]).best()
    return best.encoding if best else "latin-1"


def _dialect(text: str, filename: str) -> type[csv.Dialect]:
    if filename.lower().endswith((".tsv", ".tab")):
        return csv.excel_tab
    try:
        return csv.Sniffer().sniff(text[:5_000], delimiters=",;\t|")
    except csv.Error:
        return csv.excel
