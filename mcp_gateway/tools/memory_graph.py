"""The tools that walk memory: one explores it, one puts together what bears on a goal."""

from typing import Annotated

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.memory import contexts, exploring
from knowledge.memory.contexts import MAX_BUDGET, MIN_BUDGET
from knowledge.memory.exploring import MAX_DEPTH, MODES
from knowledge.memory.facets import INTENTS
from knowledge.models import ItemType, RelationType
from knowledge.retrieval.search import MAX_QUERY
from knowledge.validation import as_id
from mcp_gateway.payloads.memory_graph import ContextPack, Explored
from mcp_gateway.tool_table import schema_field, tool
from tokens.models import Toolset

Type = Annotated[str, schema_field(enum=list(ItemType.values))]
RelationshipType = Annotated[str, schema_field(enum=list(RelationType.values))]


@tool(Toolset.MEMORY, title="Explore memory", ask=Ask.EXPLORE)
def explore(
    access: Access,
    mode: Annotated[str, schema_field(enum=list(MODES))] = "list",
    types: list[Type] | None = None,
    entity_id: Annotated[str | None, schema_field("For all modes but list.", format="uuid")] = None,
    relationship_types: list[RelationshipType] | None = None,
    depth: Annotated[int, schema_field("For traverse.", minimum=1, maximum=MAX_DEPTH)] = 1,
    language: str | None = None,
    category: str | None = None,
    project: Annotated[str | None, schema_field(format="uuid")] = None,
    status: Annotated[str | None, schema_field("Such as todo,doing.")] = None,
    limit: Annotated[int, schema_field(minimum=1, maximum=exploring.MAX_LIMIT)] = 50,
) -> Explored:
    """List memory newest first, show what is related to an entity, traverse from it, or order the
    dependencies of a task or project for work, with cycles."""
    request = exploring.ExploreRequest(
        mode=mode,
        types=types or (),
        entity_id=None if entity_id is None else as_id(entity_id, field="entity_id"),
        relationship_types=relationship_types or (),
        depth=depth,
        language=language,
        category=category,
        project=None if project is None else as_id(project, field="project"),
        status=status,
        limit=limit,
    )
    return Explored.of(exploring.explore(access, request))


@tool(Toolset.MEMORY, title="Context for a goal", ask=Ask.CONTEXT)
def context(
    access: Access,
    goal: Annotated[str, schema_field(minLength=1, maxLength=MAX_QUERY)],
    intent: Annotated[str, schema_field(enum=list(INTENTS))] = "general",
    project: Annotated[str | None, schema_field(format="uuid")] = None,
    limit: Annotated[int, schema_field(minimum=1, maximum=contexts.MAX_LIMIT)] = 24,
    token_budget: Annotated[int, schema_field(minimum=MIN_BUDGET, maximum=MAX_BUDGET)] = 4_000,
) -> ContextPack:
    """Before work on a goal, get what memory knows of it (tasks, rules, decisions, gotchas, prior
    art), each with its reason, as markdown within the budget."""
    return ContextPack.of(
        contexts.context(
            access,
            goal=goal,
            intent=intent,
            project=None if project is None else as_id(project, field="project"),
            limit=limit,
            token_budget=token_budget,
        )
    )
