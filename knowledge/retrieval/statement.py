"""One search as one statement, put together for its mode and the size of its scope."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db import transaction
from psycopg.rows import DictRow

from knowledge.indexing.binary_rows import reals
from knowledge.indexing.large_owners import LARGE_OWNER_CHUNKS, whale_index
from knowledge.models import Generation
from knowledge.models.prepared import Binary
from knowledge.providers.protocols import Vector
from knowledge.retrieval import keyword, semantic, visibility_sql
from knowledge.retrieval.binary_cursor import fetch, halves
from knowledge.retrieval.duplicates import BEGINNING, READ_TO_FOLD
from knowledge.retrieval.fusion import SEMANTIC_WEIGHT, blend_params, ranking_sql
from knowledge.retrieval.plans import (
    KeywordPlan,
    SemanticPlan,
    candidates_by_bits,
    keyword_plan,
    semantic_plan,
)
from knowledge.retrieval.query_words import KeywordQuery
from knowledge.retrieval.scope import SCOPE_SQL, Scope

_POOL = 100
"""Candidates that each signal brings to the blend."""


# For this transaction: look at enough of the graph, and go on while filters throw rows away.
_GRAPH_SETTINGS = """
    SELECT set_config('hnsw.ef_search', %(effort)s, true),
        set_config('hnsw.iterative_scan', 'strict_order', true)"""


class Shown(Enum):
    """What is read of each chunk that is found, as the SQL that reads it.

    In the same statement and so of the same moment: who may see a hit is decided once more here, by
    the door itself.
    """

    IN_FULL = """
    SELECT best.*, chunk.item_id, chunk.start, chunk."end", chunk.text, chunk.locator,
        hashtextextended(chunk.text, 0) AS text_hash,
        item.owner_id, item.content_id, item.custom_title, item.type, item.tags, item.attributes,
        item.visibility, item.quality, item.suspicions, item.created_at, item.updated_at,
        content.title, content.url, content.kind, content.media_url,
        ARRAY(SELECT folder_id FROM ({filings}) AS seen WHERE seen.item_id = item.id) AS folder_ids
    FROM ({best}) AS best
        JOIN knowledge_chunk AS chunk ON chunk.id = best.chunk_id
        JOIN knowledge_item AS item ON item.id = chunk.item_id
        JOIN knowledge_content AS content ON content.id = item.content_id
    WHERE (SELECT true FROM {items} WHERE seen.id = item.id)
    ORDER BY place"""
    """With all that an answer says."""

    IN_BRIEF = f"""
    SELECT best.chunk_id, best.score, item.id AS item_id, item.type,
        item.created_at, item.updated_at, left(chunk.text, {BEGINNING}) AS beginning
    FROM ({{best}}) AS best
        JOIN knowledge_chunk AS chunk ON chunk.id = best.chunk_id
        JOIN knowledge_item AS item ON item.id = chunk.item_id
    WHERE (SELECT true FROM {{items}} WHERE seen.id = item.id)
    ORDER BY place"""
    """For rankings of many, with which items they are of, and what tells most texts apart."""

    TO_FOLD = f"""
    SELECT best.*, item.id AS item_id, item.custom_title, content.title,
        hashtextextended(chunk.text, 0) AS text_hash,
        CASE WHEN place <= {READ_TO_FOLD} THEN chunk.text END AS text
    FROM ({{best}}) AS best
        JOIN knowledge_chunk AS chunk ON chunk.id = best.chunk_id
        JOIN knowledge_item AS item ON item.id = chunk.item_id
        JOIN knowledge_content AS content ON content.id = item.content_id
    WHERE (SELECT true FROM {{items}} WHERE seen.id = item.id)
    ORDER BY place"""
    """With what tells their texts apart."""


def rank_chunks(
    scope: Scope,
    generation: Generation,
    words: KeywordQuery | None,
    vector: Vector | None,
    *,
    mode: str,
    limit: int,
    meaning: float = SEMANTIC_WEIGHT,
    shown: Shown | None = None,
) -> list[DictRow]:
    """The best chunks of the scope with all their scores, and what is shown of each."""
    if words is None or not words.terms:  # meaning alone, or nothing but punctuation
        if vector is None:
            return []
        words, mode = None, "semantic"
    by_word = keyword_plan(scope.chunks, library_chunks=scope.library_chunks)
    by_meaning = semantic_plan(scope.chunks, has_graph=_has_graph(scope, generation))
    pool = max(_POOL, limit) if mode == "hybrid" else limit
    statement = ranking_statement(scope, generation, words, mode, by_word, by_meaning, pool)
    params: dict[str, Any] = {"items": scope.items, "limit": limit, "pool": pool}
    params |= {"owner": scope.owner_id, "owners": scope.owner_ids}
    if vector is not None:
        params |= {
            "vector": halves(vector),
            "generation": generation.pk,
            "background": generation.background,
            **blend_params(meaning),
        }
    if words:
        params |= keyword.params(scope, words, pool=pool)
    if shown:
        statement, more = statement_for(shown, statement, scope)
        params |= more
    if vector is None or by_meaning is not SemanticPlan.GRAPH:
        return fetch(statement, params)
    with transaction.atomic():
        effort = candidates_by_bits(generation.dimensions, wanted=pool)
        fetch(_GRAPH_SETTINGS, {"effort": str(effort)})
        return fetch(statement, params)


class NearItem(NamedTuple):
    """An item of which a chunk is near to a vector, and the cosine of the two."""

    id: UUID
    title: str
    cosine: float


def nearest_items(
    scope: Scope, generation: Generation, vectors: Sequence[Vector], *, limit: int, least: float
) -> list[list[NearItem]]:
    """Of each vector the items of the nearest chunks of a scope, all in one statement.

    None has a cosine below the least, nor one that any two texts have.
    """
    if not vectors or not scope.chunks:
        return [[] for _ in vectors]
    items, door = scope.allowed_items()
    # Never by the graph: that is of whole libraries.
    plan = semantic_plan(scope.chunks, has_graph=False)
    likely = candidates_by_bits(generation.dimensions, wanted=limit)
    nearest = semantic.nearest_sql(scope, plan, generation, None, likely)
    statement = _NEAREST.format(
        scope=SCOPE_SQL, nearest=nearest.replace("%(vector)s", "asked.vector"), items=items
    )
    params = door | {
        "owner": scope.owner_id,
        "owners": scope.owner_ids,
        "items": scope.items,
        "vectors": Binary(reals(np.concatenate(vectors))),
        "places": list(range(1, len(vectors) + 1)),
        "size": len(vectors[0]),
        "generation": generation.pk,
        "least": max(generation.background, least),
        "limit": limit,
    }
    near: list[list[NearItem]] = [[] for _ in vectors]
    for row in fetch(statement, params):
        title = row["custom_title"] or row["title"]
        near[row["place"] - 1].append(NearItem(row["item_id"], title, row["cosine"]))
    return near


def ranking_statement(
    scope: Scope,
    generation: Generation,
    words: KeywordQuery | None,
    mode: str,
    by_word: KeywordPlan,
    by_meaning: SemanticPlan,
    pool: int = _POOL,
) -> str:
    """The SQL of one mode by these plans; `docs/search-sql.md` shows all there are."""
    parts = [SCOPE_SQL]
    if mode != "keyword":
        parts.append(semantic.candidates_sql(scope, by_meaning, generation, words, pool))
    if words:
        is_hybrid = mode == "hybrid"
        parts.append(keyword.candidates_sql(scope, words, by_word, pool, with_semantic=is_hybrid))
    return "WITH " + ",".join(parts) + ranking_sql(mode)


def _has_graph(scope: Scope, generation: Generation) -> bool:
    is_whale = scope.is_whole and scope.chunks > LARGE_OWNER_CHUNKS
    return is_whale and whale_index(generation.pk, scope.owner_id) is not None


_NEAREST = """
    WITH {scope}, asked AS MATERIALIZED (
        SELECT place,
            (%(vectors)s::real[])[(place - 1) * %(size)s::int + 1 : place * %(size)s::int]::halfvec
                AS vector
        FROM unnest(%(places)s::int[]) AS place
    )
    SELECT asked.place, 1 - near.distance AS cosine, item.id AS item_id, item.custom_title,
        content.title
    FROM asked
        CROSS JOIN LATERAL (
            {nearest} ORDER BY distance, chunk_id LIMIT %(limit)s
        ) AS near
        JOIN knowledge_chunk AS chunk ON chunk.id = near.chunk_id
        JOIN knowledge_item AS item ON item.id = chunk.item_id
        JOIN knowledge_content AS content ON content.id = item.content_id
    WHERE 1 - near.distance > %(least)s::float8
        AND (SELECT true FROM {items} WHERE seen.id = item.id)"""

_CHOSEN = """
    SELECT chunk_id, place
    FROM unnest(%(shown)s::bigint[]) WITH ORDINALITY AS shown (chunk_id, place)"""


def show_chunks(scope: Scope, chunk_ids: Sequence[int]) -> list[DictRow]:
    """What an answer shows of these chunks, as far as they are in reach."""
    statement, params = statement_for(Shown.IN_FULL, _CHOSEN, scope)
    return fetch(statement, {"shown": list(chunk_ids), **params})


def statement_for(shown: Shown, best: str, scope: Scope) -> tuple[str, dict[str, Any]]:
    """The SQL that shows so much of the best chunks."""
    filings, filing_params = visibility_sql.filings(scope.access)
    items, item_params = scope.allowed_items()
    statement = shown.value.format(filings=filings, best=best, items=items)
    return statement, filing_params | item_params
