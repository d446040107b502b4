"""One search as one statement, put together for its mode and the size of its scope."""

from typing import Any

from django.db import connection, transaction
from psycopg import Cursor
from psycopg.rows import DictRow, dict_row

from knowledge.models import Generation
from knowledge.providers.protocols import Vector
from knowledge.retrieval import keyword, semantic
from knowledge.retrieval.fusion import ranking_sql
from knowledge.retrieval.keyword import KeywordQuery
from knowledge.retrieval.plans import (
    KeywordPlan,
    SemanticPlan,
    keyword_plan,
    oversampling,
    semantic_plan,
)
from knowledge.retrieval.scope import Scope
from knowledge.whales import WHALE_CHUNKS, whale_index

_POOL = 100
"""Candidates that each signal brings to the blend."""


# For this transaction: look at enough of the graph, and go on while filters throw rows away.
_GRAPH_SETTINGS = """
    SELECT set_config('hnsw.ef_search', %(effort)s, true),
        set_config('hnsw.iterative_scan', 'strict_order', true)"""


def ranked(
    scope: Scope,
    generation: Generation,
    words: KeywordQuery | None,
    vector: Vector | None,
    *,
    mode: str,
    limit: int,
) -> list[DictRow]:
    """The best chunks of the scope with all their scores."""
    if words is None or not words.words:  # nothing but punctuation, or meaning alone is asked
        if vector is None:
            return []
        words, mode = None, "semantic"
    by_word = keyword_plan(scope.chunks, library_chunks=scope.library_chunks)
    by_meaning = semantic_plan(scope.chunks, has_graph=_has_graph(scope, generation))
    pool = max(_POOL, limit) if mode == "hybrid" else limit
    parts = [scope.cte_sql]
    params: dict[str, Any] = {**scope.params, "owner": scope.owner_id, "limit": limit, "pool": pool}
    if vector is not None:
        parts.append(semantic.candidates_sql(scope, by_meaning, generation, words))
        params |= {
            "vector": _literal(vector),
            "generation": generation.pk,
            "background": generation.background,
            "oversampled": oversampling(generation.dimensions, wanted=pool),
        }
    elif by_word is not KeywordPlan.SCAN:
        parts.append(semantic.NO_CANDIDATES_SQL)
    if words:
        parts.append(keyword.candidates_sql(scope, words, by_word))
        params |= keyword.params(scope, words, by_word)
    statement = "WITH " + ",".join(parts) + ranking_sql(mode)
    if words and mode == "keyword":
        rows = _fetch(statement, params)
        if len(rows) < limit and by_word is not KeywordPlan.SCAN:
            params |= keyword.params(scope, words, by_word, widely=True)
            rows = _fetch(statement, params)
        return rows
    if vector is None or by_meaning is not SemanticPlan.GRAPH:
        return _fetch(statement, params)
    with transaction.atomic():
        _fetch(_GRAPH_SETTINGS, {"effort": str(params["oversampled"])})
        return _fetch(statement, params)


def _has_graph(scope: Scope, generation: Generation) -> bool:
    is_whale = scope.is_whole and scope.chunks > WHALE_CHUNKS
    return is_whale and whale_index(generation.pk, scope.owner_id) is not None


def _fetch(statement: str, params: dict[str, Any]) -> list[DictRow]:
    """Past the ORM's own cursor, which puts every value into the text of the statement."""
    connection.ensure_connection()
    with Cursor(connection.connection, row_factory=dict_row) as cursor:
        cursor.execute(statement, params, prepare=False, binary=True)
        rows: list[DictRow] = cursor.fetchall()
    return rows


def _literal(vector: Vector) -> str:
    # Six places are more than a half-precision vector keeps, and far quicker to write than all.
    return str(vector.astype("float64").round(6).tolist())
