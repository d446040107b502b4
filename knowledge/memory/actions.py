"""Reads an action on a task: which data each takes, and what it changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from knowledge.errors import InvalidInput
from knowledge.memory.remembering import (
    MAX_MEMORY_TITLE,
    Link,
    clean_content,
    dependencies,
)
from knowledge.memory.workflow import LEADS_TO
from knowledge.models import RelationType
from knowledge.models.attributes import check_task_changes
from knowledge.validation import clean_line, clean_tags, one_of

TAKES: dict[str, tuple[str, ...]] = {
    "start_task": (),
    "block_task": ("reason",),
    "unblock_task": (),
    "submit_review": (),
    "complete_task": ("learnings",),
    "archive_task": (),
    "update_task": (
        *("title", "content", "status", "priority", "assignees", "due_date", "category"),
        *("tags", "languages", "project", "metadata", "depends_on"),
    ),
    "add_note": ("note",),
}
"""The keys of `data` that each action knows."""
ACTIONS = tuple(TAKES)

_ATTRIBUTES = (
    *("status", "priority", "assignees", "due_date", "category"),
    *("languages", "project", "metadata"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeText:
    """A text that becomes an episode beside the task."""

    text: str
    field: str
    category: str
    opening: str
    relation: RelationType


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAction:
    """Changes to a task; a field that is None stays as it is."""

    action: str
    status: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None
    text: str | None = None
    tags: list[str] | None = None
    project: Link | None = None
    depends_on: list[Link] | None = None
    saying: EpisodeText | None = None

    @property
    def links(self) -> list[Link]:
        """What the task is to be related to."""
        return [*([self.project] if self.project else []), *(self.depends_on or [])]

    @property
    def words(self) -> dict[str, Any]:
        """All that it would have the task itself say."""
        said = {"title": self.title, "content": self.text, "tags": self.tags, **self.attributes}
        return {name: value for name, value in said.items() if value is not None}


def read_action(action: str, data: Mapping[str, Any] | None) -> TaskAction:
    """Check an action and its data, and return the changes it makes."""
    one_of(action, ACTIONS, field="action")
    given = _refuse_unknown(action, {} if data is None else data)
    if action == "update_task":
        return _update(given)
    return TaskAction(
        action=action,
        status=LEADS_TO.get(action),
        attributes=_reason(given),
        saying=_saying(action, given),
    )


def _refuse_unknown(action: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    takes = TAKES[action]
    said = f"{action} takes in data: {', '.join(takes)}" if takes else f"{action} takes no data"
    if not isinstance(data, Mapping):
        raise InvalidInput(f"data must be an object; {said}.", field="data", allowed=list(takes))
    if unknown := sorted(set(data) - set(takes)):
        name = unknown[0][:60].encode("ascii", "backslashreplace").decode()
        raise InvalidInput(
            f"{name} is not known here; {said}.", field=f"data.{name}", allowed=list(takes)
        )
    if action in ("update_task", "add_note") and not data:
        raise InvalidInput(f"data must not be empty; {said}.", field="data", allowed=list(takes))
    return data


def _update(given: Mapping[str, Any]) -> TaskAction:
    attributes = check_task_changes({n: given[n] for n in _ATTRIBUTES if n in given})
    status = attributes.pop("status", None)
    project = attributes.get("project")
    if "project" in given and project is None:
        raise InvalidInput("project must be the id of a project; a task has one.", field="project")
    return TaskAction(
        action="update_task",
        status=status,
        attributes=attributes,
        title=clean_line(given["title"], field="title", longest=MAX_MEMORY_TITLE)
        if "title" in given
        else None,
        text=clean_content(given["content"], field="content") if "content" in given else None,
        tags=clean_tags(_list(given["tags"], field="tags")) if "tags" in given else None,
        project=(RelationType.BELONGS_TO, UUID(project)) if project else None,
        depends_on=dependencies(_list(given["depends_on"], field="depends_on"))
        if "depends_on" in given
        else None,
    )


def _list(value: object, *, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{field} must be a list.", field=field)
    return value


def _reason(given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("reason") is None:
        return {}
    try:
        return check_task_changes({"blocked_reason": given["reason"]})
    except InvalidInput as error:
        message = error.message.replace("blocked_reason", "reason", 1)
        raise InvalidInput(message, field="reason") from None


def _saying(action: str, given: Mapping[str, Any]) -> EpisodeText | None:
    """What was learned, or a note: each is found by search like anything else remembered."""
    if action == "add_note":
        return EpisodeText(
            text=clean_content(given["note"], field="note"),
            field="note",
            category="note",
            opening="Note on",
            relation=RelationType.RELATED_TO,
        )
    if given.get("learnings") is None:
        return None
    return EpisodeText(
        text=clean_content(given["learnings"], field="learnings"),
        field="learnings",
        category="learning",
        opening="Learned from",
        relation=RelationType.DERIVED_FROM,
    )
