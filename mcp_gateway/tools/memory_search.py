"""Memory's search: translates, asks the domain one thing, and shapes the answer."""

from typing import Annotated

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.memory.requests import MAX_HALF_LIFE, MAX_LIMIT, TYPES, SearchRequest
from knowledge.memory.searching import search_memory
from knowledge.retrieval.search import MAX_QUERY
from mcp_gateway.payloads.memory_search import FoundMemories
from mcp_gateway.tool_table import schema_field, tool
from tokens.models import Toolset

Type = Annotated[str, schema_field(enum=list(TYPES))]


@tool(Toolset.MEMORY, title="Search memory and documents", ask=Ask.SEARCH)
def search(
    access: Access,
    query: Annotated[str, schema_field(minLength=1, maxLength=MAX_QUERY)],
    types: list[Type] | None = None,
    language: Annotated[str | None, schema_field("Programming language.")] = None,
    category: str | None = None,
    status: Annotated[str | None, schema_field("Of tasks: todo,doing; archived for those.")] = None,
    project: Annotated[str | None, schema_field(format="uuid")] = None,
    assignee: str | None = None,
    source: Annotated[str | None, schema_field("Same as source_name.")] = None,
    source_id: Annotated[str | None, schema_field(format="uuid")] = None,
    source_name: Annotated[str | None, schema_field("Part of a source's name.")] = None,
    since: Annotated[str | None, schema_field("ISO date or datetime, or 7d, 2w.")] = None,
    temporal_decay_days: Annotated[
        float | None,
        schema_field("Half-life; else age only tips.", exclusiveMinimum=0, maximum=MAX_HALF_LIFE),
    ] = None,
    limit: Annotated[int, schema_field(minimum=1, maximum=MAX_LIMIT)] = 10,
    include_content: Annotated[bool, schema_field("Else short previews.")] = True,
    include_documents: bool = True,
    include_graph: Annotated[bool, schema_field("What was remembered.")] = True,
    use_enhanced: Annotated[bool, schema_field("Rerank; raise related items.")] = True,
    boost_recent: bool = True,
) -> FoundMemories:
    """Search what was remembered (patterns, rules, episodes, tasks …) and documents together, one
    result an item. For passages of documents alone use search_knowledge_base. Read with fetch."""
    request = SearchRequest(
        query=query,
        types=types,
        language=language,
        category=category,
        status=status,
        project=project,
        assignee=assignee,
        source=source,
        source_id=source_id,
        source_name=source_name,
        since=since,
        temporal_decay_days=temporal_decay_days,
        limit=limit,
        include_content=include_content,
        include_documents=include_documents,
        include_graph=include_graph,
        use_enhanced=use_enhanced,
        boost_recent=boost_recent,
    )
    return FoundMemories.of(search_memory(access, request))
