"""Blending the two signals: both scores of every candidate are exact before they are joined.

What every signal calls unrelated has the score 0, and is no hit. What has a phrase that the query
quotes stands above all that has it not: the score counts on from there, and stays within 0 to 1.
"""

SEMANTIC_WEIGHT = 0.7
KEYWORD_WEIGHT = 0.3

_SEMANTIC = (
    "least(1, greatest(0, (cosine - %(background)s::float8) / (1 - %(background)s::float8)))"
)
_RANKED = {
    "semantic": f"""
    SELECT chunk_id, {_SEMANTIC} AS score, cosine, {_SEMANTIC} AS semantic_score,
        rank AS semantic_rank, 0::float8 AS keyword_score, NULL::bigint AS keyword_rank,
        rank AS place
    FROM semantic WHERE cosine > %(background)s::float8 ORDER BY place""",
    "keyword": """
    SELECT chunk_id, (score / best + phrases) / (1 + most) AS score, NULL::float8 AS cosine,
        0::float8 AS semantic_score, NULL::bigint AS semantic_rank,
        score / best AS keyword_score, rank AS keyword_rank, rank AS place
    FROM keyword, (SELECT max(score), max(phrases) FROM keyword) AS top (best, most)
    WHERE score > 0 ORDER BY place""",
    # The scores of semantic hits are looked up in a hash and apart: the planner, who expects few
    # chunks to have a word, would compare each with each.
    "hybrid": f""",
    other AS MATERIALIZED (
        SELECT * FROM bm25 WHERE coalesce(chunk_id IN (SELECT chunk_id FROM semantic), false)
    ),
    candidates AS (
        SELECT chunk_id, semantic.rank AS semantic_rank, keyword.rank AS keyword_rank,
            coalesce(cosine, 1 - (vector <=> %(vector)s::halfvec)) AS cosine,
            coalesce(keyword.score, other.score, 0) AS bm25,
            coalesce(keyword.phrases, other.phrases, 0) AS phrases
        FROM semantic FULL JOIN keyword USING (chunk_id) LEFT JOIN other USING (chunk_id)
            LEFT JOIN LATERAL (
                SELECT vector FROM knowledge_chunkembedding AS e
                WHERE e.chunk_id = keyword.chunk_id AND e.generation_id = %(generation)s
                    AND cosine IS NULL
            ) AS v ON true
    ),
    scored AS (
        SELECT *, coalesce({_SEMANTIC}, 0) AS semantic_score,
            coalesce(bm25 / nullif(max(bm25) OVER (), 0), 0) AS keyword_score
        FROM candidates
    ),
    blended AS (
        SELECT *, {SEMANTIC_WEIGHT} * semantic_score + {KEYWORD_WEIGHT} * keyword_score AS blend
        FROM scored
    ),
    lifted AS (
        SELECT *, (blend + phrases) / (1 + max(phrases) OVER ()) AS score
        FROM blended WHERE blend > 0
    )
    SELECT chunk_id, score, cosine, semantic_score, semantic_rank, keyword_score, keyword_rank,
        row_number() OVER (ORDER BY score DESC, chunk_id) AS place
    FROM lifted ORDER BY place""",
}


def ranking_sql(mode: str) -> str:
    """The candidates with their scores, best first; follows the signals' own parts."""
    return f"{_RANKED[mode]} LIMIT %(limit)s"
