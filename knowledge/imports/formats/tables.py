"""Tables (CSV) that Pocket, Raindrop, Readwise and others export."""

import csv
import io
from collections.abc import Callable, Iterator

from knowledge.errors import IngestFailed
from knowledge.imports.formats.rows import LONGEST_NOTE, Export, Row, moment_of, split_tags

LONGEST_FIELD = 2_000_000
LONGEST_TEXT = 500_000
Record = dict[str, str]


def read_table(text: str) -> Export:
    """The rows of a table whose columns tell which program wrote it."""
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        columns = {(name or "").strip().lower() for name in reader.fieldnames or ()}
        name, read = _reader_of(columns)
        export = Export(name)
        read(_records(reader), export)
    except csv.Error as error:
        raise IngestFailed(
            f"This table cannot be read ({error}); export it again.", reason="not_extractable"
        ) from None
    return export


def _reader_of(columns: set[str]) -> tuple[str, Callable[[Iterator[Record], Export], None]]:
    if {"highlight", "book title"} <= columns:
        return "readwise", _read_highlights
    if "url" in columns:
        if {"folder", "created"} <= columns:
            return "raindrop", _read_links
        if "time_added" in columns:
            return "pocket", _read_links
        return ("readwise" if "document tags" in columns else "table"), _read_links
    raise IngestFailed(
        "This table has neither a column url nor columns Highlight and Book Title; it is no "
        "export that can be read.",
        reason="unknown_format",
    )


def _records(reader: "csv.DictReader[str]") -> Iterator[Record]:
    for record in reader:
        yield {
            name.strip().lower(): value.strip()
            for name, value in record.items()
            if isinstance(name, str) and isinstance(value, str)
        }


def _read_links(records: Iterator[Record], export: Export) -> None:
    for record in records:
        tags = record.get("tags") or record.get("document tags") or ""
        export.add_link(
            record.get("url", ""),
            title=record.get("title", ""),
            tags=split_tags(tags.strip("[]").replace("'", ""), ",|"),
            folder=_folder(record.get("folder", "")),
            saved_at=moment_of(_first(record, "created", "time_added", "saved date", "timestamp")),
            note=_note(record),
        )


def _first(record: Record, *names: str) -> str:
    return next((record[name] for name in names if record.get(name)), "")


def _folder(told: str) -> str:
    """The folder's path; the shelf of what was never filed is none."""
    return "" if told.lower() in ("unsorted", "unread", "archive") else told.replace("/", " / ")


def _note(record: Record) -> str:
    parts = [record.get("note", ""), record.get("selection", "")]
    if highlights := record.get("highlights", ""):
        parts.append(highlights)
    return "\n\n".join(part for part in parts if part)[:LONGEST_NOTE]


def _read_highlights(records: Iterator[Record], export: Export) -> None:
    """Each book or article becomes one text of its highlights and notes, in their order."""
    books: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if not record.get("highlight"):
            export.leave_out(record.get("book title") or "A row", "it has no highlight")
            continue
        book = (record.get("book title") or "Untitled", record.get("book author", ""))
        books.setdefault(book, []).append(record)
    for (title, author), highlights in books.items():
        text = "\n\n".join(_quote(each) for each in highlights)
        text = f"Highlights{f' from {author}' if author else ''}\n\n{text}"
        if len(text) > LONGEST_TEXT:
            export.leave_out(title, f"its highlights have more than {LONGEST_TEXT:,} characters")
            continue
        tags = [tag for each in highlights for tag in split_tags(each.get("tags", ""))]
        tags += split_tags(highlights[0].get("document tags", ""))
        first = min((moment_of(each.get("highlighted at", "")) for each in highlights), default="")
        export.add(Row(kind="text", title=title, text=text, tags=tags, saved_at=first))


def _quote(record: Record) -> str:
    quote = "\n".join(f"> {line}" for line in record["highlight"].splitlines())
    place = record.get("location", "")
    if place:
        quote += f"\n> ({record.get('location type') or 'location'} {place})"
    return f"{quote}\n\n{record['note']}" if record.get("note") else quote
