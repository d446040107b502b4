"""What a query asks of single chunks: phrases, words to leave out, and which words one has."""

from collections.abc import Sequence

from django.db import connection

from knowledge.retrieval.query_words import KeywordQuery, Phrase

LAST_BIT = 62
"""The terms of a chunk are bits of one number; those of a long query beyond that count as none."""


def conditions_sql(query: KeywordQuery) -> str:
    """What a chunk must and must not say."""
    required = (
        f"AND ts_match_vq(tsv, %(required_{n})s::tsquery)" for n in range(len(query.required))
    )
    excluded = (
        f"AND NOT ts_match_vq(tsv, %(excluded_{n})s::tsquery)" for n in range(len(query.excluded))
    )
    return " ".join((*required, *excluded))


def phrases_sql(phrases: Sequence[Phrase]) -> str:
    """How many of the phrases a chunk has; only one that has all their words is read for it."""
    counted = (
        f"""CASE WHEN terms & {_bits(phrase)} = {_bits(phrase)} THEN coalesce((
                SELECT ts_match_vq(tsv, %(preferred_{n})s::tsquery)::int
                FROM knowledge_chunktext AS t WHERE t.chunk_id = scored.chunk_id
            ), 0) ELSE 0 END"""
        for n, phrase in enumerate(phrases)
    )
    return " + ".join(counted) or "0"


def has_terms_sql(required: Sequence[Phrase]) -> str:
    conditions = [f"terms & {_bits(phrase)} = {_bits(phrase)}" for phrase in required]
    return "WHERE " + " AND ".join(conditions) if conditions else ""


def _bits(phrase: Phrase) -> str:
    return f"{sum(1 << n for n in phrase.terms if n <= LAST_BIT)}::bigint"


def matched_words(query: KeywordQuery, chunk_ids: Sequence[int]) -> dict[int, list[str]]:
    """For each chunk, the query's words that it has in any form."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT chunk_id, array_agg(word ORDER BY place)
            FROM knowledge_chunktext,
                unnest(%s::text[], %s::tsquery[]) WITH ORDINALITY AS asked (word, query, place)
            WHERE chunk_id = ANY(%s) AND tsv @@ query
            GROUP BY chunk_id
            """,
            [query.spoken, [term.query for term in query.terms], list(chunk_ids)],
        )
        return dict(cursor.fetchall())
