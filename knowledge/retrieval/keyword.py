"""Nearest by word: Postgres full-text candidates, ranked by BM25 within the scope.

Frequencies are counted in the scope alone, so a score tells nothing about what lies outside it.
"""

import re
from dataclasses import dataclass

K1 = 1.2
B = 0.75

_PHRASE = re.compile(r'"([^"]+)"')
# Not before a digit: -32605 is an error code that somebody looks for.
_EXCLUDED = re.compile(r"(?<!\S)-([^\W\d]\S*)")

# ts_rank of one word with all weights 1 is (1 + 1/4 + … + 1/tf²) / (π²/6), which gives the
# frequency back exactly up to the 256 positions a tsvector keeps, and reads no other word.
_ZETA_2 = "1.6449340668482264"

CANDIDATES_SQL = f"""
    terms AS (
        SELECT quoted::tsquery AS query
        FROM unnest(to_tsvector('english', %(words)s)),
            concat('''', replace(replace(lexeme, '\\', '\\\\'), '''', ''''''), '''') AS quoted
    ),
    totals AS (
        SELECT count(*) AS n, avg(length)::float8 AS average_length
        FROM knowledge_chunktext
        WHERE owner_id = %(owner)s AND item_id = ANY((SELECT items FROM scope)::uuid[])
    ),
    matches AS (
        SELECT chunk_id, length, query,
            round(1 / ({_ZETA_2} - rank * {_ZETA_2}) - 0.5) AS frequency
        FROM knowledge_chunktext, terms, ts_rank('{{1,1,1,1}}', tsv, query) AS rank
        WHERE ARRAY[owner_id] @> ARRAY[%(owner)s::int]
            AND item_id = ANY((SELECT items FROM scope)::uuid[])
            AND tsv @@ (SELECT string_agg(query::text, ' | ')::tsquery FROM terms)
            AND rank > 0
            {{conditions}}
    ),
    rarity AS (
        SELECT query, ln(1 + (totals.n - count(*) + 0.5) / (count(*) + 0.5)) AS idf
        FROM matches, totals
        GROUP BY query, totals.n
    ),
    bm25 AS (
        SELECT chunk_id, sum(
            idf * frequency * ({K1} + 1)
            / (frequency + {K1} * (1 - {B} + {B} * length / totals.average_length))
        ) AS score
        FROM matches JOIN rarity USING (query), totals
        GROUP BY chunk_id
    ),
    keyword AS (
        SELECT chunk_id, row_number() OVER (ORDER BY score DESC, chunk_id) AS rank
        FROM bm25
        ORDER BY score DESC, chunk_id
        LIMIT %(pool)s
    )"""

NO_CANDIDATES_SQL = """
    bm25 AS (SELECT NULL::bigint AS chunk_id, NULL::float8 AS score WHERE false),
    keyword AS (SELECT NULL::bigint AS chunk_id, NULL::bigint AS rank WHERE false)"""


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """A query's words, the phrases it insists on and the words it will not have."""

    words: str
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]

    @property
    def candidates_sql(self) -> str:
        return CANDIDATES_SQL.replace("{conditions}", self.conditions_sql)

    @property
    def conditions_sql(self) -> str:
        """What a chunk must and must not say, whatever its score."""
        return "".join(
            f"AND tsv @@ phraseto_tsquery('english', %(phrase_{n})s) "
            for n in range(len(self.phrases))
        ) + "".join(
            f"AND NOT tsv @@ plainto_tsquery('english', %(excluded_{n})s) "
            for n in range(len(self.excluded))
        )

    @property
    def params(self) -> dict[str, str]:
        return (
            {"words": self.words}
            | {f"phrase_{n}": phrase for n, phrase in enumerate(self.phrases)}
            | {f"excluded_{n}": word for n, word in enumerate(self.excluded)}
        )


def parse(query: str) -> KeywordQuery:
    """Read `"a phrase"` and `-word`; every other word is wanted, none is required."""
    phrases = tuple(_PHRASE.findall(query))
    without_phrases = _PHRASE.sub(" ", query)
    excluded = tuple(_EXCLUDED.findall(without_phrases))
    words = " ".join((_EXCLUDED.sub(" ", without_phrases), *phrases))
    return KeywordQuery(words, phrases, excluded)
