"""The lines of an export: what is kept of folders, contents and items, and how it is read again.

Each record says what its owner could not have again otherwise. What follows from the rest (chunks,
vectors, counters), who wrote it and when it was last touched stay with the server.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from knowledge.ingest.contents import MAX_TEXT
from knowledge.models import Content, ContentState, Folder, TranscriptionStatus
from knowledge.validation import MAX_TAG

UNFINISHED = "Its text was not there yet when it was exported; add its source again."
_LONGEST_URL = 20_000
_LARGE = 1_000_000_000


def storable(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not contain NUL characters")
    return value


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _web_address(value: str) -> str:
    if value and not value.lower().startswith(("http://", "https://")):
        raise ValueError("must be an http or https address")
    return value


def _utc(value: datetime) -> datetime:
    try:
        moment = value.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be of our era") from None
    if not 1 < moment.year < 9999:
        raise ValueError("must be of our era")
    return moment


Text = Annotated[str, AfterValidator(storable)]
Line = Annotated[Text, Field(max_length=500)]
OneLine = Annotated[Line, AfterValidator(_one_line)]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{0,20}$")]
Reason = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{0,40}$")]
Name = Annotated[Text, AfterValidator(_one_line), Field(min_length=1, max_length=200)]
Tag = Annotated[Text, AfterValidator(_one_line), Field(min_length=1, max_length=MAX_TAG)]
Address = Annotated[Text, Field(max_length=_LONGEST_URL), AfterValidator(_web_address)]
Moment = Annotated[AwareDatetime, AfterValidator(_utc)]
Number = Annotated[int, Field(ge=0, le=_LARGE)]
Seconds = Annotated[float, Field(ge=0, le=_LARGE)]
Dollars = Annotated[Decimal, Field(ge=0, max_digits=10, decimal_places=4)]


class Record(BaseModel):
    """One line; a field that is not known is a mistake, and one that is empty is left out.

    Made of a row it is not checked, so that no odd row can spoil an export.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def line(self) -> bytes:
        return self.model_dump_json(exclude_none=True).encode() + b"\n"


class Counts(Record):
    folders: Number
    contents: Number
    items: Number


class Manifest(Record):
    """What an archive says of itself."""

    format: Literal["quarry-export"] = "quarry-export"
    version: Literal[1] = 1
    counts: Counts


class FolderRecord(Record):
    id: UUID
    name: Name
    created_at: Moment

    @classmethod
    def of(cls, folder: Folder) -> Self:
        return cls.model_construct(id=folder.pk, name=folder.name, created_at=folder.created_at)


class PartRecord(Record):
    """A span of the text, and the page or the seconds of the source that it stands for."""

    start: Number
    end: Number
    page: Number | None = None
    start_sec: Seconds | None = None
    end_sec: Seconds | None = None
    speaker: Line | None = None

    @classmethod
    def of(cls, part: Mapping[str, Any]) -> Self:
        return cls.model_construct(
            start=part["start"],
            end=part["end"],
            page=part.get("page"),
            start_sec=as_seconds(part.get("start_sec")),
            end_sec=as_seconds(part.get("end_sec")),
            speaker=part.get("speaker") or None,
        )


def as_seconds(value: float | None) -> float | None:
    """JSON knows whole numbers too, and they would be written otherwise."""
    return None if value is None else float(value)


class ContentRecord(Record):
    """What a source said, and how that was come by."""

    id: UUID
    kind: Word
    url: Address
    title: Line
    author: Line
    language: Word
    published_at: Moment | None = None
    duration_sec: Seconds | None = None
    state: Literal["ready", "failed"]
    reason: Reason
    error: Text
    transcription_status: Literal["none", "done", "failed"]
    transcript_by: Word
    media_url: Address
    cost_usd: Dollars | None = None
    text: Annotated[Text, Field(max_length=MAX_TEXT)]
    parts: list[PartRecord]

    @classmethod
    def of(cls, content: Content) -> Self:
        return cls.model_construct(
            id=content.pk,
            kind=content.kind,
            url=content.url,
            title=content.title,
            author=content.author,
            language=content.language,
            published_at=content.published_at,
            duration_sec=content.duration_sec,
            media_url=content.media_url,
            cost_usd=content.cost_usd,
            parts=[PartRecord.of(part) for part in content.locators],
            **_outcome(content),
        )

    @model_validator(mode="after")
    def _parts_are_of_the_text(self) -> Self:
        at = 0
        for part in self.parts:
            if not at <= part.start <= part.end <= len(self.text):
                raise ValueError("parts must be spans of the text, in order and without overlap")
            at = part.end
        return self

    @property
    def fields(self) -> dict[str, Any]:
        """As the model has them, without the id."""
        told = self.model_dump(exclude={"id", "parts", "transcript_by"})
        return {
            **told,
            "rung": self.transcript_by,
            "locators": [part.model_dump(exclude_none=True) for part in self.parts],
        }

    def says_what(self, other: "ContentRecord") -> bool:
        """Whether both are the same in all but their ids."""
        return self.model_copy(update={"id": other.id}) == other


def _outcome(content: Content) -> dict[str, Any]:
    """The text, or why there is none; work that is under way cannot be taken elsewhere."""
    if content.is_ready:
        return {
            "state": "ready",
            "reason": "",
            "error": "",
            "transcription_status": str(content.transcription_status),
            "transcript_by": content.rung,
            "text": content.text,
        }
    has_failed = content.state == ContentState.FAILED
    status = TranscriptionStatus.FAILED if content.is_recording else TranscriptionStatus.NONE
    return {
        "state": "failed",
        "reason": content.reason if has_failed else "unfinished",
        "error": content.error if has_failed else UNFINISHED,
        "transcription_status": str(status),
        "transcript_by": "",
        "text": "",
    }
