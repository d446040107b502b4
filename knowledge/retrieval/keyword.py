"""Nearest by word: every chunk in scope that has a term of the query, ranked by BM25.

Packed chunks are found by their postings; fresh ones, and those of a narrow scope, are read one by
one from their tsvectors. Both come out with the same exact scores. How rare a term is and how long
chunks are is counted in the scope itself, so that no score tells of what the caller cannot see.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

from knowledge.indexing.packing import CHUNK_SHIFT, FREQUENCY_SHIFT, LONGEST
from knowledge.retrieval.binary_cursor import fetch
from knowledge.retrieval.plans import KeywordPlan, keyword_plan
from knowledge.retrieval.query_words import KeywordQuery, Phrase, Term
from knowledge.retrieval.scope import SCOPE_SQL, Scope

K1 = 1.2
B = 0.75
MOST_TERMS = 64
"""Of a longer query the terms that weigh most in the scope count."""

_LAST_BIT = 62
_END_OF_PREFIX = "\U0010ffff"


def candidates_sql(scope: Scope, query: KeywordQuery, plan: KeywordPlan) -> str:
    """The best chunks by word, each with its exact score."""
    terms, parts, scored = query.terms, [], []
    if _reads(scope, plan):
        parts.append(_read_sql(scope, terms, plan))
        scored.append(_score_read_sql(query))
    if plan is KeywordPlan.PACKED:
        parts.append(_packed_sql(scope, terms))
        scored.append(_score_packed_sql(scope, query))
    parts.append(_rarity_sql(scope, terms, plan))
    if plan is KeywordPlan.PACKED and not _is_plain(scope, terms):
        parts.append(_WEIGHTS.format(last=len(terms) - 1))
    parts.append(f"""
    bm25 AS MATERIALIZED (
        SELECT chunk_id, score, {_phrases_sql(query.preferred)} AS phrases
        FROM ({" UNION ALL ".join(scored)}) AS scored {_has_terms_sql(query.required)}
    ),
    keyword AS MATERIALIZED (
        SELECT *, row_number() OVER (ORDER BY phrases DESC, score DESC, chunk_id) AS rank
        FROM ({_best_sql(scope, query)}) AS best
    )""")
    return ",".join(parts)


# Chunks read from their tsvectors: a column for each term, which is quicker than a row ----------

# ts_rank of one word with all weights 1 is (1 + 1/4 + … + 1/tf²) / (π²/6), which gives the
# frequency back exactly up to the 256 places a tsvector keeps, and reads no other word.
_RANK = "ts_rank('{{1,1,1,1}}', tsv, %(term_{n}_{m})s::tsquery)"
_RANK_OF_ONE = 1 / 1.6449340668482264
_FREQUENCY = "round(1 / (1.6449340668482264 * (1 - r{n})) - 0.5)"
_SCORE = f"CASE WHEN r{{n}} > 0 THEN idf{{n}} * {_FREQUENCY} / ({_FREQUENCY} + norm) ELSE 0 END"
# Floats throughout: with one literal of another type Postgres reckons ten times as long.
_NORM = "%(least_norm)s::float8 + %(norm_by_length)s::float8 * {length}"


def _reads(scope: Scope, plan: KeywordPlan) -> bool:
    """Whether any tsvector must be read; to plan that for nothing would cost a millisecond."""
    return plan is KeywordPlan.READ or scope.has_fresh


def _read_sql(scope: Scope, terms: Sequence[Term], plan: KeywordPlan) -> str:
    ranks = ", ".join(f"{_greatest_rank(n, term)} AS r{n}" for n, term in enumerate(terms))
    return f"""
    read AS MATERIALIZED (
        SELECT chunk_id, {ranks}, {_NORM.format(length="length")} AS norm
        FROM knowledge_chunktext
        WHERE {_read_condition(scope, plan)} AND ts_match_vq(tsv, %(any_term)s::tsquery)
    )"""


def _read_condition(scope: Scope, plan: KeywordPlan) -> str:
    within = f"{scope.owners} AND {scope.condition}"
    if plan is KeywordPlan.READ:
        return within
    return f"{scope.owners} AND segment_id IS NULL AND {scope.filter}"


def _greatest_rank(n: int, term: Term) -> str:
    if term.is_prefix:  # of several words with this beginning no frequency can be told
        return f"ts_match_vq(tsv, %(term_{n}_0)s::tsquery)::int * {_RANK_OF_ONE}"
    ranks = [_RANK.format(n=n, m=m) for m in range(len(term.lexemes))]
    return ranks[0] if len(ranks) == 1 else f"greatest({', '.join(ranks)})"


def _score_read_sql(query: KeywordQuery) -> str:
    numbers = range(len(query.terms))
    idfs = ", ".join(f"max(idf) FILTER (WHERE term = {n}) AS idf{n}" for n in numbers)
    scores = " + ".join(_SCORE.format(n=n) for n in numbers)
    bits = " | ".join(f"CASE WHEN r{n} > 0 THEN {_bit(n)} ELSE 0 END" for n in numbers)
    return f"""
        SELECT chunk_id, {scores} AS score{_if_phrases(query, bits)}
        FROM read, (SELECT {idfs} FROM rarity) AS idfs"""


# Packed chunks: a row for each entry -------------------------------------------------------------

_WEIGHT_MASK = (1 << CHUNK_SHIFT) - 1
_PACKED_SCORE = (
    f"sum(idf * (weight >> {FREQUENCY_SHIFT}) / ((weight >> {FREQUENCY_SHIFT}) + "
    + _NORM.format(length=f"(weight & {LONGEST})")
    + "))"
)


def _packed_sql(scope: Scope, terms: Sequence[Term]) -> str:
    """The postings of the terms; entry by entry where some are out of scope, or a term has two."""
    lists = f"""
    asked AS (
        SELECT lexeme COLLATE "C", term
        FROM unnest(%(lexemes)s::text[], %(places)s::int[]) AS asked (lexeme, term)
    ),
    lists AS MATERIALIZED (
        SELECT term, size, entries FROM asked JOIN knowledge_wordpostings USING (lexeme)
        WHERE {scope.owners}{_prefixes_sql(scope, terms)}
    )"""
    if _is_plain(scope, terms):
        return lists
    weight, group = f"entry & {_WEIGHT_MASK}", ""
    if beginnings := [str(n) for n, term in enumerate(terms) if term.is_prefix]:
        once = f"entry & {LONGEST} | {1 << FREQUENCY_SHIFT}"
        weight = f"CASE WHEN term IN ({', '.join(beginnings)}) THEN {once} ELSE {weight} END"
    if _has_several_lexemes(terms):  # of which the most frequent counts
        weight, group = f"max({weight})", "GROUP BY 1, 2"
    return f"""{lists},
    packed AS MATERIALIZED (
        SELECT term, entry >> {CHUNK_SHIFT} AS chunk_id, {weight} AS weight
        FROM (SELECT term, unnest(entries) AS entry FROM lists) AS entries
        WHERE {_packed_condition(scope)} {group}
    )"""


def _prefixes_sql(scope: Scope, terms: Sequence[Term]) -> str:
    return "".join(
        f"""
        UNION ALL
        SELECT {n}, size, entries FROM knowledge_wordpostings
        WHERE {scope.owners} AND lexeme >= %(from_{n})s AND lexeme < %(until_{n})s"""
        for n, term in enumerate(terms)
        if term.is_prefix
    )


def _packed_condition(scope: Scope) -> str:
    if scope.is_whole and not scope.leaves_out:
        return "true"
    listed = f"""SELECT chunk_id FROM knowledge_chunktext
            WHERE {scope.owners} AND item_id = ANY((SELECT items FROM scope)::uuid[])"""
    return f"(entry >> {CHUNK_SHIFT}) {'NOT ' if scope.is_whole else ''}IN ({listed})"


def _score_packed_sql(scope: Scope, query: KeywordQuery) -> str:
    # By its number and not by a join, which the planner would make of loops.
    rows = "(SELECT *, (SELECT idfs FROM weights)[term + 1] AS idf FROM packed) AS packed"
    if _is_plain(scope, query.terms):
        rows = f"""(
            SELECT term, idf, entry >> {CHUNK_SHIFT} AS chunk_id, entry & {_WEIGHT_MASK} AS weight
            FROM (
                SELECT term, idf, unnest(entries) AS entry FROM lists JOIN rarity USING (term)
            ) AS entries
        ) AS packed"""
    bits = f"bit_or(1::bigint << least(term, {_LAST_BIT + 1}))"
    return f"""
        SELECT chunk_id, {_PACKED_SCORE} AS score{_if_phrases(query, bits)}
        FROM {rows} GROUP BY chunk_id"""


def _is_plain(scope: Scope, terms: Sequence[Term]) -> bool:
    """Whether each term is one list of a library of which all is in scope."""
    return scope.is_whole and not scope.leaves_out and not _has_several_lexemes(terms)


def _has_several_lexemes(terms: Sequence[Term]) -> bool:
    return any(term.is_prefix or len(term.lexemes) > 1 for term in terms)


# What both come to -------------------------------------------------------------------------------


def _rarity_sql(scope: Scope, terms: Sequence[Term], plan: KeywordPlan) -> str:
    counted = []
    if _reads(scope, plan):
        numbers = range(len(terms))
        counts = ", ".join(f"count(*) FILTER (WHERE r{n} > 0) AS c{n}" for n in numbers)
        as_rows = ", ".join(f"({n}, c{n})" for n in numbers)
        counted.append(
            f"SELECT term, c FROM (SELECT {counts} FROM read) AS counts, "
            f"LATERAL (VALUES {as_rows}) AS each (term, c)"
        )
    if plan is KeywordPlan.PACKED:
        counted.append(_count_packed_sql(scope, terms))
    return _weigh_sql(counted)


def _count_packed_sql(scope: Scope, terms: Sequence[Term]) -> str:
    if _is_plain(scope, terms):
        return "SELECT term, size FROM lists"
    return "SELECT term, count(*) FROM packed GROUP BY term"


_WEIGHTS = """
    weights AS MATERIALIZED (
        SELECT array_agg(coalesce(idf, 0) ORDER BY n) AS idfs
        FROM generate_series(0, {last}) AS n LEFT JOIN rarity ON term = n
    )"""


def _weigh_sql(counted: Sequence[str]) -> str:
    """What each term weighs: how rare it is in the scope, as often as it is asked for."""
    return f"""
    rarity AS MATERIALIZED (
        SELECT term, {K1 + 1}::float8 * (%(times)s::int[])[term + 1]
            * ln(1 + (%(chunks)s - matching + 0.5) / (matching + 0.5)) AS idf
        FROM (
            SELECT term, least(sum(c), %(chunks)s)::float8 AS matching
            FROM ({" UNION ALL ".join(counted)}) AS counted (term, c) GROUP BY term
        ) AS summed
    )"""


def _best_sql(scope: Scope, query: KeywordQuery) -> str:
    """The first of the pool. What a chunk must say is asked of the best first, and of no more."""
    ordered = "SELECT * FROM bm25 ORDER BY phrases DESC, score DESC, chunk_id"
    if not (scope.has_gone or query.required or query.excluded):
        return f"{ordered} LIMIT %(pool)s"
    return f"""
            SELECT * FROM ({ordered}) AS ordered
            WHERE (
                SELECT true FROM knowledge_chunktext AS t
                WHERE t.chunk_id = ordered.chunk_id {conditions_sql(query)}
            )
            LIMIT %(pool)s"""


def conditions_sql(query: KeywordQuery) -> str:
    """What a chunk must and must not say."""
    required = (
        f"AND ts_match_vq(tsv, %(required_{n})s::tsquery)" for n in range(len(query.required))
    )
    excluded = (
        f"AND NOT ts_match_vq(tsv, %(excluded_{n})s::tsquery)" for n in range(len(query.excluded))
    )
    return " ".join((*required, *excluded))


def _phrases_sql(phrases: Sequence[Phrase]) -> str:
    """How many of the phrases a chunk has; only one that has all their words is read for it."""
    counted = (
        f"""CASE WHEN terms & {_bits(phrase)} = {_bits(phrase)} THEN coalesce((
                SELECT ts_match_vq(tsv, %(preferred_{n})s::tsquery)::int
                FROM knowledge_chunktext AS t WHERE t.chunk_id = scored.chunk_id
            ), 0) ELSE 0 END"""
        for n, phrase in enumerate(phrases)
    )
    return " + ".join(counted) or "0"


def _has_terms_sql(required: Sequence[Phrase]) -> str:
    conditions = [f"terms & {_bits(phrase)} = {_bits(phrase)}" for phrase in required]
    return "WHERE " + " AND ".join(conditions) if conditions else ""


def _if_phrases(query: KeywordQuery, bits: str) -> str:
    return f", {bits} AS terms" if query.required or query.preferred else ""


def _bits(phrase: Phrase) -> str:
    return f"{sum(1 << n for n in phrase.terms if n <= _LAST_BIT)}::bigint"


def _bit(n: int) -> str:
    return f"{1 << n if n <= _LAST_BIT else 0}::bigint"


def params(scope: Scope, query: KeywordQuery) -> dict[str, Any]:
    """The values of the statement."""
    lexemes = _lexemes(query.terms)
    values: dict[str, Any] = {
        f"term_{n}_{m}": Term("", (lexeme,), is_prefix=term.is_prefix).query
        for n, term in enumerate(query.terms)
        for m, lexeme in enumerate(term.lexemes)
    }
    for n, term in enumerate(query.terms):
        if term.is_prefix:
            values |= {f"from_{n}": term.lexemes[0], f"until_{n}": term.lexemes[0] + _END_OF_PREFIX}
    values |= {f"required_{n}": each.query for n, each in enumerate(query.required)}
    values |= {f"preferred_{n}": each.query for n, each in enumerate(query.preferred)}
    values |= {f"excluded_{n}": each for n, each in enumerate(query.excluded)}
    return values | {
        "any_term": " | ".join(term.query for term in query.terms),
        "lexemes": [lexeme for lexeme, _ in lexemes],
        "places": [place for _, place in lexemes],
        "times": [term.times for term in query.terms],
        "chunks": scope.chunks,
        "least_norm": K1 * (1 - B),
        "norm_by_length": K1 * B / max(1.0, scope.words / max(1, scope.chunks)),
    }


def _lexemes(terms: Iterable[Term]) -> list[tuple[str, int]]:
    return [
        (lexeme, place)
        for place, term in enumerate(terms)
        if not term.is_prefix
        for lexeme in term.lexemes
    ]


# Of a very long query, the terms that weigh most -------------------------------------------------


def heaviest_terms(scope: Scope, query: KeywordQuery) -> KeywordQuery:
    """The query with no more terms than can be ranked by: those that weigh most in the scope."""
    if len(query.terms) <= MOST_TERMS:
        return query
    plan = keyword_plan(scope.chunks, library_chunks=scope.library_chunks)
    values = {"owner": scope.owner_id, "owners": scope.owner_ids, "items": scope.items}
    rows = fetch(_counts_sql(scope, query.terms, plan), values | params(scope, query))
    weights = {row["term"]: float(row["idf"]) for row in rows}
    kept = sorted(sorted(weights, key=lambda n: (-weights[n], n))[:MOST_TERMS])
    return query.with_terms(kept or range(MOST_TERMS))


def _counts_sql(scope: Scope, terms: Sequence[Term], plan: KeywordPlan) -> str:
    """What each term weighs. Every lexeme of a tsvector is looked up: terms are too many to ask."""
    counted = [
        f"""SELECT term, count(DISTINCT chunk_id) FROM knowledge_chunktext, unnest(tsv) AS word
            JOIN asked ON asked.lexeme = word.lexeme
        WHERE {_read_condition(scope, plan)} GROUP BY term"""
    ]
    if plan is KeywordPlan.PACKED:
        counted.append(_count_packed_sql(scope, terms))
    return (
        f"WITH {SCOPE_SQL},{_packed_sql(scope, terms)},{_weigh_sql(counted)} SELECT * FROM rarity"
    )


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
