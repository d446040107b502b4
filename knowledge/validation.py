"""Checks of what callers send, shared by every ask; each failure names the field and the rule."""

import base64
import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

from knowledge.errors import ForbiddenBinary, InvalidId, InvalidInput

MAX_TAGS = 50
MAX_TAG = 100
BROKEN_UNICODE = "contains broken Unicode (a lone surrogate)"
UNBROKEN_TEXT = "text without broken Unicode (a lone surrogate)"
"""What a string must be where only its type is checked."""
UPLOAD_INSTEAD = (
    "Upload files by the REST routes: POST /api/v1/uploads/signed-url, PUT the file, "
    "then POST /api/v1/uploads/finalize or /api/v1/uploads/finalize-document."
)
_AGE = re.compile(r"(\d{1,4})([dwmy])")
_DATA_URL = re.compile(r"data:[^,\s]*;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_BEGINNING, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def storage_faults(text: str) -> Iterator[str]:
    """Why Postgres cannot store a text, if so: it has NUL characters, or lone surrogates."""
    if "\x00" in text:
        yield "must not contain NUL characters"
    if has_lone_surrogate(text):
        yield BROKEN_UNICODE


def has_lone_surrogate(text: str) -> bool:
    """Whether a text has half of a pair of surrogates, which JSON can carry and UTF-8 cannot."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def make_storable(text: str, *, nul: str = " ", surrogates: str = "replace") -> str:
    """A text that Postgres takes; unless told otherwise, of the same length.

    `nul` takes the place of each NUL; lone surrogates become `?`, or with "ignore" are left out.
    """
    return text.replace("\x00", nul).encode(errors=surrogates).decode()


def clean_text(value: str, *, field: str, shortest: int, longest: int) -> str:
    """The text as it came, once it is known to be storable and of a length we take."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be a string.", field=field)
    for fault in storage_faults(value):
        raise InvalidInput(f"{field} {fault}.", field=field)
    if value and not value.strip():
        raise InvalidInput(f"{field} must not be blank.", field=field)
    if not shortest <= len(value) <= longest:
        raise InvalidInput(
            f"{field} must have between {shortest:,} and {longest:,} characters; "
            f"it has {len(value):,}.",
            field=field,
            min_length=shortest,
            max_length=longest,
        )
    return value


def clean_line(value: str, *, field: str, longest: int) -> str:
    """A name or title: trimmed, on one line, not empty."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be a string.", field=field)
    return clean_text(" ".join(value.split()), field=field, shortest=1, longest=longest)


def clean_tags(tags: Collection[str]) -> list[str]:
    """Tags trimmed, in the order given, each once."""
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"tags may be at most {MAX_TAGS}.", field="tags")
    return list(dict.fromkeys(clean_line(tag, field="tags", longest=MAX_TAG) for tag in tags))


def within(value: int, *, field: str, low: int, high: int) -> int:
    """A whole number within its range."""
    if not low <= value <= high:
        raise InvalidInput(
            f"{field} must be between {low} and {high}; it is {value}.",
            field=field,
            minimum=low,
            maximum=high,
        )
    return value


def one_of(value: str, allowed: Collection[str], *, field: str) -> str:
    """A word from a fixed list."""
    if value not in allowed:
        raise InvalidInput(
            f"{field} must be one of: {', '.join(allowed)}.", field=field, allowed=list(allowed)
        )
    return value


def as_id(value: str | UUID, *, field: str) -> UUID:
    """An identifier; anything that is not a UUID is refused before any row is looked for."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise InvalidId(f"{field} must be a UUID.", field=field) from None


def id_or_none(value: str) -> UUID | None:
    """An identifier, where anything else may be a name."""
    try:
        return UUID(value)
    except ValueError:
        return None


def as_moment(value: str | datetime, *, field: str) -> datetime:
    """An ISO date or datetime, or an age such as 7d, 2w, 3m or 1y before now."""
    if isinstance(value, datetime):
        return _in_utc(value)
    if match := _AGE.fullmatch(value.strip()):
        return _ago(int(match[1]) * _DAYS[match[2]])
    try:
        return _in_utc(datetime.fromisoformat(value.strip()))
    except ValueError:
        raise InvalidInput(
            f"{field} must be an ISO date or datetime, or an age such as 7d, 2w, 3m or 1y.",
            field=field,
        ) from None


def _ago(days: int) -> datetime:
    now = datetime.now(UTC)
    return now - timedelta(days=min(days, (now - _BEGINNING).days))


def _in_utc(moment: datetime) -> datetime:
    """The same moment, or the nearest there is: Postgres knows fewer offsets than Python does."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return _BEGINNING if moment.year == 1 else _END


def refuse_blob(text: str) -> None:
    """Refuse bytes in the guise of text: nobody could ever find them again."""
    start = text[:4096].strip()
    if _DATA_URL.match(start) or _is_base64_of_bytes(start):
        raise ForbiddenBinary(f"Encoded files are not taken as text. {UPLOAD_INSTEAD}")


def _is_base64_of_bytes(start: str) -> bool:
    if " " in start:
        return False
    body = "".join(start.split())
    if len(body) < 200 or not _BASE64.fullmatch(body):
        return False
    if body.islower() or body.isupper():
        return False  # hexadecimal digits, such as a list of digests
    try:
        base64.b64decode(body[: len(body) // 4 * 4]).decode()
    except UnicodeDecodeError as error:
        return error.end < 100  # a cut at the very end may split a character
    except ValueError:
        return False
    return False
