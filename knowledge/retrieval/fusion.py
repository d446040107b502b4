"""Blending the two signals: both scores of every candidate are exact before they are joined."""

SEMANTIC_WEIGHT = 0.7
KEYWORD_WEIGHT = 0.3

_SEMANTIC = "greatest(0, (cosine - %(background)s) / (1 - %(background)s))"
_KEYWORD = "coalesce(bm25 / nullif(max(bm25) OVER (), 0), 0)"
_SCORES = {
    "semantic": "semantic_score",
    "keyword": "keyword_score",
    "hybrid": f"{SEMANTIC_WEIGHT} * semantic_score + {KEYWORD_WEIGHT} * keyword_score",
}


def ranking_sql(mode: str, *, with_vectors: bool) -> str:
    """The candidates of both sides with their scores, best first."""
    cosine = "1 - (vector <=> %(vector)s::halfvec)" if with_vectors else "NULL::float8"
    vectors = (
        "LEFT JOIN knowledge_chunkembedding AS e "
        "ON e.chunk_id = c.chunk_id AND e.generation_id = %(generation)s"
        if with_vectors
        else ""
    )
    return f"""
    candidates AS (SELECT chunk_id FROM semantic UNION SELECT chunk_id FROM keyword),
    signals AS (
        SELECT c.chunk_id, {cosine} AS cosine, coalesce(bm25.score, 0) AS bm25,
            semantic.rank AS semantic_rank, keyword.rank AS keyword_rank
        FROM candidates AS c {vectors}
            LEFT JOIN bm25 ON bm25.chunk_id = c.chunk_id
            LEFT JOIN semantic ON semantic.chunk_id = c.chunk_id
            LEFT JOIN keyword ON keyword.chunk_id = c.chunk_id
    ),
    scored AS (
        SELECT *, least(1, coalesce({_SEMANTIC}, 0)) AS semantic_score, {_KEYWORD} AS keyword_score
        FROM signals
    )
    SELECT chunk_id, {_SCORES[mode]} AS score, cosine, semantic_score, semantic_rank,
        keyword_score, keyword_rank
    FROM scored
    ORDER BY score DESC, chunk_id
    LIMIT %(limit)s OFFSET %(offset)s"""
