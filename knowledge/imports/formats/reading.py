"""Finds out what a file is by what it holds, and reads it. Runs in a child process."""

import re
import zipfile
from pathlib import Path
from typing import Any

from knowledge.errors import IngestFailed
from knowledge.imports.formats.bookmarks import read_bookmarks
from knowledge.imports.formats.opml import read_opml
from knowledge.imports.formats.rows import Export, decode
from knowledge.imports.formats.tables import read_table
from knowledge.imports.formats.vault import read_member, read_vault

LONGEST_TABLE = 50_000_000
_LINK = re.compile(r"https?://\S+", re.IGNORECASE)


def read(request: dict[str, Any]) -> dict[str, Any]:
    """The rows of the file at a path."""
    path = Path(request["path"])
    export = _read_zip(path) if zipfile.is_zipfile(path) else _read_text(path.read_bytes())
    if not export.rows and not export.left_out_count:
        raise IngestFailed("There is nothing in this file to import.", reason="not_extractable")
    return export.answer()


def _read_zip(path: Path) -> Export:
    try:
        with zipfile.ZipFile(path) as archive:
            tables = [one for one in archive.infolist() if one.filename.lower().endswith(".csv")]
            if not tables or any(
                one.filename.lower().endswith(".md") for one in archive.infolist()
            ):
                return read_vault(archive)
            return _read_tables(archive, tables)
    except zipfile.BadZipFile as error:
        raise IngestFailed(
            f"This zip cannot be read ({error}); make it again.", reason="not_extractable"
        ) from None


def _read_tables(archive: zipfile.ZipFile, tables: list[zipfile.ZipInfo]) -> Export:
    """A zip of tables is one export in parts, as Pocket's is."""
    whole: Export | None = None
    scrap = Export("table")
    for member in tables[:100]:
        body = read_member(archive, member, scrap, most=LONGEST_TABLE)
        if body is None:
            continue
        part = read_table(decode(body))
        whole = whole or Export(part.format)
        for row in part.rows:
            whole.add(row)
        whole.left_out += part.left_out
        whole.left_out_count += part.left_out_count
    return whole or scrap


def _read_text(body: bytes) -> Export:
    head = decode(body[:4_000]).lstrip("\ufeff \t\r\n").lower()
    if "<opml" in head:
        return read_opml(body)
    text = decode(body)
    if "netscape-bookmark" in head or (head.startswith("<") and "<a " in text.lower()):
        return read_bookmarks(text)
    first = head.partition("\n")[0]
    if "," in first and ("url" in first or "highlight" in first):
        return read_table(text)
    if _LINK.search(head):
        return _read_list(text)
    raise IngestFailed(
        "This is none of the exports that can be read: bookmarks (HTML), OPML, CSV of Pocket, "
        "Raindrop or Readwise, a zip of Markdown files, or a list of links.",
        reason="unknown_format",
    )


def _read_list(text: str) -> Export:
    export = Export("links")
    for url in _LINK.findall(text):
        export.add_link(url.rstrip(">)]}\"'.,;"))
    return export
