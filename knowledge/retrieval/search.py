"""The one search that every tool, route and page asks."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.db.models import Model
from psycopg.rows import DictRow

from knowledge.access import Access, Capability
from knowledge.errors import ProviderUnavailable
from knowledge.models import Chunk, Content, Filing, Item
from knowledge.retrieval import semantic
from knowledge.retrieval.conditions import matched_words
from knowledge.retrieval.duplicates import Copy, FoundChunk, fold_duplicates
from knowledge.retrieval.fusion import SEMANTIC_WEIGHT
from knowledge.retrieval.heaviest_terms import heaviest_terms
from knowledge.retrieval.neighbours import MAX_WINDOW, WholeChunk, chunks_around
from knowledge.retrieval.passages import Passage, best_passage
from knowledge.retrieval.query_words import KeywordQuery, configurations_of, read_query
from knowledge.retrieval.scope import Narrowing, Reach, Scope, scope_of
from knowledge.retrieval.search_metrics import count_searches
from knowledge.retrieval.second_look import with_second_look
from knowledge.retrieval.statement import Shown, rank_chunks, show_chunks
from knowledge.retrieval.unknown_languages import weight_of_meaning
from knowledge.retrieval.word_matcher import WordMatcher
from knowledge.text.places import link_to, mark_before
from knowledge.validation import clean_text, one_of, within

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=Model)

MODES = ("semantic", "keyword", "hybrid")
MAX_QUERY = 10_000
MAX_LIMIT = 20
MAX_OFFSET = 10_000
_MOST_FOLDED = 5_000
"""Chunks after which no more are asked for, however many of them say the same."""
_NEAR_THE_TOP = 2 * MAX_LIMIT


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
    chunks: tuple[WholeChunk, ...] = ()
    """The hit's chunk among its neighbours, where the caller asked for these."""
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
    window: int = 0
    """How many chunks before and after each hit are given with it."""

    def check(self) -> None:
        """Refuse what is outside its range; the engine itself checks the rest."""
        within(self.limit, field="limit", low=1, high=MAX_LIMIT)
        within(self.offset, field="offset", low=0, high=MAX_OFFSET)
        within(self.window, field="window", low=0, high=MAX_WINDOW)


def search(access: Access, request: LibrarySearchRequest) -> Answer:
    """The chunks that answer best, out of what the caller may see."""
    request.check()
    query, narrowing = request.query, request.narrowing
    first = partial(rank, access, query=query, mode=request.mode, narrowing=narrowing)
    ranking, found = _find_page(with_second_look(query, first), request)
    words = ranking.words
    hits = _hits(words.spoken, found)
    if request.explain:
        hits = _explain_hits(access, words, hits)
    if request.window and hits:
        ids = [hit.chunk.pk for hit in hits]
        around = chunks_around(ranking.scope, ids, window=request.window)
        hits = [replace(hit, chunks=around.get(hit.chunk.pk, ())) for hit in hits]
    return Answer(hits, ranking.mode, ranking.degraded)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best chunks by id, with all their scores, and how they were found."""

    rows: list[DictRow]
    scope: Scope
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
    shown: Shown | None = None,
) -> Ranking:
    """The engine itself: which chunks, in which order, and what is shown of each."""
    access.require(Capability.READ)
    query = clean_text(query, field="query", shortest=1, longest=MAX_QUERY)
    one_of(mode, MODES, field="mode")
    scope, generation = scope_of(access, narrowing, reach)
    vector, degraded, meaning = None, None, SEMANTIC_WEIGHT
    if mode != "keyword":
        try:
            vector = semantic.embed(generation, query)
            meaning, degraded = weight_of_meaning(query, generation, scope.languages, mode)
        except ProviderUnavailable as error:
            if mode == "semantic":
                raise
            logger.warning("Search fell back to keyword", exc_info=True)
            mode, degraded = "keyword", f"Only words were searched: {error.message}"
    words = read_query(query, configurations_of(scope.languages))
    if mode != "semantic":
        words = heaviest_terms(scope, words)
    by_word = None if mode == "semantic" else words
    rows = rank_chunks(
        scope, generation, by_word, vector, mode=mode, limit=limit, meaning=meaning, shown=shown
    )
    return Ranking(rows, scope, words, mode, degraded)


def _find_page(
    ask: Callable[..., Ranking], request: LibrarySearchRequest
) -> tuple[Ranking, list[FoundChunk]]:
    """The places of one page; more chunks are asked for where several take one place.

    Near the top that is one statement. Further down, chunks are folded by no more than what tells
    them apart, and only those of the page are read.
    """
    wanted = request.offset + request.limit
    limit = 2 * wanted if request.fold else wanted
    is_deep = wanted > _NEAR_THE_TOP
    while True:
        ranking = ask(limit=limit, shown=Shown.TO_FOLD if is_deep else Shown.IN_FULL)
        found = [FoundChunk(row) for row in ranking.rows]
        if request.fold:
            found = fold_duplicates(found, wanted)
        is_enough = len(found) >= wanted or len(ranking.rows) < limit or limit >= _MOST_FOLDED
        if is_enough:
            break
        limit, is_deep = min(8 * limit, _MOST_FOLDED), True
    page = found[request.offset : wanted]
    return ranking, _read_chunks(ranking.scope, page) if is_deep else page


def _read_chunks(scope: Scope, found: Sequence[FoundChunk]) -> list[FoundChunk]:
    """The same with all that an answer shows, without what has been hidden since."""
    rows = {row["chunk_id"]: row for row in show_chunks(scope, [each.chunk_id for each in found])}
    return [
        replace(each, row=each.row | rows[each.chunk_id]) for each in found if each.chunk_id in rows
    ]


def _hits(words: Sequence[str], found: Sequence[FoundChunk]) -> list[Hit]:
    matcher = WordMatcher(words)
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


def _passage(row: DictRow, matcher: WordMatcher) -> Passage:
    breaks = [place - row["start"] for place, _ in row["locator"].get("marks", [])]
    return best_passage(row["text"], matcher, breaks=breaks)


def _chunk(row: DictRow) -> Chunk:
    return _new(Chunk, row, *_CHUNK, id=row["chunk_id"])


def _item(row: DictRow) -> Item:
    """As much of the item as an answer says."""
    item = _new(Item, row, *_ITEM, id=row["item_id"])
    item.content = _new(Content, row, *_CONTENT, id=row["content_id"])
    item.seen_filings = [Filing(item_id=item.pk, folder_id=each) for each in row["folder_ids"]]
    return item


_CHUNK = ("item_id", "start", "end", "text", "locator")
_ITEM = (
    *("owner_id", "content_id", "custom_title", "type", "tags", "attributes", "visibility"),
    *("quality", "suspicions", "created_at", "updated_at"),
)
_CONTENT = ("title", "url", "kind", "media_url")


def _new(model: type[M], row: DictRow, *names: str, id: Any) -> M:
    """A model with these columns of a row. Django would look for each other default each time."""
    values = {**_defaults_of(model), **{name: row[name] for name in names}, "id": id}
    return model(*values.values())


@cache
def _defaults_of(model: type[Model]) -> dict[str, Any]:
    new = model()
    return {field.attname: getattr(new, field.attname) for field in model._meta.concrete_fields}


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
