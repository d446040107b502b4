"""One search as one statement, put together for its mode and the size of its scope."""

from typing import Any

from django.db import transaction
from psycopg.rows import DictRow

from knowledge.indexing.large_owners import LARGE_OWNER_CHUNKS, whale_index
from knowledge.models import Generation
from knowledge.providers.protocols import Vector
from knowledge.retrieval import keyword, semantic, visibility_sql
from knowledge.retrieval.binary_cursor import fetch, halves
from knowledge.retrieval.fusion import ranking_sql
from knowledge.retrieval.plans import (
    KeywordPlan,
    SemanticPlan,
    candidates_by_bits,
    keyword_plan,
    semantic_plan,
)
from knowledge.retrieval.query_words import KeywordQuery
from knowledge.retrieval.scope import SCOPE_SQL, Scope, allowed_items_sql

_POOL = 100
"""Candidates that each signal brings to the blend."""


# For this transaction: look at enough of the graph, and go on while filters throw rows away.
_GRAPH_SETTINGS = """
    SELECT set_config('hnsw.ef_search', %(effort)s, true),
        set_config('hnsw.iterative_scan', 'strict_order', true)"""


def rank_chunks(
    scope: Scope,
    generation: Generation,
    words: KeywordQuery | None,
    vector: Vector | None,
    *,
    mode: str,
    limit: int,
    in_full: bool = False,
    in_brief: bool = False,
) -> list[DictRow]:
    """The best chunks of the scope with all their scores; in full, with what an answer shows.

    In brief, for rankings of many, with no more than which items they are of.
    """
    if words is None or not words.terms:  # meaning alone, or nothing but punctuation
        if vector is None:
            return []
        words, mode = None, "semantic"
    by_word = keyword_plan(scope.chunks, library_chunks=scope.library_chunks)
    by_meaning = semantic_plan(scope.chunks, has_graph=_has_graph(scope, generation))
    pool = max(_POOL, limit) if mode == "hybrid" else limit
    statement = ranking_statement(scope, generation, words, mode, by_word, by_meaning)
    params: dict[str, Any] = {"items": scope.items, "limit": limit, "pool": pool}
    params |= {"owner": scope.owner_id, "owners": scope.owner_ids}
    if vector is not None:
        params |= {
            "vector": halves(vector),
            "generation": generation.pk,
            "background": generation.background,
            "oversampled": candidates_by_bits(generation.dimensions, wanted=pool),
        }
    if words:
        params |= keyword.params(scope, words)
    if in_full or in_brief:
        statement, shown = _statement_for(statement, scope, _IN_FULL if in_full else _IN_BRIEF)
        params |= shown
    if vector is None or by_meaning is not SemanticPlan.GRAPH:
        return fetch(statement, params)
    with transaction.atomic():
        fetch(_GRAPH_SETTINGS, {"effort": str(params["oversampled"])})
        return fetch(statement, params)


def ranking_statement(
    scope: Scope,
    generation: Generation,
    words: KeywordQuery | None,
    mode: str,
    by_word: KeywordPlan,
    by_meaning: SemanticPlan,
) -> str:
    """The SQL of one mode by these plans; `docs/search-sql.md` shows all there are."""
    parts = [SCOPE_SQL]
    if mode != "keyword":
        parts.append(semantic.candidates_sql(scope, by_meaning, generation, words))
    if words:
        parts.append(keyword.candidates_sql(scope, words, by_word))
    return "WITH " + ",".join(parts) + ranking_sql(mode)


def _has_graph(scope: Scope, generation: Generation) -> bool:
    is_whale = scope.is_whole and scope.chunks > LARGE_OWNER_CHUNKS
    return is_whale and whale_index(generation.pk, scope.owner_id) is not None


# In the same statement and so of the same moment: who may see a hit is decided once more here,
# by the door itself.
_IN_FULL = """
    SELECT best.*, chunk.item_id, chunk.start, chunk."end", chunk.text, chunk.locator,
        item.owner_id, item.content_id, item.custom_title, item.type, item.tags, item.attributes,
        item.visibility, item.quality, item.suspicions, item.created_at, item.updated_at,
        content.title, content.url, content.kind, content.media_url,
        ARRAY(SELECT folder_id FROM ({filings}) AS seen WHERE seen.item_id = item.id) AS folder_ids
    FROM ({best}) AS best
        JOIN knowledge_chunk AS chunk ON chunk.id = best.chunk_id
        JOIN knowledge_item AS item ON item.id = chunk.item_id
        JOIN knowledge_content AS content ON content.id = item.content_id
    WHERE item.id IN (SELECT seen.id FROM ({items}) AS seen ({columns}))
    ORDER BY place"""


_IN_BRIEF = """
    SELECT best.chunk_id, best.score, item.id AS item_id, item.type,
        item.created_at, item.updated_at
    FROM ({best}) AS best
        JOIN knowledge_chunk AS chunk ON chunk.id = best.chunk_id
        JOIN knowledge_item AS item ON item.id = chunk.item_id
    WHERE item.id IN (SELECT seen.id FROM ({items}) AS seen ({columns}))
    ORDER BY place"""


def _statement_for(best: str, scope: Scope, template: str) -> tuple[str, dict[str, Any]]:
    filings, filing_params = visibility_sql.filings(scope.access)
    items, item_params = allowed_items_sql(
        scope.access, scope.reach, finds_archived=scope.finds_archived
    )
    statement = template.format(
        filings=filings, best=best, items=items, columns=visibility_sql.COLUMNS
    )
    return statement, filing_params | item_params
