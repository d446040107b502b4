"""The library's tools: each translates, asks the domain one thing, and shapes the answer."""

from typing import Annotated

from knowledge import ingestion, library
from knowledge.access import Access, Capability
from knowledge.ingestion import KINDS, MAX_TEXT, MIN_TEXT
from knowledge.library import MAX_RECENT
from knowledge.models import ItemType
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import MAX_LIMIT, MAX_QUERY, MODES, search
from knowledge.shelving import MAX_TITLE
from knowledge.validation import MAX_TAG, MAX_TAGS, as_id, within
from mcp_gateway.cursors import place_of
from mcp_gateway.payloads.identity import Identity
from mcp_gateway.payloads.items import Added, ItemText, RecentItems
from mcp_gateway.payloads.search import SearchResults
from mcp_gateway.registry import shown, tool
from tokens import identity
from tokens.models import Token, Toolset

MAX_CHARS = 100_000
ADDING_SECONDS = 120
"""A link is fetched and read while the caller waits."""

Tag = Annotated[str, shown(minLength=1, maxLength=MAX_TAG)]
Type = Annotated[str, shown(enum=list(ItemType.values))]


@tool(Toolset.LIBRARY, title="Search the knowledge base", ask="search")
def search_knowledge_base(
    access: Access,
    query: Annotated[str, shown("What to find.", minLength=1, maxLength=MAX_QUERY)],
    limit: Annotated[int, shown("Most passages to answer.", minimum=1, maximum=MAX_LIMIT)] = 8,
    mode: Annotated[
        str,
        shown(
            "semantic finds paraphrases, keyword exact names and codes, hybrid both.",
            enum=list(MODES),
        ),
    ] = "hybrid",
    folder_id: Annotated[str | None, shown("Only in this folder.", format="uuid")] = None,
    types: Annotated[list[Type] | None, shown("Only items of these types.")] = None,
    tags: Annotated[list[Tag] | None, shown("Only items with all these tags.")] = None,
    since: Annotated[
        str | None, shown("Only items added since: an ISO date or datetime, or 7d, 2w, 3m, 1y.")
    ] = None,
    fold: Annotated[bool, shown("Fold hits of one item that say the same into one.")] = True,
    explain: Annotated[bool, shown("Say which words matched and why a hit is visible.")] = False,
) -> SearchResults:
    """Search the library and get the passages that answer best, each with its score (0 to 1),
    its source link and its user_item_id. Read more of a hit with get_item."""
    narrowing = Narrowing(
        folder_id=None if folder_id is None else as_id(folder_id, field="folder_id"),
        types=types or (),
        tags=tags or (),
        since=since,
    )
    answer = search(
        access,
        query=query,
        limit=limit,
        mode=mode,
        narrowing=narrowing,
        fold=fold,
        explain=explain,
    )
    return SearchResults.of(answer)


@tool(Toolset.LIBRARY, title="Read an item", ask="get_item")
def get_item(
    access: Access,
    item_id: Annotated[str, shown("The user_item_id of a hit or listing.", format="uuid")],
    offset: Annotated[int, shown("Character to begin at.", minimum=0)] = 0,
    max_chars: Annotated[int, shown("Most characters.", minimum=1, maximum=MAX_CHARS)] = 20_000,
) -> ItemText:
    """Read one item's text and state. Long texts come in parts: call again with next_offset
    until it is null. While transcription_status is queued or transcribing, call again later."""
    within(max_chars, field="max_chars", low=1, high=MAX_CHARS)
    item = library.get_item(access, as_id(item_id, field="item_id"))
    within(offset, field="offset", low=0, high=len(item.content.text))
    return ItemText.part(item, offset, max_chars)


@tool(Toolset.LIBRARY, title="List recent items", ask="list_recent")
def list_recent(
    access: Access,
    limit: Annotated[int, shown("Most items to answer.", minimum=1, maximum=MAX_RECENT)] = 20,
    cursor: Annotated[str | None, shown("The next_cursor of the answer before.")] = None,
) -> RecentItems:
    """List the newest items of the library, without their texts; with a cursor, older ones."""
    return RecentItems.of(library.list_recent(access, limit=limit, before=place_of(cursor)))


@tool(
    Toolset.LIBRARY,
    title="Add to the knowledge base",
    ask="add",
    needs=Capability.WRITE,
    is_open_world=True,
    seconds=ADDING_SECONDS,
)
def add_to_knowledge(
    access: Access,
    kind: Annotated[str, shown("What is added.", enum=list(KINDS))],
    url: Annotated[str | None, shown("For kind url: a page, video, podcast or audio link.")] = None,
    text: Annotated[
        str | None, shown("For kind text.", minLength=MIN_TEXT, maxLength=MAX_TEXT)
    ] = None,
    title: Annotated[str | None, shown("For kind text.", minLength=1, maxLength=MAX_TITLE)] = None,
    in_kb: Annotated[bool, shown("Make it searchable.")] = True,
    auto_transform: Annotated[bool, shown("Also write a summary.")] = False,
    tags: Annotated[list[Tag] | None, shown("Words to find it by.", maxItems=MAX_TAGS)] = None,
    folder_id: Annotated[str | None, shown("File it in this folder.", format="uuid")] = None,
) -> Added:
    """Add a link or a text to the library. Status ready means it can be read now; transcribing
    means poll get_item until transcription_status is done. Files go through the REST API."""
    return Added.of(
        ingestion.add_to_knowledge(
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


@tool(Toolset.LIBRARY, title="Who am I", ask="whoami")
def whoami(token: Token) -> Identity:
    """Tell what this token is, what it may do, which folders it reaches and what is left of its
    limits."""
    return Identity.model_validate(identity.whoami(token))
