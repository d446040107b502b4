"""Nearest by meaning: candidates from the scope's vectors, ranked by their exact cosine."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from functools import cache

from knowledge.errors import ProviderUnavailable
from knowledge.indexing.generations import check_vectors, embedder_of
from knowledge.models import Generation
from knowledge.monitoring.metrics import provider_call
from knowledge.monitoring.turns import while_waiting
from knowledge.providers.protocols import Embedder, Vector
from knowledge.retrieval import caches
from knowledge.retrieval.conditions import conditions_sql
from knowledge.retrieval.plans import SemanticPlan, candidates_by_bits
from knowledge.retrieval.query_words import KeywordQuery
from knowledge.retrieval.scope import Scope

PATIENCE_SEC = 2.0
"""How long a query waits for its vector before it goes on without."""
_QUERIES_AT_ONCE = 32
"""More than wait at once: one that was given up keeps its thread until its reader answers."""


def candidates_sql(
    scope: Scope, plan: SemanticPlan, generation: Generation, words: KeywordQuery | None, pool: int
) -> str:
    """The nearest chunks; phrases and excluded words hold for them too when words are given."""
    nearest = nearest_sql(
        scope, plan, generation, words, candidates_by_bits(generation.dimensions, wanted=pool)
    )
    return f"""
    semantic AS MATERIALIZED (
        SELECT chunk_id, 1 - distance AS cosine,
            row_number() OVER (ORDER BY distance, chunk_id) AS rank
        FROM ({nearest} ORDER BY distance, chunk_id LIMIT {pool}) AS nearest
    )"""


def nearest_sql(
    scope: Scope,
    plan: SemanticPlan,
    generation: Generation,
    words: KeywordQuery | None,
    likely: int,
) -> str:
    """Chunks of the scope with their distances, the nearest among them.

    So many are likely by their bits or the graph. Such numbers stand in the text: of a sort without
    one the planner thinks that it is much dearer, and would plan each search anew.
    """
    rows = f"{scope.owners} AND generation_id = %(generation)s"
    within = f"{rows} AND {scope.condition} {_words_condition(words)}"
    if plan is SemanticPlan.EXACT:
        # The sum keeps any index out: within a scope a graph would miss rows.
        nearest = f"""
            SELECT chunk_id, (vector <=> %(vector)s::halfvec) + 0 AS distance
            FROM knowledge_chunkembedding AS e WHERE {within}"""
    elif plan is SemanticPlan.BITS:
        nearest = f"""
            SELECT chunk_id, (vector <=> %(vector)s::halfvec) + 0 AS distance
            FROM knowledge_chunkembedding
            WHERE generation_id = %(generation)s AND chunk_id = ANY(ARRAY(
                SELECT chunk_id FROM knowledge_chunkembedding AS e WHERE {within}
                ORDER BY bits <~> (SELECT binary_quantize(%(vector)s::halfvec)) LIMIT {likely}
            ))"""
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
                LIMIT {likely}
            ) AS e"""
    return nearest


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
    if generation.pk is None:
        raise ProviderUnavailable(
            f"The embedder {generation.embedder} has not answered yet, so no text has a vector."
        )
    embedder = embedder_of(generation)
    key = (embedder, query)
    vector = caches.query_vectors.get(key)
    if vector is None:
        with provider_call(generation.embedder, "embed_query"):
            vector = _embed_in_time(embedder, query)
            check_vectors(generation, vector[None], 1)
        caches.query_vectors.put(key, vector)
    return vector


def _embed_in_time(embedder: Embedder, query: str) -> Vector:
    try:
        with while_waiting():
            return _threads().submit(embedder.embed_query, query).result(timeout=PATIENCE_SEC)
    except TooSlow:
        raise ProviderUnavailable(
            f"The embedder {embedder.name} took longer than {PATIENCE_SEC:g} seconds."
        ) from None


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_QUERIES_AT_ONCE, thread_name_prefix="embed-query")
