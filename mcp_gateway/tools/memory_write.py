"""The tools that write memory: one remembers, one works on tasks."""

from typing import Annotated, Any

from knowledge.access import Access
from knowledge.asks import Ask
from knowledge.memory import remembering, task_changes
from knowledge.memory.actions import ACTIONS
from knowledge.memory.remembering import ENTITY_TYPES, MAX_CONTENT, MAX_MEMORY_TITLE
from knowledge.models.attributes import PRIORITIES
from knowledge.validation import as_id
from mcp_gateway.payloads.memory_write import Managed, Remembered
from mcp_gateway.tool_table import schema_field, tool
from tokens.models import Toolset


@tool(Toolset.MEMORY, title="Remember", ask=Ask.REMEMBER)
def add(
    access: Access,
    title: Annotated[str, schema_field(minLength=1, maxLength=MAX_MEMORY_TITLE)],
    content: Annotated[str, schema_field(minLength=1, maxLength=MAX_CONTENT)],
    entity_type: Annotated[str, schema_field(enum=list(ENTITY_TYPES))] = "episode",
    category: str | None = None,
    languages: Annotated[list[str] | None, schema_field("Of programming.")] = None,
    tags: list[str] | None = None,
    related_to: Annotated[
        list[str] | None,
        schema_field(
            "Ids, or predicate:id with supersedes, contradicts, requires, supports, decides."
        ),
    ] = None,
    metadata: dict[str, Any] | None = None,
    project: Annotated[str | None, schema_field("Id; a task needs it.")] = None,
    priority: Annotated[str | None, schema_field(enum=list(PRIORITIES))] = None,
    assignees: list[str] | None = None,
    due_date: Annotated[str | None, schema_field(format="date")] = None,
    depends_on: Annotated[list[str] | None, schema_field("Ids of tasks.")] = None,
) -> Remembered:
    """Remember a learning, pattern, rule, template, topic, project or task; a link or document
    goes to add_to_knowledge. Answers its id and conflicts: what says nearly the same."""
    return Remembered.of(
        remembering.add(
            access,
            title=title,
            content=content,
            entity_type=entity_type,
            category=category,
            languages=languages,
            tags=tags,
            related_to=related_to,
            metadata=metadata,
            project=project,
            priority=priority,
            assignees=assignees,
            due_date=due_date,
            depends_on=depends_on,
        )
    )


@tool(Toolset.MEMORY, title="Work on a task", ask=Ask.MANAGE_TASK)
def manage(
    access: Access,
    action: Annotated[str, schema_field(enum=list(ACTIONS))],
    entity_id: Annotated[str, schema_field(format="uuid")],
    data: Annotated[
        dict[str, Any] | None,
        schema_field(
            "block_task: reason. complete_task: learnings. add_note: note. update_task: title, "
            "content, status, priority, assignees, due_date, category, tags, languages, project, "
            "metadata, depends_on."
        ),
    ] = None,
) -> Managed:
    """Move a task through its workflow, change it, or add a note. From backlog, update_task with
    status todo comes before start_task. Answers the next_moves."""
    task_id = as_id(entity_id, field="entity_id")
    return Managed.of(task_changes.manage(access, action=action, entity_id=task_id, data=data))
