"""Nearest by meaning: exact cosine over the scope's vectors of the live generation."""

from knowledge.errors import ProviderUnavailable
from knowledge.models import Generation
from knowledge.providers import embedder_named
from knowledge.providers.protocols import Vector
from knowledge.retrieval.keyword import KeywordQuery

CANDIDATES_SQL = """
    semantic AS (
        SELECT chunk_id, row_number() OVER (ORDER BY distance, chunk_id) AS rank
        FROM (
            -- The sum keeps any approximate index out: within a scope it would miss rows.
            SELECT chunk_id, (vector <=> %(vector)s::halfvec) + 0 AS distance
            FROM knowledge_chunkembedding AS e
            WHERE owner_id = %(owner)s AND generation_id = %(generation)s
                AND item_id = ANY((SELECT items FROM scope)::uuid[])
                {conditions}
            ORDER BY distance, chunk_id
            LIMIT %(pool)s
        ) AS nearest
    )"""

NO_CANDIDATES_SQL = """
    semantic AS (SELECT NULL::bigint AS chunk_id, NULL::bigint AS rank WHERE false)"""


def candidates_sql(words: KeywordQuery | None) -> str:
    """The nearest chunks; phrases and excluded words hold for them too when words are given."""
    conditions = ""
    if words and words.conditions_sql:
        conditions = (
            "AND EXISTS (SELECT FROM knowledge_chunktext AS t "
            f"WHERE t.chunk_id = e.chunk_id {words.conditions_sql})"
        )
    return CANDIDATES_SQL.replace("{conditions}", conditions)


def embed(generation: Generation, query: str) -> Vector:
    """The query's vector, from the very embedder that made the generation's."""
    vector = embedder_named(generation.embedder).embed_query(query)
    if vector.shape != (generation.dimensions,):
        raise ProviderUnavailable(
            f"The embedder {generation.embedder} answers in {vector.shape[0]} dimensions, "
            f"the index has {generation.dimensions}; run manage.py doctor."
        )
    return vector
