"""The lines of an export that are of one owner: an item, its summary, and where it is filed."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from knowledge.errors import InvalidInput
from knowledge.exchange.records import (
    Address,
    Dollars,
    Moment,
    Number,
    OneLine,
    Record,
    Seconds,
    Tag,
    Text,
    as_seconds,
    storable,
)
from knowledge.models import (
    MEMORY_TYPES,
    REGISTRY_TYPES,
    Item,
    ItemType,
    Transform,
    TransformState,
    Visibility,
)
from knowledge.models.attributes import check_attributes, check_task_changes
from knowledge.validation import MAX_TAGS

MAX_FILINGS = 1_000


class QuotePlace(Record):
    char_span: Annotated[list[Number], Field(min_length=2, max_length=2)]
    page: Number | None = None
    start_sec: Seconds | None = None
    url: Address | None = None


class QuoteRecord(Record):
    text: Text
    locator: QuotePlace

    @classmethod
    def of(cls, quote: Mapping[str, Any]) -> Self:
        place = quote["locator"]
        return cls.model_construct(
            text=quote["text"],
            locator=QuotePlace.model_construct(
                char_span=place["char_span"],
                page=place.get("page"),
                start_sec=as_seconds(place.get("start_sec")),
                url=place.get("url"),
            ),
        )


class TransformRecord(Record):
    """A summary, or why there is none."""

    state: Literal["done", "failed"]
    tldr: Text
    key_points: list[Text]
    quotes: list[QuoteRecord]
    model: Annotated[Text, Field(max_length=100)]
    cost_usd: Dollars | None = None
    error: Text
    changed_at: Moment

    @classmethod
    def of(cls, transform: Transform | None) -> Self | None:
        """None also for an unfinished summary; after an import it can be requested again."""
        if transform is None or transform.state not in (TransformState.DONE, TransformState.FAILED):
            return None
        return cls.model_construct(
            state=str(transform.state),
            tldr=transform.tldr,
            key_points=transform.key_points,
            quotes=[QuoteRecord.of(quote) for quote in transform.quotes],
            model=transform.model,
            cost_usd=transform.cost_usd,
            error=transform.error,
            changed_at=transform.changed_at,
        )

    @property
    def fields(self) -> dict[str, Any]:
        return self.model_dump(exclude={"changed_at"}, exclude_none=True)


class FilingRecord(Record):
    folder_id: UUID
    filed_at: Moment


class ContributionAttributes(BaseModel):
    """What a skill or unit says of itself, as far as others are shown it."""

    model_config = ConfigDict(strict=True, extra="allow")

    name: str = ""
    description: str = ""
    author: str = ""
    license: str = ""
    domain: str = ""
    unit_id: str = ""
    schema_version: str = ""
    digest: str = ""
    allowed_tools: list[str] = []


class ItemRecord(Record):
    """One owner's copy of a content: how it is named, tagged and filed."""

    id: UUID
    content_id: UUID
    type: str
    custom_title: OneLine
    in_kb: bool
    archived: bool
    visibility: str
    tags: Annotated[list[Tag], Field(max_length=MAX_TAGS)]
    attributes: dict[Text, JsonValue]
    created_at: Moment
    filings: Annotated[list[FilingRecord], Field(max_length=MAX_FILINGS)]
    quarantined: Literal[True] | None = None
    """Exported so that a quarantined item is quarantined again after an import."""
    transform: TransformRecord | None = None

    @classmethod
    def of(cls, item: Item) -> Self:
        """Of an item with only what its reader may know of."""
        filings = sorted(item.seen_filings, key=lambda filing: filing.folder_id)
        return cls.model_construct(
            id=item.pk,
            content_id=item.content_id,
            type=item.type,
            custom_title=item.custom_title,
            in_kb=item.in_kb,
            archived=item.archived,
            visibility=item.visibility,
            tags=item.tags,
            attributes=item.told_attributes,
            created_at=item.created_at,
            filings=[
                FilingRecord.model_construct(folder_id=filing.folder_id, filed_at=filing.filed_at)
                for filing in filings
            ],
            quarantined=item.quarantined or None,
            transform=TransformRecord.of(item.summary),
        )

    @field_validator("type")
    @classmethod
    def _check_type(cls, value: str) -> str:
        return one_of(value, ItemType.values)

    @field_validator("visibility")
    @classmethod
    def _check_visibility(cls, value: str) -> str:
        return one_of(value, Visibility.values)

    @field_validator("attributes")
    @classmethod
    def _of_its_type(cls, value: dict[str, Any], told: ValidationInfo) -> dict[str, Any]:
        check_storable(value)
        type_ = told.data.get("type")
        if type_ in MEMORY_TYPES:
            return _of_memory(type_, value)
        if type_ in REGISTRY_TYPES:
            _check_contribution(value)
        return value

    @property
    def fields(self) -> dict[str, Any]:
        """As the model has them, without ids and what belongs to other tables."""
        others = {"id", "content_id", "created_at", "filings", "quarantined", "transform"}
        return self.model_dump(exclude=others)


def _of_memory(type_: str, value: dict[str, Any]) -> dict[str, Any]:
    # A task whose project was out of its exporter's reach comes without one.
    is_loose = type_ == ItemType.TASK and "project" not in value
    try:
        return check_task_changes(value) if is_loose else check_attributes(type_, value)
    except InvalidInput as error:
        raise ValueError(error.message.removesuffix(".")) from None


def _check_contribution(value: dict[str, Any]) -> None:
    try:
        ContributionAttributes.model_validate(value)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{wrong['loc'][0]}: {wrong['msg']}") from None


def one_of(value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise ValueError(f"must be one of: {', '.join(known)}")
    return value


def check_storable(value: Any) -> None:
    """What Postgres can keep as JSON: no NUL in any string and no infinite number, however deep."""
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("must not contain numbers that are not finite")
    if isinstance(value, str):
        storable(value)
    elif isinstance(value, list):
        for inner in value:
            check_storable(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            storable(name)
            check_storable(inner)
