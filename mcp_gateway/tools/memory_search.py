"""Memory's search: translates, asks the domain one thing, and shapes the answer."""

from typing import Annotated

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.memory.requests import MAX_HALF_LIFE, MAX_LIMIT, TYPES, SearchRequest
from knowledge.memory.searching import search_memory
from knowledge.retrieval.search import MAX_QUERY
from mcp_gateway.payloads.memory_search import FoundMemories
from mcp_gateway.tool_table import shown, tool
from tokens.models import Toolset

Type = Annotated[str, shown(enum=list(TYPES))]


@tool(Toolset.MEMORY, title="Search memory and documents", ask=Ask.SEARCH)
def search(
    access: Access,
    query: Annotated[str, shown(minLength=1, maxLength=MAX_QUERY)],
    types: list[Type] | None = None,
    language: Annotated[str | None, shown("Programming language.")] = None,
    category: str | None = None,
    status: Annotated[str | None, shown("Of tasks: todo,doing; archived for those.")] = None,
    project: Annotated[str | None, shown(format="uuid")] = None,
    assignee: str | None = None,
    source: Annotated[str | None, shown("Same as source_name.")] = None,
    source_id: Annotated[str | None, shown(format="uuid")] = None,
    source_name: Annotated[str | None, shown("Part of a source's name.")] = None,
    since: Annotated[str | None, shown("ISO date or datetime, or 7d, 2w.")] = None,
    temporal_decay_days: Annotated[
        float, shown("Half-life.", exclusiveMinimum=0, maximum=MAX_HALF_LIFE)
    ] = 365,
    limit: Annotated[int, shown(minimum=1, maximum=MAX_LIMIT)] = 10,
    include_content: Annotated[bool, shown("Else short previews.")] = True,
    include_documents: bool = True,
    include_graph: Annotated[bool, shown("What was remembered.")] = True,
    use_enhanced: Annotated[bool, shown("Rerank; raise related items.")] = True,
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
