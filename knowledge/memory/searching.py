"""Memory's search: what is remembered and what was read, ranked together, one result an item."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from psycopg.rows import DictRow

from knowledge.access import Access, Capability
from knowledge.memory.citations import address_of
from knowledge.memory.dates import dates_named
from knowledge.memory.ranking import (
    NEAR_THE_TOP,
    Candidate,
    Tie,
    fold_copies,
    pool_of,
    prefer_dated,
    raise_related,
    reread,
    weigh_by_age,
)
from knowledge.memory.relations import contradictions_among
from knowledge.memory.requests import MEMORY, SearchRequest, format_moment
from knowledge.models.item import rules_of
from knowledge.retrieval import visibility_sql
from knowledge.retrieval.binary_cursor import fetch
from knowledge.retrieval.duplicates import Copy
from knowledge.retrieval.passages import best_passage
from knowledge.retrieval.search import MAX_QUERY
from knowledge.retrieval.word_matcher import WordMatcher

MAX_CONTENT = 2_000
MAX_PREVIEW = 200
USAGE_HINT = "Results show their best passage; read a whole text with get_item or fetch and its id."

_ELLIPSES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryResult:
    """An item that answers the query, with its best passage."""

    id: UUID
    chunk_id: int
    type: str
    title: str
    content: str
    score: float
    source: str | None
    url: str
    metadata: dict[str, Any]
    copies: list[Copy]
    untrusted: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.title

    @property
    def user_item_id(self) -> UUID:
        return self.id

    @property
    def result_origin(self) -> str:
        return _origin(self.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    """A page of the ranking, and how much there is of it in all."""

    results: list[MemoryResult]
    total: int
    graph_count: int
    document_count: int
    query: str
    filters: dict[str, Any]
    limit: int
    offset: int
    degraded: str | None
    usage_hint: ClassVar[str] = USAGE_HINT

    @property
    def has_more(self) -> bool:
        return self.offset + len(self.results) < self.total


def search_memory(access: Access, request: SearchRequest) -> MemoryAnswer:
    """The items that answer best, remembered or read, out of what the caller may see."""
    access.require(Capability.READ)
    narrowing = request.check()
    query, offset = request.query, request.offset or 0
    # A longer one is refused by the engine; until then nothing reads it whole.
    dates = dates_named(query[:MAX_QUERY]) if request.boost_recent else ()
    has_pages = request.offset is not None or request.limit > NEAR_THE_TOP
    is_deep = has_pages or bool(dates or request.temporal_decay_days)
    pool = pool_of(access, query=query, mode=request.mode, narrowing=narrowing, is_deep=is_deep)
    if request.use_enhanced:
        reread(pool)
        raise_related(access, narrowing, pool)
    if request.boost_recent:
        weigh_by_age(pool, half_life=request.temporal_decay_days, now=timezone.now())
        prefer_dated(pool, dates)
    found = fold_copies(access, pool.best_first())
    page = found[offset : offset + request.limit]
    longest = MAX_CONTENT if request.include_content else MAX_PREVIEW
    remembered = sum(each.type in MEMORY for each in found)
    return MemoryAnswer(
        results=_results(access, page, words=pool.ranking.words.spoken, longest=longest),
        total=len(found),
        graph_count=remembered,
        document_count=len(found) - remembered,
        query=query,
        filters=request.filters(narrowing),
        limit=request.limit,
        offset=offset,
        degraded=pool.ranking.degraded,
    )


def _results(
    access: Access, page: Sequence[Candidate], *, words: Sequence[str], longest: int
) -> list[MemoryResult]:
    ids = [each.item_id for each in page]
    rows = _rows(access, page)
    contested = contradictions_among(access, ids)
    sources = _sources(access, ids)
    matcher = WordMatcher(words)
    return [
        MemoryResult(
            id=each.item_id,
            chunk_id=each.chunk_id,
            type=each.type,
            title=row["custom_title"] or row["title"],
            content=_content(row["text"], matcher, longest),
            score=each.score,
            source=sources.get(each.item_id),
            url=address_of(each.item_id, row["url"]),
            metadata=_metadata(each, row, contested.get(each.item_id, [])),
            copies=each.copies,
        )
        for each in page
        if (row := rows.get(each.item_id))  # unless it is gone since it was ranked
    ]


def _rows(access: Access, page: Sequence[Candidate]) -> dict[UUID, DictRow]:
    """What the results of a page say, by item."""
    sql, params = visibility_sql.told_items_sql(access)
    chunks = [each.chunk_id for each in page]
    rows = fetch(_ROWS.format(items=sql), {**params, "chunks": chunks}) if chunks else []
    return {row["id"]: row for row in rows}


_ROWS = """
    SELECT told.*, chunk.text
    FROM ({items}) AS told
        (id, custom_title, title, url, tags, told_attributes, suspicions, created_at, updated_at)
        JOIN knowledge_chunk AS chunk ON chunk.item_id = told.id
    WHERE chunk.id = ANY(%(chunks)s::bigint[])"""


def _sources(access: Access, item_ids: Collection[UUID]) -> dict[UUID, str]:
    """The name of the documentation source that each was crawled from, where it was."""
    sql, params = visibility_sql.crawled_pages_sql(access)
    rows = fetch(_SOURCES.format(pages=sql), {**params, "items": list(item_ids)})
    return {row["item_id"]: row["name"] for row in rows}


_SOURCES = """
    SELECT item_id, name FROM ({pages}) AS seen (item_id, name)
    WHERE item_id = ANY(%(items)s::uuid[])"""


def _content(text: str, matcher: WordMatcher, longest: int) -> str:
    if len(text) <= longest:
        return text
    longest -= _ELLIPSES
    return best_passage(text, matcher, longest=longest, least=longest).text


def _metadata(
    found: Candidate, row: Mapping[str, Any], contested_with: Sequence[UUID]
) -> dict[str, Any]:
    """What the item says of itself, then what search knows of it."""
    return {
        **_plain(row["told_attributes"]),
        "tags": row["tags"],
        "chunk_id": found.chunk_id,
        "created_at": format_moment(row["created_at"]),
        "updated_at": format_moment(row["updated_at"]),
        "recency_boost": found.recency_boost,
        "contested": bool(contested_with),
        "contested_with": [str(each) for each in contested_with],
        "related": _tie_shape(found.tie),
        "suspected": rules_of(row["suspicions"]),
    }


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Words, numbers and lists of them; what is nested is read with the item."""
    return {name: value for name, value in attributes.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return not any(isinstance(each, (dict, list)) for each in value)
    return not isinstance(value, dict)


def _tie_shape(tie: Tie | None) -> dict[str, Any] | None:
    return {"id": str(tie.to), "type": tie.type, "boost": tie.boost} if tie else None


def _origin(type: str) -> str:
    return "graph" if type in MEMORY else "document"
