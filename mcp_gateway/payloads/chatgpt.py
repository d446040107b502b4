"""What ChatGPT's pair of tools answers: the same JSON as text and as structured content."""

from datetime import datetime
from typing import Any
from uuid import UUID

from knowledge.memory.citations import address_of
from knowledge.models import Item
from knowledge.retrieval.search import Answer
from mcp_gateway.payloads.base import Payload, Shape


class FoundItem(Shape):
    id: UUID
    title: str
    url: str


class Found(Payload):
    results: list[FoundItem]

    @classmethod
    def of(cls, answer: Answer) -> "Found":
        """Each item once, however many of its passages match."""
        items = {hit.item.pk: hit.item for hit in answer.hits}.values()
        return cls(
            results=[FoundItem(id=item.pk, title=item.title, url=_url(item)) for item in items]
        )

    def as_text(self) -> str:
        return self.model_dump_json()


class Metadata(Shape):
    listed = "type tags total_chars truncated transcription_status"

    type: str
    tags: list[str]
    attributes: dict[str, Any]
    folder_ids: list[UUID]
    created_at: datetime
    status: str
    transcription_status: str
    index_status: str
    total_chars: int
    truncated: bool
    suspected: list[str]
    untrusted: bool = True


class Document(Payload):
    id: UUID
    title: str
    text: str
    url: str
    metadata: Metadata

    @classmethod
    def of(cls, item: Item, max_chars: int) -> "Document":
        """The item with its text, or with as much of it as a model is given at once."""
        text = item.content.text
        metadata = Metadata(
            type=item.type,
            tags=item.tags,
            attributes=item.told_attributes,
            folder_ids=item.folder_ids,
            created_at=item.created_at,
            status=item.status,
            transcription_status=item.content.transcription_status,
            index_status=item.index_status,
            total_chars=len(text),
            truncated=len(text) > max_chars,
            suspected=item.suspected,
        )
        return cls(
            id=item.pk, title=item.title, text=text[:max_chars], url=_url(item), metadata=metadata
        )

    def as_text(self) -> str:
        return self.model_dump_json()


def _url(item: Item) -> str:
    """ChatGPT cites it, and takes no result without one."""
    return address_of(item.pk, item.source_url)
