"""A text as it is written down from a file: tidy, with its pages, and never too long."""

import re
from collections.abc import Sequence
from datetime import datetime

from knowledge.errors import IngestFailed
from knowledge.sources.extracted import MAX_STORED_TEXT, Extracted, Part

_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNWRITABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")


class Draft:
    """Blocks in order, a blank line between them; a block may stand on a numbered page."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._length = 0
        self._parts: list[Part] = []

    def add(self, block: str, *, page: int | None = None) -> None:
        block = tidy(block).strip("\n")
        if not block.strip():
            return
        start = self._length + (2 if self._blocks else 0)
        self._length = start + len(block)
        if self._length > MAX_STORED_TEXT:
            raise too_long()
        self._blocks.append(block)
        if page is not None:
            if self._parts and self._parts[-1].page == page:
                start = self._parts.pop().start
            self._parts.append(Part(start=start, end=self._length, page=page))

    def finish(
        self,
        *,
        title: str = "",
        author: str = "",
        published_at: datetime | None = None,
        headed: bool = True,
    ) -> Extracted:
        """The whole text; a title that the file does not tell is its first heading, if `headed`."""
        text = "\n\n".join(self._blocks)
        return Extracted(
            text=text,
            title=one_line(title) or (first_heading(text) if headed else ""),
            author=one_line(author),
            published_at=published_at,
            parts=tuple(self._parts),
        )


def tidy(text: str) -> str:
    """Without what a database cannot hold or a reader cannot see; one kind of line end."""
    return _UNWRITABLE.sub("", _LINE_END.sub("\n", text))


def one_line(text: str) -> str:
    return " ".join(tidy(text).split())


def first_heading(text: str) -> str:
    heading = re.search(r"^#{1,3} +(\S.*)$", text[:20_000], re.MULTILINE)
    return one_line(heading[1])[:300] if heading else ""


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table, the first as its head; empty rows and columns are left out."""
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        return ""
    used = sorted({n for row in rows for n, cell in enumerate(row) if cell.strip()})
    kept = [[_cell(row[n]) if n < len(row) else "" for n in used] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in kept]
    return "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]])


def too_long() -> IngestFailed:
    return IngestFailed(
        f"It has more than {MAX_STORED_TEXT:,} characters of text; split it into smaller files.",
        reason="too_long",
        max_length=MAX_STORED_TEXT,
    )


def broken_file(what: str) -> IngestFailed:
    return IngestFailed(
        f"The file is broken: {what}. Save it again, and send that.", reason="broken_file"
    )


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")
