"""The tools of documentation sources: each translates, asks the domain one thing, and shapes."""

from typing import Annotated

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.crawling import documentation
from knowledge.crawling.documentation import (
    DEPTH,
    MAX_NAME,
    MAX_PATTERN,
    MAX_PATTERNS,
    PAGES,
)
from knowledge.errors import InvalidInput
from knowledge.models.documentation import MAX_DEPTH, MAX_PAGES
from knowledge.sources.extracted import MAX_PAGE_URL
from knowledge.validation import as_id
from mcp_gateway.payloads.sources import Crawl, SourceList
from mcp_gateway.tool_table import schema_field, tool
from tokens.models import Toolset

Pattern = Annotated[str, schema_field(minLength=1, maxLength=MAX_PATTERN)]


@tool(Toolset.MEMORY, title="List documentation sources", ask=Ask.SOURCES)
def list_sources(
    access: Access,
    source_id: Annotated[str | None, schema_field("Only this one.", format="uuid")] = None,
) -> SourceList:
    """List the documentation sites in the library, and how far the crawl of each is."""
    if source_id is None:
        return SourceList.of(documentation.list_sources(access))
    return SourceList.of([documentation.get_source(access, as_id(source_id, field="source_id"))])


@tool(
    Toolset.MEMORY,
    title="Crawl a documentation site",
    ask=Ask.CRAWL,
    is_open_world=True,
)
def crawl_source(
    access: Access,
    source_id: Annotated[
        str | None, schema_field("To refresh it; then nothing else.", format="uuid")
    ] = None,
    name: Annotated[str | None, schema_field(minLength=1, maxLength=MAX_NAME)] = None,
    start_url: Annotated[str | None, schema_field(maxLength=MAX_PAGE_URL)] = None,
    include: Annotated[
        list[Pattern] | None,
        schema_field("Only such paths: /docs/*.", maxItems=MAX_PATTERNS),
    ] = None,
    exclude: Annotated[list[Pattern] | None, schema_field(maxItems=MAX_PATTERNS)] = None,
    depth: Annotated[
        int, schema_field("Links from the start.", minimum=1, maximum=MAX_DEPTH)
    ] = DEPTH,
    max_pages: Annotated[int, schema_field(minimum=1, maximum=MAX_PAGES)] = PAGES,
    folder_id: Annotated[
        str | None, schema_field("Where to file its pages.", format="uuid")
    ] = None,
) -> Crawl:
    """Add a documentation site by name and start_url, or refresh one by source_id. Its pages
    become items in the background; list_sources tells how far it is."""
    if source_id is not None:
        if name is not None or start_url is not None:
            raise InvalidInput(
                "Give source_id to refresh a source, or name and start_url to add one, not both.",
                field="source_id",
            )
        again = documentation.crawl_again(access, as_id(source_id, field="source_id"))
        return Crawl.of(again)
    return Crawl.of(
        documentation.add_source(
            access,
            name=_require(name, "name"),
            start_url=_require(start_url, "start_url"),
            include=include or (),
            exclude=exclude or (),
            depth=depth,
            max_pages=max_pages,
            folder_id=None if folder_id is None else as_id(folder_id, field="folder_id"),
        )
    )


def _require(value: str | None, field: str) -> str:
    if value is None:
        raise InvalidInput(f"{field} is required, unless source_id is given.", field=field)
    return value
