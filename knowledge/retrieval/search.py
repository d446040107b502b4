"""The one search that every tool, route and page asks."""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar
from uuid import UUID

from psycopg.rows import DictRow

from knowledge.access import Access, Capability
from knowledge.errors import ProviderUnavailable
from knowledge.models import Chunk, Content, Filing, Item
from knowledge.retrieval import semantic
from knowledge.retrieval.duplicates import Copy, normal_form
from knowledge.retrieval.keyword import heaviest_terms, matched_words
from knowledge.retrieval.passages import (
    Passage,
    WordPairs,
    best_passage,
    say_the_same,
    word_matcher,
    word_pairs,
)
from knowledge.retrieval.query_words import KeywordQuery, configurations_of, read_query
from knowledge.retrieval.scope import Narrowing, Reach, scope_of
from knowledge.retrieval.search_metrics import count_searches
from knowledge.retrieval.statement import rank_chunks
from knowledge.text.places import link_to, mark_before
from knowledge.validation import clean_text, one_of, within

logger = logging.getLogger(__name__)

MODES = ("semantic", "keyword", "hybrid")
MAX_QUERY = 10_000
MAX_LIMIT = 20
MAX_OFFSET = 10_000
_MOST_FOLDED = 5_000
"""Chunks after which no more are asked for, however many of them say the same."""


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
    points_at: int
    """The character of its source that the locator leads to: where the query's words stand."""
    passage_span: tuple[int, int]
    """The characters of its source that the passage shows."""
    similar_chunk_ids: tuple[int, ...] = ()
    copies: tuple[Copy, ...] = ()
    explanation: Explanation | None = None
    untrusted: ClassVar[bool] = True

    @property
    def locator(self) -> Locator:
        page = mark_before(self.chunk.locator, "page", self.points_at)
        start_sec = mark_before(self.chunk.locator, "start_sec", self.points_at)
        return Locator(
            page=page,
            start_sec=start_sec,
            char_span=(self.chunk.start, self.chunk.end),
            url=self._link(page, start_sec),
        )

    def _link(self, page: int | None, start_sec: float | None) -> str:
        """To this very place: in the source where it has an address, else in the library."""
        if url := self.item.source_url:
            content = self.item.content
            return link_to(
                url, content.kind, media_url=content.media_url, page=page, start_sec=start_sec
            )
        return f"quarry://items/{self.item.pk}#{self._fragment(page, start_sec)}"

    def _fragment(self, page: int | None, start_sec: float | None) -> str:
        if page is not None:
            return f"page={page}"
        if start_sec is not None:
            return f"t={int(start_sec)}"
        return f"char={self.chunk.start},{self.chunk.end}"


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first, and whether a signal was missing."""

    hits: list[Hit]
    mode: str
    degraded: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarySearchRequest:
    """A search of the library, as its caller gave it."""

    query: str
    limit: int = 8
    mode: str = "hybrid"
    offset: int = 0
    narrowing: Narrowing = field(default_factory=Narrowing)
    fold: bool = True
    """Whether hits that say the same are folded under the best of them."""
    explain: bool = False

    def check(self) -> None:
        """Refuse what is outside its range; the engine itself checks the rest."""
        within(self.limit, field="limit", low=1, high=MAX_LIMIT)
        within(self.offset, field="offset", low=0, high=MAX_OFFSET)


def search(access: Access, request: LibrarySearchRequest) -> Answer:
    """The chunks that answer best, out of what the caller may see."""
    request.check()
    query, narrowing = request.query, request.narrowing
    wanted = request.offset + request.limit
    ask = partial(rank, access, query=query, mode=request.mode, narrowing=narrowing, in_full=True)
    if request.fold:
        ranking, found = _enough_folded(ask, wanted)
    else:
        ranking = ask(limit=wanted)
        found = [_FoundChunk(row) for row in ranking.rows]
    words = ranking.words
    hits = _hits(words.spoken, found[request.offset : wanted])
    if request.explain:
        hits = _explain_hits(access, words, hits)
    return Answer(hits, ranking.mode, ranking.degraded)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best chunks by id, with all their scores, and how they were found."""

    rows: list[DictRow]
    words: KeywordQuery
    mode: str
    degraded: str | None


@count_searches
def rank(
    access: Access,
    *,
    query: str,
    mode: str,
    limit: int,
    narrowing: Narrowing,
    reach: Reach = Reach.LIBRARY,
    in_full: bool = False,
    in_brief: bool = False,
) -> Ranking:
    """The engine itself: which chunks, in which order; in full, with all that an answer shows."""
    access.require(Capability.READ)
    query = clean_text(query, field="query", shortest=1, longest=MAX_QUERY)
    one_of(mode, MODES, field="mode")
    scope, generation = scope_of(access, narrowing, reach)
    vector, degraded = None, None
    if mode != "keyword":
        try:
            vector = semantic.embed(generation, query)
        except ProviderUnavailable as error:
            if mode == "semantic":
                raise
            logger.warning("Search fell back to keyword", exc_info=True)
            mode, degraded = "keyword", f"Only words were searched: {error.message}"
    words = read_query(query, configurations_of(scope.languages))
    if mode != "semantic":
        words = heaviest_terms(scope, words)
    by_word = None if mode == "semantic" else words
    telling = {"in_full": in_full, "in_brief": in_brief}
    rows = rank_chunks(scope, generation, by_word, vector, mode=mode, limit=limit, **telling)
    return Ranking(rows, words, mode, degraded)


@dataclass
class _FoundChunk:
    """A ranked chunk, and those that say the same."""

    row: DictRow
    similar: list[int] = field(default_factory=list)
    copies: dict[UUID, Copy] = field(default_factory=dict)

    @cached_property
    def word_pairs(self) -> WordPairs:
        """Only made for an item with several hits, and once."""
        return word_pairs(self.row["text"])

    def take(self, other: DictRow) -> None:
        """Name a chunk with the same text instead of giving it a place."""
        if other["item_id"] == self.row["item_id"]:
            self.similar.append(other["chunk_id"])
        else:
            copy = Copy(other["item_id"], other["custom_title"] or other["title"])
            self.copies.setdefault(copy.user_item_id, copy)


def _enough_folded(ask: Callable[..., Ranking], wanted: int) -> tuple[Ranking, list[_FoundChunk]]:
    """So many places of the answer; more chunks are asked for where several take one place."""
    limit = 2 * wanted
    while True:
        ranking = ask(limit=limit)
        found = _fold_duplicates([_FoundChunk(row) for row in ranking.rows], wanted)
        if len(found) >= wanted or len(ranking.rows) < limit or limit > _MOST_FOLDED:
            return ranking, found
        limit *= 4


def _fold_duplicates(found: Sequence[_FoundChunk], wanted: int) -> list[_FoundChunk]:
    kept: dict[UUID, list[_FoundChunk]] = {}
    by_text: dict[str, _FoundChunk] = {}
    answer: list[_FoundChunk] = []
    for each in found:
        text = normal_form(each.row["text"])
        if first := by_text.get(text):
            first.take(each.row)
            continue
        if len(answer) == wanted:
            continue  # only what is shown already may still get copies
        siblings = kept.setdefault(each.row["item_id"], [])
        same = next(
            (other for other in siblings if say_the_same(other.word_pairs, each.word_pairs)), None
        )
        if same:
            same.similar.append(each.row["chunk_id"])
            continue
        by_text[text] = each
        siblings.append(each)
        answer.append(each)
    return answer


def _hits(words: Sequence[str], found: Sequence[_FoundChunk]) -> list[Hit]:
    matcher = word_matcher(words)
    items: dict[UUID, Item] = {}
    hits = []
    for each in found:
        row, passage = each.row, _passage(each.row, matcher)
        hits.append(
            Hit(
                score=row["score"],
                semantic=Signal(row["semantic_rank"], row["semantic_score"]),
                cosine=row["cosine"],
                keyword=Signal(row["keyword_rank"], row["keyword_score"]),
                item=items.get(row["item_id"]) or items.setdefault(row["item_id"], _item(row)),
                chunk=_chunk(row),
                passage=passage.text,
                highlights=passage.highlights,
                points_at=row["start"] + passage.start,
                passage_span=(row["start"] + passage.span[0], row["start"] + passage.span[1]),
                similar_chunk_ids=tuple(each.similar),
                copies=tuple(each.copies.values()),
            )
        )
    return hits


def _passage(row: DictRow, matcher: re.Pattern[str] | None) -> Passage:
    breaks = [place - row["start"] for place, _ in row["locator"].get("marks", [])]
    return best_passage(row["text"], matcher, breaks=breaks)


def _chunk(row: DictRow) -> Chunk:
    fields = ("item_id", "start", "end", "text", "locator")
    return Chunk(id=row["chunk_id"], **{name: row[name] for name in fields})


def _item(row: DictRow) -> Item:
    """As much of the item as an answer says."""
    content = Content(
        id=row["content_id"],
        title=row["title"],
        url=row["url"],
        kind=row["kind"],
        media_url=row["media_url"],
    )
    names = ("owner_id", "custom_title", "type", "tags", "attributes", "visibility", "quality")
    fields = {name: row[name] for name in (*names, "suspicions")}
    item = Item(id=row["item_id"], content=content, **fields)
    item.created_at, item.updated_at = row["created_at"], row["updated_at"]
    item.seen_filings = [Filing(item_id=item.pk, folder_id=each) for each in row["folder_ids"]]
    return item


def _explain_hits(access: Access, words: KeywordQuery, hits: Sequence[Hit]) -> list[Hit]:
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
