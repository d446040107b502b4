"""What memory's search is asked for: built by each edge, checked here, told back as understood."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from knowledge.errors import InvalidInput
from knowledge.models import MEMORY_TYPES, ItemType
from knowledge.models.attributes import TASK_STATUSES
from knowledge.retrieval.scope import Narrowing
from knowledge.retrieval.search import MAX_OFFSET
from knowledge.validation import as_id, as_moment, one_of, within

TYPES = tuple(str(each) for each in ItemType)
MEMORY = tuple(str(each) for each in MEMORY_TYPES)
DOCUMENTS = tuple(each for each in TYPES if each not in MEMORY)
MAX_LIMIT = 50
HALF_LIFE_DAYS = 365.0
MAX_HALF_LIFE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search of memory, as its caller gave it."""

    query: str
    types: Collection[str] | None = None
    language: str | None = None
    category: str | None = None
    status: str | None = None
    project: str | UUID | None = None
    assignee: str | None = None
    source: str | None = None
    source_id: str | UUID | None = None
    source_name: str | None = None
    since: str | datetime | None = None
    temporal_decay_days: float | None = None
    """By default age decides between near equals; named, it counts in full."""
    limit: int = 10
    offset: int | None = None
    """None where an edge has no pages, which must all be cut from the same ranking."""
    include_content: bool = True
    include_documents: bool = True
    include_graph: bool = True
    use_enhanced: bool = True
    boost_recent: bool = True
    mode: str = "hybrid"

    def check(self) -> Narrowing:
        """Refuse what is outside its rule; answer the filters as the engine takes them.

        The engine itself checks the query, the mode and the words of the filters.
        """
        within(self.limit, field="limit", low=1, high=MAX_LIMIT)
        if self.offset is not None:
            within(self.offset, field="offset", low=0, high=MAX_OFFSET)
        if self.temporal_decay_days is not None:
            _check_half_life(self.temporal_decay_days)
        return Narrowing(
            types=_types_to_search(self),
            language=self.language,
            category=self.category,
            statuses=() if self.status is None else statuses_of(self.status),
            project=None if self.project is None else as_id(self.project, field="project"),
            assignee=self.assignee,
            source_id=None if self.source_id is None else as_id(self.source_id, field="source_id"),
            source_name=_source_name(self),
            since=None if self.since is None else as_moment(self.since, field="since"),
        )

    def filters(self, narrowing: Narrowing) -> dict[str, Any]:
        """What the caller narrowed the search by, as it was understood."""
        given = {
            "types": list(self.types or ()),
            "language": narrowing.language,
            "category": narrowing.category,
            "status": list(narrowing.statuses),
            "project": narrowing.project and str(narrowing.project),
            "assignee": narrowing.assignee,
            "source_id": narrowing.source_id and str(narrowing.source_id),
            "source_name": narrowing.source_name,
            "since": self.since and format_moment(narrowing.since),
        }
        return {name: value for name, value in given.items() if value}


def _check_half_life(days: float) -> None:
    if isinstance(days, bool) or not 0 < days <= MAX_HALF_LIFE:
        raise InvalidInput(
            f"temporal_decay_days must be greater than 0 and at most {MAX_HALF_LIFE:,}.",
            field="temporal_decay_days",
            exclusive_minimum=0,
            maximum=MAX_HALF_LIFE,
        )


def _types_to_search(request: SearchRequest) -> tuple[str, ...]:
    """The types to search; none named is all."""
    include_graph, include_documents = request.include_graph, request.include_documents
    if not (include_graph or include_documents):
        raise InvalidInput(
            "include_graph and include_documents are both false, which leaves nothing to search; "
            "leave one of them true.",
            field="include_graph",
        )
    named = tuple(one_of(each, TYPES, field="types") for each in request.types or ())
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


def _source_name(request: SearchRequest) -> str | None:
    source, source_name = request.source, request.source_name
    if source is not None and source_name is not None and source != source_name:
        raise InvalidInput(
            "source is another name of source_name, and they differ; give one of them.",
            field="source",
        )
    return source if source_name is None else source_name


def format_moment(moment: Any) -> str:
    """A moment as answers have it."""
    return str(moment.isoformat().replace("+00:00", "Z"))
