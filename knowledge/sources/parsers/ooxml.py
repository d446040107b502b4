"""What DOCX, PPTX and XLSX have in common: who wrote them, and when."""

from datetime import UTC, datetime
from typing import TypedDict

from knowledge.sources.parsers.archive import Archive, local


class Facts(TypedDict):
    title: str
    author: str
    published_at: datetime | None


def facts(archive: Archive) -> Facts:
    """Title, author and date, from the document's properties."""
    told = {local(field): field.text or "" for field in archive.tree("docProps/core.xml")}
    return Facts(
        title=told.get("title", ""),
        author=told.get("creator", ""),
        published_at=moment(told.get("created", "")),
    )


def moment(written: str) -> datetime | None:
    """An ISO date with or without a zone; anything else is no date."""
    try:
        found = datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
