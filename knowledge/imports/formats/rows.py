"""The rows that every format is read into, and what is left out of them, with the reason."""

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from knowledge.errors import IngestFailed

MOST_ROWS = 20_000
MOST_LEFT_OUT = 200
"""Of what is left out, so many are named; all are counted."""
LONGEST_NOTE = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A link, a text or a feed, as an export tells of it."""

    kind: str = "link"
    url: str = ""
    """Of a note: its path in the vault, which begins with `./` where the vault has no name."""
    title: str = ""
    text: str = ""
    note: str = ""
    tags: list[str] = field(default_factory=list)
    folder: str = ""
    saved_at: str = ""
    """An ISO moment, or empty."""


class Export:
    """What was read of an export so far."""

    def __init__(self, name: str) -> None:
        self.format = name
        self.rows: list[Row] = []
        self.left_out: list[dict[str, str]] = []
        self.left_out_count = 0

    def add(self, row: Row) -> None:
        if len(self.rows) >= MOST_ROWS:
            raise IngestFailed(
                f"It has more than {MOST_ROWS:,} entries; split it, and import the parts.",
                reason="too_long",
            )
        self.rows.append(row)

    def add_link(self, url: str, **fields: Any) -> None:
        """Add a link that can be opened; scripts, files and empty ones are left out."""
        url = url.strip()
        scheme = url.partition(":")[0].lower()
        if scheme in ("http", "https"):
            self.add(Row(url=url, **fields))
        else:
            reason = f"{scheme}: addresses are not read" if ":" in url else "it has no address"
            self.leave_out(str(fields.get("title") or url or "An entry"), reason)

    def leave_out(self, what: str, why: str) -> None:
        self.left_out_count += 1
        if len(self.left_out) < MOST_LEFT_OUT:
            self.left_out.append({"what": what[:200], "why": why})

    def answer(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "rows": [asdict(row) for row in self.rows],
            "left_out": self.left_out,
            "left_out_count": self.left_out_count,
        }


def moment_of(told: str) -> str:
    """A moment as exports write it (ISO, or seconds since 1970), as ISO; empty if it is none."""
    told = told.strip()
    try:
        if told.isdecimal():
            seconds = int(told)
            while seconds > 100_000_000_000:  # milliseconds or microseconds
                seconds //= 1000
            return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else ""
        moment = datetime.fromisoformat(told)
    except (ValueError, OverflowError, OSError):
        return ""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def split_tags(told: str, separators: str = ",") -> list[str]:
    """The tags of a field that holds several."""
    for separator in separators[1:]:
        told = told.replace(separator, separators[0])
    return [tag.strip() for tag in told.split(separators[0]) if tag.strip()]


def decode(body: bytes) -> str:
    """A text file of unknown encoding: UTF-8, UTF-16 with its mark, or else Windows-1252."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")
