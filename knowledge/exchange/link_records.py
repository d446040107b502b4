"""The lines of an export that hang on items: relations, versions and documentation sources."""

from collections.abc import Container
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, Field, JsonValue, field_validator

from knowledge.exchange.item_records import check_storable, one_of
from knowledge.exchange.records import Address, Moment, Name, Number, Reason, Record, Text
from knowledge.models import Relation, RelationType, Version, Visibility
from knowledge.models.documentation import PageState, Source, SourcePage

MOST_PAGES = 20_000
_LARGEST_VERSION = 1_000_000
_LONGEST_ETAG, _LONGEST_DATE = 500, 100


def _sendable(value: str) -> str:
    """What can be sent as a header; what cannot be is not needed to ask for a page anew."""
    return value if value.isascii() and value.isprintable() else ""


Etag = Annotated[str, Field(max_length=_LONGEST_ETAG), AfterValidator(_sendable)]
HttpDate = Annotated[str, Field(max_length=_LONGEST_DATE), AfterValidator(_sendable)]
Key = Annotated[Text, Field(max_length=20_000)]
Small = Annotated[int, Field(ge=0, le=32_767)]


class RelationRecord(Record):
    """How one item stands to another, and from when until when."""

    id: UUID
    source_id: UUID
    target_id: UUID
    type: str
    weight: Annotated[float, Field(ge=0, le=1)]
    valid_from: Moment
    valid_until: Moment | None = None
    created_at: Moment

    @classmethod
    def of(cls, relation: Relation) -> Self:
        return cls.model_construct(**{name: getattr(relation, name) for name in cls.model_fields})

    @field_validator("type")
    @classmethod
    def _check_type(cls, value: str) -> str:
        return one_of(value, RelationType.values)

    @property
    def fields(self) -> dict[str, Any]:
        """As the model has them, without ids and when it was written."""
        return self.model_dump(include={"type", "weight", "valid_from", "valid_until"})


class VersionRecord(Record):
    """A skill or unit as it was contributed."""

    item_id: UUID
    number: Annotated[int, Field(ge=1, le=_LARGEST_VERSION)]
    label: Annotated[Text, Field(max_length=50)]
    digest: str
    visibility: str
    document: dict[str, JsonValue]
    files: dict[str, dict[str, str]]
    created_at: Moment

    @classmethod
    def of(cls, version: Version) -> Self:
        return cls.model_construct(**{name: getattr(version, name) for name in cls.model_fields})

    @field_validator("visibility")
    @classmethod
    def _check_visibility(cls, value: str) -> str:
        return one_of(value, Visibility.values)

    @field_validator("document")
    @classmethod
    def _storable_document(cls, value: dict[str, Any]) -> dict[str, Any]:
        check_storable(value)
        return value


class PageRecord(Record):
    """An address of a source, and what it takes to ask for it only if it has changed."""

    key: Key
    url: Address
    depth: Small
    rank: Small
    state: str
    item_id: UUID | None = None
    same_as: Key = ""
    digest: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    etag: Etag = ""
    last_modified: HttpDate = ""
    reason: Reason = ""
    error: Text = ""
    fetched_at: Moment | None = None

    @classmethod
    def of(cls, page: SourcePage, seen: Container[UUID]) -> Self:
        """Of a page whose item is not seen, only that there is such an address."""
        record = cls.model_construct(**{name: getattr(page, name) for name in cls.model_fields})
        return record if page.item_id is None or page.item_id in seen else record.as_queued()

    @field_validator("state")
    @classmethod
    def _check_state(cls, value: str) -> str:
        return one_of(value, PageState.values)

    def as_queued(self) -> Self:
        """The same address, to be asked for as if it never had been."""
        return self.model_construct(
            key=self.key,
            url=self.url,
            depth=self.depth,
            rank=self.rank,
            state=PageState.QUEUED.value,
        )

    def fields(self, item_id: UUID | None) -> dict[str, Any]:
        """As the model has them, with the item that it is here."""
        return {**self.model_dump(exclude={"item_id"}), "item_id": item_id}


class SourceRecord(Record):
    """A documentation site and the pages that are known of it, but no crawl that is under way."""

    id: UUID
    name: Name
    start_url: Address
    include: list[Text]
    exclude: list[Text]
    depth: Number
    max_pages: Number
    folder_id: UUID | None = None
    created_at: Moment
    finished_at: Moment | None = None
    pages: Annotated[list[PageRecord], Field(max_length=MOST_PAGES)]

    @classmethod
    def of(cls, source: Source, pages: list[PageRecord]) -> Self:
        told = {name: getattr(source, name) for name in cls.model_fields if name != "pages"}
        return cls.model_construct(**told, pages=pages)

    @property
    def was_crawled(self) -> bool:
        return self.finished_at is not None

    @property
    def item_ids(self) -> set[UUID]:
        return {page.item_id for page in self.pages if page.item_id}
