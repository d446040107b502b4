"""What every answer is made of."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar
from uuid import UUID

from mcp_types import ContentBlock, ResourceLink, TextContent
from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from mcp_gateway.payloads.fact_lines import join_named, one_line


class Shape(BaseModel):
    """A part of an answer; every field is always there, null when there is nothing to say."""

    listed: ClassVar[str] = ""
    """The fields that a tool's schema names, by blanks; if empty, all of them.

    An agent pays for every name at every start. So the schema has what it acts on, and the pages
    under docs/mcp have the rest.
    """

    model_config = ConfigDict(
        from_attributes=True, json_schema_serialization_defaults_required=True
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        if cls.listed:
            schema["properties"] = {name: schema["properties"][name] for name in cls.listed.split()}
        return reference


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


class Copy(Shape):
    """Another item with the same text, which took no place of its own."""

    user_item_id: UUID
    title: str

    def as_text(self) -> str:
        return f"{one_line(self.title)} ({self.user_item_id})"


def where_to_read(url: str, item_id: UUID, copies: Iterable[Copy], **more: object) -> str:
    """The link of a hit, its id unless the link has it, and which other items say the same."""
    has_id = url.startswith(item_uri(item_id))
    same = [copy.as_text() for copy in copies]
    facts = join_named(id=None if has_id else item_id, same_text=same, **more)
    return f"{url} | {facts}" if facts else url


def item_uri(item_id: UUID) -> str:
    return f"quarry://items/{item_id}"


def link_to(item_id: UUID, title: str) -> ResourceLink:
    """An item as a resource that `resources/read` answers."""
    return ResourceLink(uri=item_uri(item_id), name=one_line(title), mime_type="text/markdown")
