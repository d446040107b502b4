"""What can be read by address: the folders of a token, and each item that it sees."""

from dataclasses import dataclass
from uuid import UUID

from mcp_types import Annotations, ListResourcesResult, Resource, ResourceTemplate
from mcp_types import TextResourceContents as Contents

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.errors import InvalidId, NotFound, not_found
from knowledge.library import items as library
from knowledge.models import Item
from knowledge.validation import as_id
from mcp_gateway.cursors import cursor_after, place_of
from mcp_gateway.payloads.base import item_uri
from mcp_gateway.payloads.fact_lines import one_line
from mcp_gateway.payloads.folders import Folders
from mcp_gateway.payloads.items import ItemText

FOLDERS = "quarry://folders"
ITEM_TEMPLATE = "quarry://items/{id}"
ITEM_PREFIX = "quarry://items/"
MAX_CHARS = 500_000
"""The most of a text that one read answers; `get_item` has the rest."""
PER_PAGE = 50

TEMPLATES = [
    ResourceTemplate(
        name="item",
        title="An item",
        uri_template=ITEM_TEMPLATE,
        description="One item as Markdown: its state, its summary and its text.",
        mime_type="text/markdown",
    )
]


@dataclass(frozen=True, slots=True)
class Address:
    """What an address asks for, and which item it names if it names one."""

    ask: Ask
    item_id: UUID | None = None


def list_resources(access: Access, cursor: str | None) -> ListResourcesResult:
    """The folders, then the newest items, so many at a time."""
    recent = library.list_recent(access, limit=PER_PAGE, before=place_of(cursor))
    first = [] if cursor else [_folders()]
    return ListResourcesResult(
        resources=[*first, *map(_resource, recent.items)],
        next_cursor=cursor_after(recent),
        ttl_ms=0,
        cache_scope="private",
    )


def address_of(uri: str) -> Address:
    """Parse this address; an unknown one is not found, like a hidden item."""
    bare = uri.partition("#")[0]  # a hit's link names its passage there
    if bare == FOLDERS:
        return Address(Ask.LIST_FOLDERS)
    if not bare.startswith(ITEM_PREFIX):
        raise no_such_resource()
    try:
        return Address(Ask.GET_ITEM, as_id(bare.removeprefix(ITEM_PREFIX), field="uri"))
    except InvalidId:
        raise no_such_resource() from None


def read_resource(access: Access, uri: str) -> Contents:
    """The text behind an address."""
    address = address_of(uri)
    if address.item_id is None:
        text = Folders.of(library.list_folders(access)).model_dump_json()
        return Contents(uri=uri, mime_type="application/json", text=text)
    try:
        item = library.get_item(access, address.item_id)
    except NotFound:
        raise no_such_resource() from None
    text = ItemText.part(item, 0, MAX_CHARS).as_text()
    return Contents(uri=uri, mime_type="text/markdown", text=text)


def no_such_resource() -> NotFound:
    return not_found("resource", hint="resources/list has all")


def _folders() -> Resource:
    return Resource(
        name="folders",
        title="Folders",
        uri=FOLDERS,
        description="The folders that this token reaches, with how many items it sees in each.",
        mime_type="application/json",
    )


def _resource(item: Item) -> Resource:
    changed = item.updated_at.isoformat(timespec="seconds")
    return Resource(
        name=str(item.pk),
        title=one_line(item.title),
        uri=item_uri(item.pk),
        mime_type="text/markdown",
        annotations=Annotations(last_modified=changed),
    )
