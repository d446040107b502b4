"""What items of each memory type say of themselves: typed, checked, and found by one index."""

import json
from collections.abc import Callable, Mapping
from datetime import date
from math import isfinite
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from knowledge.errors import InvalidInput
from knowledge.models import ItemType
from knowledge.validation import MAX_TAG, UNBROKEN_TEXT, clean_line, clean_text, storage_faults

TaskStatus = Literal["backlog", "todo", "doing", "blocked", "review", "done", "archived"]
Priority = Literal["critical", "high", "medium", "low", "someday"]
TASK_STATUSES: tuple[str, ...] = get_args(TaskStatus)
PRIORITIES: tuple[str, ...] = get_args(Priority)
MAX_LANGUAGES = 20
MAX_ASSIGNEES = 20
MAX_REASON = 1_000
MAX_METADATA = 10_000
MAX_METADATA_DEPTH = 5


def check_attributes(type: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A new item's attributes as they are stored: by its type's schema, empty ones left out."""
    return _without_empty(_validate(_SCHEMAS[ItemType(type)], given, f"attributes of type {type}"))


def check_task_changes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Other values for some attributes of a task; an empty one takes the old value away."""
    return _validate(TaskChanges, given, "attributes of a task")


def merge_attributes(old: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes as they are stored after changes that were checked."""
    return _without_empty({**old, **changes})


# The values -----------------------------------------------------------------------------------


def _line(value: str) -> str:
    return _as_value_error(clean_line, value, longest=MAX_TAG)


def _word(value: str) -> str:
    return _line(value).lower()


def _reason(value: str) -> str:
    return _as_value_error(clean_text, value, shortest=1, longest=MAX_REASON)


def _as_value_error(clean: Callable[..., str], value: str, **rules: int) -> str:
    """Check a value by the common rule; its InvalidInput becomes a ValueError for pydantic."""
    try:
        return clean(value, field="it", **rules)
    except InvalidInput as error:
        raise ValueError(error.message.removeprefix("it ").removesuffix(".")) from None


def _each_once(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _id(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise ValueError("must be a UUID") from None


def _day(value: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise ValueError("must be an ISO date such as 2026-05-01") from None


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """JSON that Postgres can hold, neither deep nor large."""
    _refuse_unstorable(value, MAX_METADATA_DEPTH)
    if (size := len(json.dumps(value, ensure_ascii=False))) > MAX_METADATA:
        raise ValueError(f"must have at most {MAX_METADATA:,} characters as JSON; it has {size:,}")
    return value


def _refuse_unstorable(value: object, depth: int) -> None:
    if isinstance(value, (dict, list)):
        if not depth:
            raise ValueError(f"must be nested at most {MAX_METADATA_DEPTH} deep")
        for inner in (*value, *value.values()) if isinstance(value, dict) else value:
            _refuse_unstorable(inner, depth - 1)
    elif isinstance(value, str):
        _refuse_unstorable_text(value)
    elif isinstance(value, float) and not isfinite(value):
        raise ValueError("must have finite numbers only")


def _refuse_unstorable_text(value: str) -> None:
    for fault in storage_faults(value):
        raise ValueError(fault.replace("contains", "must not contain"))


Line = Annotated[str, AfterValidator(_line)]
Word = Annotated[str, AfterValidator(_word)]
Id = Annotated[str, AfterValidator(_id)]
Languages = Annotated[list[Word], Field(max_length=MAX_LANGUAGES), AfterValidator(_each_once)]
Assignees = Annotated[list[Line], Field(max_length=MAX_ASSIGNEES), AfterValidator(_each_once)]
Metadata = Annotated[dict[str, Any], AfterValidator(_storable)]


# The schemas ----------------------------------------------------------------------------------


class ProjectAttributes(BaseModel):
    """Attributes that every memory item may have; anything else goes in metadata."""

    model_config = ConfigDict(strict=True, extra="forbid")

    category: Word | None = None
    languages: Languages = []
    metadata: Metadata = {}


class KnowledgeAttributes(ProjectAttributes):
    """What is learned may belong to a project."""

    project: Id | None = None


class TaskChanges(KnowledgeAttributes):
    """What of a task can be changed by itself."""

    status: TaskStatus = "backlog"
    priority: Priority = "medium"
    assignees: Assignees = []
    due_date: Annotated[str, AfterValidator(_day)] | None = None
    blocked_reason: Annotated[str, AfterValidator(_reason)] | None = None


class TaskAttributes(TaskChanges):
    """A task belongs to a project, always."""

    project: Id


_SCHEMAS: dict[ItemType, type[ProjectAttributes]] = {
    ItemType.PATTERN: KnowledgeAttributes,
    ItemType.RULE: KnowledgeAttributes,
    ItemType.TEMPLATE: KnowledgeAttributes,
    ItemType.TOPIC: KnowledgeAttributes,
    ItemType.EPISODE: KnowledgeAttributes,
    ItemType.TASK: TaskAttributes,
    ItemType.PROJECT: ProjectAttributes,
}


# The check ------------------------------------------------------------------------------------


def _validate(
    schema: type[ProjectAttributes], given: Mapping[str, Any], what: str
) -> dict[str, Any]:
    is_partial = schema is TaskChanges
    try:
        return schema.model_validate(dict(given)).model_dump(exclude_unset=is_partial)
    except ValidationError as error:
        raise _explain(error, list(schema.model_fields), what) from None


def _without_empty(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value not in (None, [], {})}


def _explain(error: ValidationError, known: list[str], what: str) -> InvalidInput:
    """Every fault with its path, the first of them in the sentence."""
    details = error.errors(include_url=False, include_input=False)
    faults = [
        {"path": _printable(fault["loc"]), "message": _message(fault, known, what)}
        for fault in details
    ]
    field, message = faults[0].values()
    allowed = known if details[0]["type"] == "extra_forbidden" else list(_WORDS.get(field, ()))
    more = {"allowed": allowed} if allowed else {}
    return InvalidInput(f"{field} {message}.", field=field, faults=faults, **more)


def _printable(path: tuple[int | str, ...]) -> str:
    joined = ".".join(str(part) for part in path)
    return joined[:100].encode("ascii", "backslashreplace").decode() or "attributes"


_WORDS = {"status": TASK_STATUSES, "priority": PRIORITIES}
_KINDS = {
    "string_type": "a string",
    "string_unicode": UNBROKEN_TEXT,
    "list_type": "a list",
    "dict_type": "an object",
}


def _message(fault: ErrorDetails, known: list[str], what: str) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return f"is not among the {what}: {', '.join(known)}; put anything else under metadata"
    if kind == "literal_error":
        return f"must be one of: {', '.join(_WORDS[str(fault['loc'][0])])}"
    if kind == "too_long":
        return f"may have at most {context['max_length']} entries"
    if kind == "value_error":
        return str(context["error"])
    return f"must be {_KINDS[kind]}" if kind in _KINDS else fault["msg"]
