"""The tools that write memory: one remembers, one works on tasks."""

from typing import Annotated, Any

from knowledge.access import Access, Capability
from knowledge.attributes import PRIORITIES
from knowledge.memory import remembering, work
from knowledge.memory.actions import ACTIONS
from knowledge.memory.remembering import ENTITY_TYPES, MAX_CONTENT, MAX_TITLE
from knowledge.validation import as_id
from mcp_gateway.payloads.memory_write import Managed, Remembered
from mcp_gateway.registry import shown, tool
from tokens.models import Toolset


@tool(Toolset.MEMORY, title="Remember", ask="remember", needs=Capability.WRITE)
def add(
    access: Access,
    title: Annotated[str, shown(minLength=1, maxLength=MAX_TITLE)],
    content: Annotated[str, shown("What to remember.", minLength=1, maxLength=MAX_CONTENT)],
    entity_type: Annotated[str, shown(enum=list(ENTITY_TYPES))] = "episode",
    category: str | None = None,
    languages: Annotated[list[str] | None, shown("Programming languages.")] = None,
    tags: list[str] | None = None,
    related_to: Annotated[
        list[str] | None,
        shown("Ids, or predicate:id with supersedes, contradicts, requires, supports, decides."),
    ] = None,
    metadata: Annotated[dict[str, Any] | None, shown("Anything else to keep.")] = None,
    project: Annotated[str | None, shown("A project's id; a task needs it.")] = None,
    priority: Annotated[str | None, shown("Of a task.", enum=list(PRIORITIES))] = None,
    assignees: Annotated[list[str] | None, shown("Of a task.")] = None,
    due_date: Annotated[str | None, shown("Of a task.", format="date")] = None,
    depends_on: Annotated[list[str] | None, shown("Ids of tasks that come first.")] = None,
) -> Remembered:
    """Remember a learning, pattern, rule, template, topic, project or task. Answers its id, the
    links made and conflicts: what is there already that says nearly the same."""
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


@tool(Toolset.MEMORY, title="Work on a task", ask="manage_task", needs=Capability.WRITE)
def manage(
    access: Access,
    action: Annotated[str, shown(enum=list(ACTIONS))],
    entity_id: Annotated[str, shown("The task's id.", format="uuid")],
    data: Annotated[
        dict[str, Any] | None,
        shown(
            "block_task: reason. complete_task: learnings. add_note: note. update_task: title, "
            "content, status, priority, assignees, due_date, category, tags, languages, project, "
            "metadata, depends_on."
        ),
    ] = None,
) -> Managed:
    """Move a task through its workflow, change it, or add a note. A new task is in backlog:
    update_task with status todo comes first, then start_task. Answers the next_moves; any other
    is refused."""
    task_id = as_id(entity_id, field="entity_id")
    return Managed.of(work.manage(access, action=action, entity_id=task_id, data=data))
