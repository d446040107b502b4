"""What a caller narrows memory's search by, checked, and told back as it was understood."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from knowledge.errors import InvalidInput
from knowledge.models import MEMORY_TYPES, ItemType
from knowledge.models.attributes import TASK_STATUSES
from knowledge.retrieval.scope import Narrowing
from knowledge.validation import one_of

TYPES = tuple(str(each) for each in ItemType)
MEMORY = tuple(str(each) for each in MEMORY_TYPES)
DOCUMENTS = tuple(each for each in TYPES if each not in MEMORY)


def types_of(
    asked: Collection[str], *, include_graph: bool, include_documents: bool
) -> tuple[str, ...]:
    """The types to search; none named is all."""
    if not (include_graph or include_documents):
        raise InvalidInput(
            "include_graph and include_documents are both false, which leaves nothing to search; "
            "leave one of them true.",
            field="include_graph",
        )
    named = tuple(one_of(each, TYPES, field="types") for each in asked)
    if include_graph and include_documents:
        return named
    kept, left_out_by = (
        (MEMORY, "include_documents") if include_graph else (DOCUMENTS, "include_graph")
    )
    if not (found := tuple(each for each in named or kept if each in kept)):
        raise InvalidInput(
            f"types names only {', '.join(named)}, which {left_out_by} false leaves out; "
            "change one of the two.",
            field="types",
            allowed=list(kept),
        )
    return found


def statuses_of(status: str) -> tuple[str, ...]:
    """A list by commas, as `todo,doing`."""
    words = [word.strip() for word in status.split(",")]
    return tuple(one_of(word, TASK_STATUSES, field="status") for word in dict.fromkeys(words))


def source_name_of(source: str | None, source_name: str | None) -> str | None:
    if source is not None and source_name is not None and source != source_name:
        raise InvalidInput(
            "source is another name of source_name, and they differ; give one of them.",
            field="source",
        )
    return source if source_name is None else source_name


def filters_of(
    narrowing: Narrowing, *, types: Collection[str] | None, since: str | datetime | None
) -> dict[str, Any]:
    """What the caller narrowed the search by, as it understood it."""
    given = {
        "types": list(types or ()),
        "language": narrowing.language,
        "category": narrowing.category,
        "status": list(narrowing.statuses),
        "project": narrowing.project and str(narrowing.project),
        "assignee": narrowing.assignee,
        "source_id": narrowing.source_id and str(narrowing.source_id),
        "source_name": narrowing.source_name,
        "since": since and written(narrowing.since),
    }
    return {name: value for name, value in given.items() if value}


def written(moment: Any) -> str:
    """A moment as answers have it."""
    return str(moment.isoformat().replace("+00:00", "Z"))
