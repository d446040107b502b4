"""What every answer is made of."""

from abc import abstractmethod
from collections.abc import Iterable
from uuid import UUID

from mcp_types import ContentBlock, ResourceLink, TextContent
from pydantic import BaseModel, ConfigDict

from mcp_gateway.payloads.wording import one_line


class Shape(BaseModel):
    """A part of an answer; every field is always there, null when there is nothing to say."""

    model_config = ConfigDict(
        from_attributes=True, json_schema_serialization_defaults_required=True
    )


class Payload(Shape):
    """A tool's whole answer."""

    @abstractmethod
    def as_text(self) -> str:
        """The same facts for a client that hands its model only text."""

    def links(self) -> Iterable[tuple[UUID, str]]:
        """The items that the answer names, by id and title."""
        return ()

    def as_content(self) -> list[ContentBlock]:
        """The text, then a link to each item that can be read as a resource."""
        linked = dict(self.links())
        return [TextContent(text=self.as_text()), *(link_to(*each) for each in linked.items())]


def item_uri(item_id: UUID) -> str:
    return f"quarry://items/{item_id}"


def link_to(item_id: UUID, title: str) -> ResourceLink:
    """An item as a resource that `resources/read` answers."""
    return ResourceLink(uri=item_uri(item_id), name=one_line(title), mime_type="text/markdown")
