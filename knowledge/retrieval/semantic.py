"""Nearest by meaning: candidates from the scope's vectors, ranked by their exact cosine."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from functools import cache

from knowledge.errors import ProviderUnavailable
from knowledge.indexing.generations import embedder_of
from knowledge.models import Generation
from knowledge.monitoring.metrics import provider_call
from knowledge.providers.protocols import Embedder, Vector
from knowledge.retrieval import caches
from knowledge.retrieval.keyword import conditions_sql
from knowledge.retrieval.plans import SemanticPlan
from knowledge.retrieval.query_words import KeywordQuery
from knowledge.retrieval.scope import Scope

PATIENCE_SEC = 2.0
"""How long a query waits for its vector before it goes on without."""


def candidates_sql(
    scope: Scope, plan: SemanticPlan, generation: Generation, words: KeywordQuery | None
) -> str:
    """The nearest chunks; phrases and excluded words hold for them too when words are given."""
    rows = f"{scope.owners} AND generation_id = %(generation)s"
    within = f"{rows} AND {scope.condition} {_words_condition(words)}"
    if plan is SemanticPlan.EXACT:
        # The sum keeps any index out: within a scope a graph would miss rows.
        nearest = f"""
            SELECT chunk_id, (vector <=> %(vector)s::halfvec) + 0 AS distance
            FROM knowledge_chunkembedding AS e WHERE {within}"""
    elif plan is SemanticPlan.BITS:
        nearest = f"""
            SELECT e.chunk_id, (e.vector <=> %(vector)s::halfvec) + 0 AS distance
            FROM (
                SELECT chunk_id
                FROM knowledge_chunkembedding AS e WHERE {within}
                ORDER BY bits <~> binary_quantize(%(vector)s::halfvec) LIMIT %(oversampled)s
            ) AS likely
            JOIN knowledge_chunkembedding AS e
                ON e.chunk_id = likely.chunk_id AND e.generation_id = %(generation)s"""
    else:
        kind = f"halfvec({int(generation.dimensions)})"
        # Literals, for a partial index is used only when the query is known to lie within it.
        nearest = f"""
            SELECT chunk_id, (vector <=> %(vector)s::halfvec) + 0 AS distance
            FROM (
                SELECT chunk_id, vector
                FROM knowledge_chunkembedding AS e
                WHERE owner_id = {int(scope.owner_id)} AND generation_id = {int(generation.pk)}
                    AND {scope.condition} {_words_condition(words)}
                ORDER BY vector::{kind} <=> %(vector)s::{kind}
                LIMIT %(oversampled)s
            ) AS e"""
    return f"""
    semantic AS MATERIALIZED (
        SELECT chunk_id, 1 - distance AS cosine,
            row_number() OVER (ORDER BY distance, chunk_id) AS rank
        FROM ({nearest} ORDER BY distance, chunk_id LIMIT %(pool)s) AS nearest
    )"""


def _words_condition(words: KeywordQuery | None) -> str:
    conditions = conditions_sql(words) if words else ""
    if not conditions:
        return ""
    return (
        "AND EXISTS (SELECT FROM knowledge_chunktext AS t "
        f"WHERE t.chunk_id = e.chunk_id {conditions})"
    )


def embed(generation: Generation, query: str) -> Vector:
    """The query's vector, from the very embedder that made the generation's, and soon."""
    embedder = embedder_of(generation)
    key = (embedder, query)
    vector = caches.query_vectors.get(key)
    if vector is None:
        with provider_call(generation.embedder, "embed_query"):
            vector = caches.query_vectors.put(key, _embed_in_time(embedder, query))
    return vector


def _embed_in_time(embedder: Embedder, query: str) -> Vector:
    try:
        return _threads().submit(embedder.embed_query, query).result(timeout=PATIENCE_SEC)
    except TooSlow:
        raise ProviderUnavailable(
            f"The embedder {embedder.name} took longer than {PATIENCE_SEC:g} seconds."
        ) from None


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(8, thread_name_prefix="embed-query")
