"""An export for people: a Markdown file for each item, and a table of all for a spreadsheet."""

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from knowledge.models import Item, Transform, TransformState

COLUMNS = (
    *("id", "title", "type", "kind", "source", "author", "language", "tags", "folders"),
    *("in_kb", "archived", "visibility", "published_at", "created_at"),
)
UNFILED = "Unfiled"
_LONGEST_NAME = 80
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\u2028\u2029\u202a-\u202e\u2066-\u2069]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_FORMULA = tuple("=+-@＝＋－＠")
_FORMULA_SPACE = tuple("\t\r\n")


def path_of(item: Item, folders: Sequence[str]) -> str:
    """Where the item's file lies: below its first folder, under a name that no other has."""
    shelf = _file_name(folders[0] if folders else UNFILED)
    return f"markdown/{shelf}/{_file_name(item.title)} {item.pk.hex[:12]}.md"


def markdown_of(item: Item, folders: Sequence[str]) -> str:
    """The item with its facts on top, as note-taking programs read them."""
    content = item.content
    facts = {
        "title": item.title,
        "source": item.source_url,
        "author": content.author or None,
        "tags": item.tags,
        "folders": list(folders),
        "created": item.created_at.isoformat(),
        "published": content.published_at.isoformat() if content.published_at else None,
        "id": str(item.pk),
    }
    lines = [f"{name}: {_yaml(value)}" for name, value in facts.items() if value is not None]
    parts = ["---", *lines, "---", "", f"# {item.title}", ""]
    if item.summary and item.summary.state == TransformState.DONE:
        parts += [_summary(item.summary), ""]
    parts.append(content.text if content.is_ready else "")
    return "\n".join(parts) + "\n"


def header_row() -> bytes:
    return _csv(COLUMNS)


def row_of(item: Item, folders: Sequence[str]) -> bytes:
    """The item's line of the table; no cell of it is a formula."""
    content = item.content
    published = content.published_at.isoformat() if content.published_at else ""
    return _csv(
        (
            *(str(item.pk), item.title, item.type, content.kind, content.url),
            *(content.author, content.language, ", ".join(item.tags), ", ".join(folders)),
            *(str(item.in_kb).lower(), str(item.archived).lower(), item.visibility),
            *(published, item.created_at.isoformat()),
        )
    )


def safe_cell(value: str) -> str:
    """The value as a spreadsheet shows it, and never runs it: what looks like a formula is quoted.

    See OWASP on CSV injection.
    """
    is_formula = value.lstrip().startswith(_FORMULA) or value.startswith(_FORMULA_SPACE)
    return f"'{value}" if is_formula else value


def _csv(cells: Sequence[str]) -> bytes:
    out = io.StringIO()
    # Every cell in quotes: some spreadsheets also split at semicolons.
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow([safe_cell(cell) for cell in cells])
    return out.getvalue().encode()


def _file_name(title: str) -> str:
    """A name that every file system takes, and that leads nowhere else."""
    name = " ".join(_NOT_IN_NAMES.sub(" ", title).split()).strip(". ")
    name = name.encode()[:_LONGEST_NAME].decode(errors="ignore").strip(". ")
    return f"_{name}" if _RESERVED.fullmatch(name) else name or "Untitled"


def _yaml(value: Any) -> str:
    """JSON is YAML, but for a few characters that YAML wants escaped."""
    written = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def _summary(transform: Transform) -> str:
    lines = ["## Summary", "", transform.tldr, ""]
    lines += [f"- {point}" for point in transform.key_points]
    lines += [f"\n> {quote['text']}" for quote in transform.quotes]
    return "\n".join(lines) + "\n"
