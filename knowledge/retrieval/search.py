"""The one search that every tool, route and page asks."""

import logging
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django.db import connection

from knowledge.access import Access, Capability
from knowledge.errors import ProviderUnavailable
from knowledge.generations import live_generation
from knowledge.models import Chunk, Generation, Item
from knowledge.providers.protocols import Vector
from knowledge.retrieval import keyword, semantic
from knowledge.retrieval.fusion import ranking_sql
from knowledge.retrieval.passages import best_passage
from knowledge.retrieval.scope import Narrowing, Scope, scope_of
from knowledge.validation import clean_text, one_of, within

logger = logging.getLogger(__name__)

MODES = ("semantic", "keyword", "hybrid")
MAX_QUERY = 2_000
MAX_LIMIT = 20
MAX_OFFSET = 10_000
_POOL = 100
"""Candidates that each signal brings to the blend."""


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
) -> Answer:
    """The chunks that answer best, out of what the caller may see."""
    access.require(Capability.READ)
    query = clean_text(query, field="query", shortest=1, longest=MAX_QUERY)
    within(limit, field="limit", low=1, high=MAX_LIMIT)
    within(offset, field="offset", low=0, high=MAX_OFFSET)
    one_of(mode, MODES, field="mode")
    scope = scope_of(access, narrowing or Narrowing())
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
    rows = _run(scope, generation, query, vector, mode=mode, limit=limit, offset=offset)
    return Answer(_hits(access, query, rows), mode, degraded)


def _run(
    scope: Scope,
    generation: Generation,
    query: str,
    vector: Vector | None,
    *,
    mode: str,
    limit: int,
    offset: int,
) -> list[dict[str, Any]]:
    words = keyword.parse(query)
    parts = [
        f"scope AS MATERIALIZED (SELECT ARRAY({scope.items_sql}) AS items)",
        semantic.NO_CANDIDATES_SQL
        if vector is None
        else semantic.candidates_sql(words if mode == "hybrid" else None),
        keyword.NO_CANDIDATES_SQL if mode == "semantic" else words.candidates_sql,
        ranking_sql(mode, with_vectors=vector is not None),
    ]
    params: dict[str, Any] = {
        **scope.params,
        **words.params,
        "owner": scope.owner_id,
        "generation": generation.pk,
        "background": generation.background,
        "vector": None if vector is None else "[" + ",".join(map(str, vector.tolist())) + "]",
        "pool": max(_POOL, offset + limit),
        "limit": limit,
        "offset": offset,
    }
    with connection.cursor() as cursor:
        cursor.execute("WITH " + ",".join(parts), params)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _hits(access: Access, query: str, rows: list[dict[str, Any]]) -> list[Hit]:
    chunks = Chunk.objects.in_bulk([row["chunk_id"] for row in rows])
    items = _items(access, {chunk.item_id for chunk in chunks.values()})
    hits = []
    for row in rows:
        # A chunk that went while we searched is no hit any more.
        chunk = chunks.get(row["chunk_id"])
        if chunk is None or chunk.item_id not in items:
            continue
        hits.append(
            Hit(
                score=row["score"],
                semantic=Signal(row["semantic_rank"], row["semantic_score"]),
                cosine=row["cosine"],
                keyword=Signal(row["keyword_rank"], row["keyword_score"]),
                item=items[chunk.item_id],
                chunk=chunk,
                passage=best_passage(chunk.text, query),
            )
        )
    return hits


def _items(access: Access, item_ids: set[UUID]) -> dict[UUID, Item]:
    items = Item.objects.visible_to(access).select_related("content").defer("content__text")
    return items.with_folders_for(access).in_bulk(item_ids)
