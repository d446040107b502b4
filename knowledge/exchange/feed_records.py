"""The lines of an export that tell which feeds are followed, and which entries are known."""

from collections.abc import Container, Iterable
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import Field, field_validator

from knowledge.exchange.item_records import one_of
from knowledge.exchange.records import Address, Line, Moment, Number, Reason, Record, Tag, Text
from knowledge.models import ArrivalState, Feed, FeedEntry, FeedState

MOST_ENTRIES = 2_000
SETTLED = (ArrivalState.ADDED, ArrivalState.THERE, ArrivalState.SKIPPED)
"""What need not be asked for again; all others come anew when the feed is asked."""


class EntryRecord(Record):
    """An entry that does not come again, and the item that it became."""

    guid_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    state: str
    title: Line = ""
    url: Annotated[Text, Field(max_length=20_000)] = ""
    key: Annotated[Text, Field(max_length=20_000)] = ""
    reason: Reason = ""
    published_at: Moment | None = None
    item_id: UUID | None = None

    @classmethod
    def of(cls, entry: FeedEntry, seen: Container[UUID]) -> Self:
        """What the feed said of a recording stays behind, and so does the way to add it later."""
        told = {name: getattr(entry, name) for name in cls.model_fields}
        if entry.episode:
            told["key"] = ""
        if entry.item_id not in seen:
            told["item_id"] = None
        return cls.model_construct(**told)

    @field_validator("state")
    @classmethod
    def _check_state(cls, value: str) -> str:
        return one_of(value, [str(state) for state in SETTLED])

    def fields(self, item_id: UUID | None) -> dict[str, Any]:
        """As the model has them, with the item that it is here."""
        return {**self.model_dump(exclude={"item_id"}), "item_id": item_id}


class FeedRecord(Record):
    """A feed that somebody follows, how, and what has come of it."""

    id: UUID
    url: Address
    title: Annotated[Line, Field(min_length=1)]
    folder_id: UUID | None = None
    tags: list[Tag]
    max_entries: Number
    may_transcribe: bool
    is_paused: bool
    created_at: Moment
    entries: Annotated[list[EntryRecord], Field(max_length=MOST_ENTRIES)]

    @classmethod
    def of(cls, feed: Feed, entries: Iterable[FeedEntry], seen: Container[UUID]) -> Self:
        told = {
            name: getattr(feed, name)
            for name in cls.model_fields
            if name not in ("is_paused", "entries")
        }
        return cls.model_construct(
            **told,
            is_paused=feed.state == FeedState.PAUSED,
            entries=[EntryRecord.of(entry, seen) for entry in entries],
        )

    @property
    def item_ids(self) -> set[UUID]:
        return {entry.item_id for entry in self.entries if entry.item_id}
