"""Where the child begins: which reader takes which media type, and what its failures mean."""

import csv
import importlib
import struct
import zipfile
import zlib
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from defusedxml.common import DefusedXmlException

from knowledge.errors import IngestFailed
from knowledge.sources.extracted import Extracted, Part
from knowledge.sources.parsers.draft import broken_file

OFFICE = "application/vnd.openxmlformats-officedocument"
OPEN = "application/vnd.oasis.opendocument"
READERS = {
    "application/pdf": "pdf:read",
    "image/png": "images:read",
    "image/jpeg": "images:read",
    "image/webp": "images:read",
    "image/tiff": "images:read",
    "image/gif": "images:read",
    f"{OFFICE}.wordprocessingml.document": "docx:read",
    f"{OFFICE}.presentationml.presentation": "pptx:read",
    f"{OFFICE}.spreadsheetml.sheet": "xlsx:read",
    f"{OPEN}.text": "odf:read",
    f"{OPEN}.spreadsheet": "odf:read",
    f"{OPEN}.presentation": "odf:read",
    "application/epub+zip": "epub:read",
    "text/markdown": "text:read_markdown",
    "text/plain": "text:read_plain",
    "application/json": "text:read_plain",
    "text/csv": "text:read_table",
    "text/tab-separated-values": "text:read_table",
    "text/vtt": "text:read_transcript",
    "application/x-subrip": "text:read_transcript",
}
BREAKAGE = (
    SyntaxError,  # of XML
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    csv.Error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
)


class Read(NamedTuple):
    """A text, and the pages of the file on which there is something but no text."""

    found: Extracted
    scanned: list[int]


def read(request: dict[str, Any]) -> dict[str, Any]:
    """The text of the file at `path`, as JSON, by the reader of its `media_type`."""
    module, _, name = READERS[request["media_type"]].partition(":")
    reader = getattr(importlib.import_module(f"knowledge.sources.parsers.{module}"), name)
    try:
        answer = reader(Path(request["path"]), request["filename"])
    except DefusedXmlException:
        raise IngestFailed(
            "The file declares XML entities, which are not read; save it again, and send that.",
            reason="unsafe_xml",
        ) from None
    except BREAKAGE as error:
        raise broken_file("it ends early or is not what it says it is") from error
    found, scanned = answer if isinstance(answer, Read) else (answer, [])
    when = found.published_at
    return {
        "found": {**asdict(found), "published_at": when.isoformat() if when else None},
        "scanned": scanned,
    }


def from_json(answer: dict[str, Any]) -> Read:
    """What `read` said, in the parent again."""
    found = dict(answer["found"])
    when = found.pop("published_at")
    parts = tuple(Part(**part) for part in found.pop("parts"))
    published_at = datetime.fromisoformat(when) if when else None
    return Read(Extracted(**found, parts=parts, published_at=published_at), answer["scanned"])
