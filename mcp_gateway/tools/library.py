"""The library's tools: each translates, asks the domain one thing, and shapes the answer."""

from typing import Annotated

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.ingest import adding
from knowledge.ingest.adding import KINDS, MAX_TEXT, MIN_TEXT
from knowledge.ingest.items import MAX_TITLE
from knowledge.library import items as library
from knowledge.library.items import MAX_RECENT
from knowledge.models import ItemType
from knowledge.retrieval.neighbours import MAX_WINDOW
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import (
    MAX_LIMIT,
    MAX_QUERY,
    MODES,
    LibrarySearchRequest,
    search,
)
from knowledge.validation import MAX_TAG, MAX_TAGS, as_id, within
from mcp_gateway.cursors import place_of
from mcp_gateway.payloads.folders import Folders
from mcp_gateway.payloads.identity import Identity
from mcp_gateway.payloads.items import Added, ItemText, RecentItems
from mcp_gateway.payloads.search import SearchResults
from mcp_gateway.tool_table import schema_field, tool
from tokens import identity
from tokens.models import Token, Toolset

MAX_CHARS = 100_000
ADDING_SECONDS = 120
"""A link is fetched and read while the caller waits."""

Tag = Annotated[str, schema_field(minLength=1, maxLength=MAX_TAG)]
Type = Annotated[str, schema_field(enum=list(ItemType.values))]


@tool(Toolset.LIBRARY, title="Search the knowledge base", ask=Ask.SEARCH)
def search_knowledge_base(
    access: Access,
    query: Annotated[str, schema_field(minLength=1, maxLength=MAX_QUERY)],
    limit: Annotated[int, schema_field(minimum=1, maximum=MAX_LIMIT)] = 8,
    mode: Annotated[
        str,
        schema_field(
            "semantic: paraphrases; keyword: exact names and codes.",
            enum=list(MODES),
        ),
    ] = "hybrid",
    folder_id: Annotated[
        str | None, schema_field("As list_folders names it.", format="uuid")
    ] = None,
    types: list[Type] | None = None,
    tags: Annotated[list[Tag] | None, schema_field("All of these.")] = None,
    since: Annotated[str | None, schema_field("ISO date or datetime, or 7d, 2w, 3m.")] = None,
    fold: Annotated[bool, schema_field("Merge hits that say the same.")] = True,
    explain: bool = False,
    window: Annotated[
        int, schema_field("Chunks around each hit.", minimum=0, maximum=MAX_WINDOW)
    ] = 0,
) -> SearchResults:
    """Search the library: the best passages, with score (0 to 1), link and id. For what agents
    remembered use search. Read on with get_item."""
    narrowing = Narrowing(
        folder_id=None if folder_id is None else as_id(folder_id, field="folder_id"),
        types=types or (),
        tags=tags or (),
        since=since,
    )
    request = LibrarySearchRequest(
        query=query,
        limit=limit,
        mode=mode,
        narrowing=narrowing,
        fold=fold,
        explain=explain,
        window=window,
    )
    return SearchResults.of(search(access, request))


@tool(Toolset.LIBRARY, title="Read an item", ask=Ask.GET_ITEM)
def get_item(
    access: Access,
    item_id: Annotated[str, schema_field("A user_item_id.", format="uuid")],
    offset: Annotated[int, schema_field(minimum=0)] = 0,
    max_chars: Annotated[int, schema_field(minimum=1, maximum=MAX_CHARS)] = 20_000,
) -> ItemText:
    """Read an item's text and state, in parts: go on at next_offset until it is null. Call again
    later while transcription_status is queued or transcribing. fetch reads the text at once."""
    within(max_chars, field="max_chars", low=1, high=MAX_CHARS)
    item = library.get_item(access, as_id(item_id, field="item_id"))
    within(offset, field="offset", low=0, high=len(item.content.text))
    return ItemText.part(item, offset, max_chars)


@tool(Toolset.LIBRARY, title="List recent items", ask=Ask.LIST_RECENT)
def list_recent(
    access: Access,
    limit: Annotated[int, schema_field(minimum=1, maximum=MAX_RECENT)] = 20,
    cursor: Annotated[str | None, schema_field("The next_cursor before.")] = None,
) -> RecentItems:
    """List the newest items, without their texts; with a cursor, older ones."""
    return RecentItems.of(library.list_recent(access, limit=limit, before=place_of(cursor)))


@tool(Toolset.LIBRARY, title="List folders", ask=Ask.LIST_FOLDERS)
def list_folders(access: Access) -> Folders:
    """List the folders within reach, with ids and item counts."""
    return Folders.of(library.list_folders(access))


@tool(
    Toolset.LIBRARY,
    title="Add to the knowledge base",
    ask=Ask.ADD,
    is_open_world=True,
    seconds=ADDING_SECONDS,
)
def add_to_knowledge(
    access: Access,
    kind: Annotated[str, schema_field(enum=list(KINDS))],
    url: Annotated[str | None, schema_field("A page, video, podcast or audio link.")] = None,
    text: Annotated[str | None, schema_field(minLength=MIN_TEXT, maxLength=MAX_TEXT)] = None,
    title: Annotated[
        str | None, schema_field("Of a text.", minLength=1, maxLength=MAX_TITLE)
    ] = None,
    in_kb: Annotated[bool, schema_field("Make it searchable.")] = True,
    auto_transform: Annotated[bool, schema_field("Also write a summary.")] = False,
    tags: Annotated[list[Tag] | None, schema_field(maxItems=MAX_TAGS)] = None,
    folder_id: Annotated[str | None, schema_field("File it in this folder.", format="uuid")] = None,
) -> Added:
    """Add a link or a text as a document; what you learned goes to add. Status ready: it can be
    read now; transcribing: poll get_item. Files go through the REST API."""
    return Added.of(
        adding.add_to_knowledge(
            access,
            kind=kind,
            url=url,
            text=text,
            title=title,
            in_kb=in_kb,
            auto_transform=auto_transform,
            tags=tags or (),
            folder_id=None if folder_id is None else as_id(folder_id, field="folder_id"),
        )
    )


@tool(Toolset.LIBRARY, title="Who am I", ask=Ask.WHOAMI)
def whoami(token: Token) -> Identity:
    """Tell who this token is, what it may do and reach, and what is left of its limits."""
    return Identity.model_validate(identity.whoami(token))
