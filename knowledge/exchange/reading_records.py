"""The lines of an export that tell what somebody read: highlights, progress, saved searches."""

from collections.abc import Container
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import Field, field_validator, model_validator

from knowledge.exchange.item_records import one_of
from knowledge.exchange.records import Moment, Number, Record, Text
from knowledge.models import Colour, Highlight, ReadingProgress, SavedSearch
from knowledge.models.reading import MAX_QUOTE
from knowledge.reading.saved_searches import MAX_NAME, MAX_QUERY_STRING


class HighlightRecord(Record):
    """A passage that was marked, and the item that is the note on it."""

    id: UUID
    item_id: UUID
    start: Number
    end: Number
    quote: Annotated[Text, Field(min_length=1, max_length=MAX_QUOTE)]
    colour: str
    note_id: UUID | None = None
    created_at: Moment

    @classmethod
    def of(cls, highlight: Highlight, seen: Container[UUID]) -> Self:
        """Without a note that the reader of the export does not see."""
        told = {name: getattr(highlight, name) for name in cls.model_fields}
        if highlight.note_id not in seen:
            told["note_id"] = None
        return cls.model_construct(**told)

    @field_validator("colour")
    @classmethod
    def _check_colour(cls, value: str) -> str:
        return one_of(value, Colour.values)

    @model_validator(mode="after")
    def _has_characters(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a highlight ends after it starts")
        return self

    @property
    def fields(self) -> dict[str, Any]:
        return self.model_dump(include={"start", "end", "quote", "colour"})


class ProgressRecord(Record):
    """How far an item was read."""

    item_id: UUID
    share: Annotated[float, Field(ge=0, le=1)]
    changed_at: Moment

    @classmethod
    def of(cls, progress: ReadingProgress) -> Self:
        return cls.model_construct(**{name: getattr(progress, name) for name in cls.model_fields})


class SavedSearchRecord(Record):
    """A search under a name, as the library's address has it."""

    id: UUID
    name: Annotated[Text, Field(min_length=1, max_length=MAX_NAME)]
    query: Annotated[Text, Field(min_length=1, max_length=MAX_QUERY_STRING)]
    created_at: Moment

    @classmethod
    def of(cls, saved: SavedSearch) -> Self:
        return cls.model_construct(**{name: getattr(saved, name) for name in cls.model_fields})
