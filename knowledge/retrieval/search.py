"""The one search that every tool, route and page asks."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar
from uuid import UUID

from psycopg.rows import DictRow

from knowledge.access import Access, Capability
from knowledge.errors import ProviderUnavailable
from knowledge.generations import live_generation
from knowledge.models import Chunk, Filing, Item
from knowledge.retrieval import semantic
from knowledge.retrieval.keyword import KeywordQuery, matched_words, read_query
from knowledge.retrieval.passages import (
    WordPairs,
    best_passage,
    say_the_same,
    word_matcher,
    word_pairs,
)
from knowledge.retrieval.scope import Narrowing, scope_of
from knowledge.retrieval.statement import ranked
from knowledge.retrieval.statistics import corpus
from knowledge.validation import clean_text, one_of, within

logger = logging.getLogger(__name__)

MODES = ("semantic", "keyword", "hybrid")
MAX_QUERY = 2_000
MAX_LIMIT = 20
MAX_OFFSET = 10_000
# All that an answer says of them; reading whole rows took longer than the search itself.
_CHUNK_FIELDS = ("item", "start", "end", "text", "locator")
_ITEM_FIELDS = ("custom_title", "type", "content__title", "content__canonical_url")


@dataclass(frozen=True, slots=True)
class Signal:
    """How one way of searching saw a hit; no rank means it did not bring the hit itself."""

    rank: int | None
    score: float


@dataclass(frozen=True, slots=True)
class Locator:
    """Where in its source a hit stands."""

    page: int | None
    start_sec: float | None
    char_span: tuple[int, int]
    url: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit is one: the query's words it has, and what lets the caller see it."""

    matched_terms: list[str]
    visible_by: str
    folder_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that answers the query, and where it stands."""

    score: float
    semantic: Signal
    cosine: float | None
    keyword: Signal
    item: Item
    chunk: Chunk
    passage: str
    highlights: tuple[tuple[int, int], ...]
    similar_chunk_ids: tuple[int, ...] = ()
    explanation: Explanation | None = None
    untrusted: ClassVar[bool] = True

    @property
    def locator(self) -> Locator:
        return Locator(
            page=self.chunk.locator.get("page"),
            start_sec=self.chunk.locator.get("start_sec"),
            char_span=(self.chunk.start, self.chunk.end),
            url=self.url,
        )

    @property
    def url(self) -> str:
        """A link to this very place: in the source where it has one, else in the library."""
        if self.item.source_url:
            return self.item.source_url
        return f"quarry://items/{self.item.pk}#char={self.chunk.start},{self.chunk.end}"


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first, and whether a signal was missing."""

    hits: list[Hit]
    mode: str
    degraded: str | None


def search(
    access: Access,
    *,
    query: str,
    limit: int = 8,
    mode: str = "hybrid",
    offset: int = 0,
    narrowing: Narrowing | None = None,
    fold: bool = True,
    explain: bool = False,
) -> Answer:
    """The chunks that answer best, out of what the caller may see.

    Hits of one item that say the same are folded under the best of them, unless told otherwise.
    """
    wanted = offset + within(limit, field="limit", low=1, high=MAX_LIMIT)
    within(offset, field="offset", low=0, high=MAX_OFFSET)
    ranking = rank(
        access,
        query=query,
        mode=mode,
        limit=2 * wanted if fold else wanted,
        narrowing=narrowing or Narrowing(),
    )
    found = _with_chunks(ranking.rows)
    shown = (_folded(found, wanted) if fold else found)[offset:wanted]
    words = ranking.words or read_query(query, corpus())
    hits = _hits(access, words.spoken, shown)
    if explain:
        hits = _explained(access, words, hits)
    return Answer(hits, ranking.mode, ranking.degraded)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best chunks by id, with all their scores, and how they were found."""

    rows: list[DictRow]
    words: KeywordQuery | None
    mode: str
    degraded: str | None


def rank(access: Access, *, query: str, mode: str, limit: int, narrowing: Narrowing) -> Ranking:
    """The engine itself: which chunks, in which order."""
    access.require(Capability.READ)
    query = clean_text(query, field="query", shortest=1, longest=MAX_QUERY)
    one_of(mode, MODES, field="mode")
    scope = scope_of(access, narrowing)
    generation = live_generation()
    vector, degraded = None, None
    if mode != "keyword":
        try:
            vector = semantic.embed(generation, query)
        except ProviderUnavailable as error:
            if mode == "semantic":
                raise
            logger.warning("Search fell back to keyword", exc_info=True)
            mode, degraded = "keyword", f"Only words were searched: {error.message}"
    words = None if mode == "semantic" else read_query(query, corpus())
    rows = ranked(scope, generation, words, vector, mode=mode, limit=limit)
    return Ranking(rows, words, mode, degraded)


@dataclass(slots=True)
class _Found:
    """A ranked chunk, and those that say the same."""

    row: DictRow
    chunk: Chunk
    similar: list[int] = field(default_factory=list)


def _with_chunks(rows: Sequence[DictRow]) -> list[_Found]:
    chunks = Chunk.objects.only(*_CHUNK_FIELDS).in_bulk([row["chunk_id"] for row in rows])
    # A chunk that went while we searched is no hit any more.
    return [_Found(row, chunks[row["chunk_id"]]) for row in rows if row["chunk_id"] in chunks]


def _folded(found: Sequence[_Found], wanted: int) -> list[_Found]:
    kept: dict[UUID, list[tuple[_Found, WordPairs]]] = {}
    answer: list[_Found] = []
    for each in found:
        siblings = kept.setdefault(each.chunk.item_id, [])
        pairs = word_pairs(each.chunk.text)
        same = next((better for better, seen in siblings if say_the_same(pairs, seen)), None)
        if same:
            same.similar.append(each.chunk.pk)
            continue
        if len(answer) == wanted:
            break
        siblings.append((each, pairs))
        answer.append(each)
    return answer


def _hits(access: Access, words: Sequence[str], found: Sequence[_Found]) -> list[Hit]:
    items = _items(access, {each.chunk.item_id for each in found})
    matcher = word_matcher(words)
    hits = []
    for each in found:
        if each.chunk.item_id not in items:
            continue
        row, passage = each.row, best_passage(each.chunk.text, matcher)
        hits.append(
            Hit(
                score=row["score"],
                semantic=Signal(row["semantic_rank"], row["semantic_score"]),
                cosine=row["cosine"],
                keyword=Signal(row["keyword_rank"], row["keyword_score"]),
                item=items[each.chunk.item_id],
                chunk=each.chunk,
                passage=passage.text,
                highlights=passage.highlights,
                similar_chunk_ids=tuple(each.similar),
            )
        )
    return hits


def _explained(access: Access, words: KeywordQuery, hits: Sequence[Hit]) -> list[Hit]:
    matched = matched_words(words, [hit.chunk.pk for hit in hits])
    return [
        replace(
            hit,
            explanation=Explanation(
                matched_terms=matched.get(hit.chunk.pk, []),
                visible_by=_visible_by(access, hit.item),
                folder_id=hit.item.folder_ids[0] if hit.item.folder_ids else None,
            ),
        )
        for hit in hits
    ]


def _visible_by(access: Access, item: Item) -> str:
    if access.folder_ids is None:
        return "whole_library"
    return "folder" if item.folder_ids else "own_unfiled_addition"


def _items(access: Access, item_ids: set[UUID]) -> dict[UUID, Item]:
    visible = Item.objects.visible_to(access).select_related("content")
    items = visible.only(*_ITEM_FIELDS).in_bulk(item_ids)
    for item in items.values():
        item.seen_filings = []
    for filing in Filing.objects.visible_to(access).filter(item__in=items):
        items[filing.item_id].seen_filings.append(filing)
    return items
