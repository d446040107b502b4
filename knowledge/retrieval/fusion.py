"""Blending the two signals: both scores of every candidate are exact before they are joined.

What every signal calls unrelated has the score 0, and is no hit. What has a phrase that the query
quotes stands above all that has it not: the score counts on from there, and stays within 0 to 1.
"""

SEMANTIC_WEIGHT = 0.7
"""Words have the rest."""

_SHARE_OF_FULL = 2 * 2 / (2 + 1.2)
"""What a chunk of average length, alone in its item, has of words' weight if it says each twice.

The best by word counts in full only if it comes up to that for the three words that weigh most:
where a question shares few words with every text, the best of them is no answer yet, and meaning
may tell a better one. Of more words, a long question would have none that comes up to it.
"""
_HEAVIEST = 3

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
    FROM (SELECT *, max(score) OVER () AS best, max(phrases) OVER () AS most FROM keyword) AS ranked
    WHERE score > 0 ORDER BY place""",
    # The scores of semantic hits are looked up in hashes and apart: the planner, who expects few
    # chunks to have a word, would compare each with each.
    "hybrid": f""",
    words AS (
        SELECT chunk_id, score, phrases, CASE WHEN rank <= %(pool)s THEN rank END AS rank
        FROM keyword
        WHERE rank <= %(pool)s OR coalesce(chunk_id IN (SELECT chunk_id FROM semantic), false)
    ),
    candidates AS (
        SELECT chunk_id, semantic.rank AS semantic_rank, words.rank AS keyword_rank,
            coalesce(cosine, 1 - (vector <=> %(vector)s::halfvec)) AS cosine,
            coalesce(words.score, 0) AS bm25, coalesce(words.phrases, 0) AS phrases
        FROM semantic FULL JOIN words USING (chunk_id)
            LEFT JOIN LATERAL (
                SELECT vector FROM knowledge_chunkembedding AS e
                WHERE e.chunk_id = words.chunk_id AND e.generation_id = %(generation)s
                    AND cosine IS NULL
            ) AS v ON true
    ),
    scored AS (
        SELECT *, coalesce({_SEMANTIC}, 0) AS semantic_score,
            coalesce(bm25 / nullif(greatest(
                max(bm25) OVER (), (
                    SELECT %(share_of_full)s::float8 * sum(idf)
                    FROM (SELECT idf FROM rarity ORDER BY idf DESC LIMIT {_HEAVIEST}) AS heaviest
                )
            ), 0), 0) AS keyword_score
        FROM candidates
    ),
    blended AS (
        SELECT *, %(meaning)s::float8 * semantic_score
            + (1 - %(meaning)s::float8) * keyword_score AS blend
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


def blend_params(meaning: float) -> dict[str, float]:
    """How the signals are weighed; words are doubted only where meaning counts in full."""
    is_trusted = meaning >= SEMANTIC_WEIGHT
    return {"meaning": meaning, "share_of_full": _SHARE_OF_FULL if is_trusted else 0.0}


def ranking_sql(mode: str) -> str:
    """The candidates with their scores, best first; follows the signals' own parts."""
    return f"{_RANKED[mode]} LIMIT %(limit)s"
