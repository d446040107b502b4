"""The cosine similarity of found chunks to the best of them."""

from collections.abc import Sequence

from django.db import connection

_LIKENESS = """
    WITH live AS (SELECT id, background FROM knowledge_generation WHERE is_live),
    best AS (
        SELECT avg(vector) AS middle FROM knowledge_chunkembedding
        WHERE chunk_id = ANY(%(best)s) AND generation_id = (SELECT id FROM live)
    )
    SELECT chunk_id,
        least(1, greatest(0, (1 - (vector <=> middle) - background) / (1 - background)))
    FROM knowledge_chunkembedding, live, best
    WHERE chunk_id = ANY(%(chunks)s) AND generation_id = live.id AND middle IS NOT NULL
"""


def likeness_to_best(chunk_ids: Sequence[int], best_ids: Sequence[int]) -> dict[int, float]:
    """For each chunk with a vector, from 0 (no more than any two) to 1 (the same).

    These are chunks that a search has found for its caller.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LIKENESS, {"chunks": list(chunk_ids), "best": list(best_ids)})
        return dict(cursor.fetchall())
