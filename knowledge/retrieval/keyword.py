"""Nearest by word: every chunk in scope that has a term of the query, ranked by BM25.

A chunk counts for more in an item that speaks of the query in several of its chunks: the best get
their item's support, the mean of its three best chunks, in addition to their own score.

Packed chunks are found by their postings; fresh ones, and those of a narrow scope, are read one by
one from their tsvectors. Both come out as the same rows, a term and an entry as postings have it,
and so with the same exact scores. How rare a term is and how long chunks are is counted in the
scope itself, so that no score tells of what the caller cannot see.

The words of a query are sent as arrays, and the text of the statement does not depend on them: so
Postgres plans it a few times for each connection, and not for each search.
"""

from collections.abc import Sequence
from typing import Any

from knowledge.indexing.packing import CHUNK_SHIFT, FREQUENCY_SHIFT, LONGEST, MOST_FREQUENT
from knowledge.retrieval.conditions import LAST_BIT, conditions_sql, has_terms_sql, phrases_sql
from knowledge.retrieval.plans import KeywordPlan
from knowledge.retrieval.query_words import KeywordQuery, Term
from knowledge.retrieval.scope import Scope

K1 = 1.2
B = 0.75
SUPPORTED = 100
"""So many of the best by their own scores get their item's support."""
SUPPORTERS = 3
"""So many of an item's chunks speak for it, or all of fewer; what does not match counts as 0."""
_END_OF_PREFIX = "\U0010ffff"


def candidates_sql(
    scope: Scope,
    query: KeywordQuery,
    plan: KeywordPlan,
    pool: int,
    *,
    with_semantic: bool = False,
) -> str:
    """The best chunks by word, at least so many, each with its exact score."""
    likely, scored = [], _score_sql("found", query)
    if _looks_up(scope, query, plan, pool):
        likely, scored = _likely_parts(query, with_semantic=with_semantic), _COMPLETED
    parts = [
        *weighed_parts(scope, query, plan, pool),
        *likely,
        f"""
    bm25 AS (
        SELECT chunk_id, score, {phrases_sql(query.preferred)} AS phrases
        FROM ({scored}) AS scored {has_terms_sql(query.required)}
    )""",
        f"""
    best AS MATERIALIZED ({_best_sql(scope, query)}{_AND_NEAREST if with_semantic else ""}
    )""",
        _KEYWORD,
    ]
    return ",".join(parts)


def weighed_parts(
    scope: Scope, query: KeywordQuery, plan: KeywordPlan, pool: int = 0, *, read: str = ""
) -> list[str]:
    """Which chunk has which term (`found`), and what each term weighs (`rarity`, `weights`)."""
    looks_up = _looks_up(scope, query, plan, pool)
    found = _found_parts(scope, query, plan, looks_up=looks_up, read=read or _READ)
    return [*found, *_weigh_parts(_counts(scope, query, plan, looks_up=looks_up))]


# Which chunk has which term, and how often: a row for each ---------------------------------------

_CHUNK = f"(entry >> {CHUNK_SHIFT})"


def _found_parts(
    scope: Scope, query: KeywordQuery, plan: KeywordPlan, *, looks_up: bool, read: str
) -> list[str]:
    parts = [_ASKED, read.format(condition=_read_condition(scope, plan))]
    rows = ["SELECT term, entry FROM read"]
    if plan is KeywordPlan.PACKED:
        parts.append(_lists_sql(scope, query))
        lists = "lists"
        if looks_up:
            parts.append(_SHORT_AND_LONG)
            lists = "(SELECT lists.* FROM lists JOIN sizes USING (term) WHERE is_short) AS short"
        if not scope.is_whole or scope.leaves_out:
            parts.append(_NAMED.format(owners=scope.owners))
        rows.append(f"""
        SELECT term, entry FROM (SELECT term, unnest(entries) AS entry FROM {lists}) AS entries
        WHERE {_packed_condition(scope)}""")
    found = _once_each(query, " UNION ALL ".join(rows))
    return [*parts, f"\n    found AS ({found}\n    )"]


# Subqueries hide from the planner how many words there are, as `scope` hides whose.
_ASKED = """
    asked AS MATERIALIZED (
        SELECT term, word, query
        FROM unnest(
            (SELECT %(places)s::int[]), (SELECT %(lexemes)s::text[]),
            (SELECT %(queries)s::text[]::tsquery[])
        ) AS each (term, word, query)
    )"""

# ts_rank of one word with all weights 1 is (1 + 1/4 + … + 1/tf²) / (π²/6), which gives the
# frequency back exactly up to the 256 places a tsvector keeps, and reads no other word. Of a
# beginning it adds words up, hence the bound.
_READ = f"""
    read AS (
        SELECT term, chunk_id << {CHUNK_SHIFT} | least({LONGEST}, length) | (least({MOST_FREQUENT},
                round(1 / (1.6449340668482264 * greatest(1 - rank, 0.001)) - 0.5)::bigint
            ) << {FREQUENCY_SHIFT}) AS entry
        FROM (
            SELECT chunk_id, tsv, length FROM knowledge_chunktext
            WHERE {{condition}} AND ts_match_vq(tsv, %(any_term)s::tsquery) OFFSET 0
        ) AS matching, LATERAL (
            SELECT term, ts_rank('{{{{1,1,1,1}}}}', tsv, query) AS rank
            FROM asked OFFSET 0
        ) AS ranked
        WHERE rank > 0
    )"""


def _read_condition(scope: Scope, plan: KeywordPlan) -> str:
    if plan is KeywordPlan.READ:
        return f"{scope.owners} AND {scope.condition}"
    return f"{scope.owners} AND segment_id IS NULL AND {scope.filter}"


def _lists_sql(scope: Scope, query: KeywordQuery) -> str:
    """The postings of the terms."""
    beginnings = f"""
        UNION ALL
        SELECT term, lexeme, size, entries
        FROM unnest(%(beginnings)s::int[], %(begins)s::text[], %(ends)s::text[])
                AS asked (term, begin, until)
            JOIN knowledge_wordpostings
                ON lexeme >= begin COLLATE "C" AND lexeme < until COLLATE "C"
        WHERE {scope.owners}"""
    return f"""
    lists AS MATERIALIZED (
        SELECT term, lexeme, size, entries
        FROM asked JOIN knowledge_wordpostings ON lexeme = word COLLATE "C"
        WHERE {scope.owners}{beginnings if query.has_prefix else ""}
    )"""


_NAMED = """
    named AS MATERIALIZED (
        SELECT chunk_id FROM knowledge_chunktext
        WHERE {owners} AND item_id = ANY((SELECT items FROM scope)::uuid[])
    )"""


def _packed_condition(scope: Scope) -> str:
    if scope.is_whole and not scope.leaves_out:
        return "true"
    if scope.is_whole:
        return f"{_CHUNK} NOT IN (SELECT chunk_id FROM named)"
    return f"coalesce({_CHUNK} IN (SELECT chunk_id FROM named), false)"


def _once_each(query: KeywordQuery, rows: str) -> str:
    """One row for each term of a chunk: of several lexemes the most frequent counts."""
    if not _has_several_lexemes(query):
        return rows
    entry = "max(entry)"
    if query.has_prefix:  # of several words with this beginning no frequency can be told
        once = f"max(entry & ~{MOST_FREQUENT << FREQUENCY_SHIFT}::bigint | {1 << FREQUENCY_SHIFT})"
        entry = f"CASE WHEN term = ANY(%(beginnings)s::int[]) THEN {once} ELSE {entry} END"
    return f"SELECT term, {entry} AS entry FROM ({rows}) AS each GROUP BY term, {_CHUNK}"


def _has_several_lexemes(query: KeywordQuery) -> bool:
    return query.has_prefix or any(len(term.lexemes) > 1 for term in query.terms)


# How rare each term is, and the scores -----------------------------------------------------------


def _counts(scope: Scope, query: KeywordQuery, plan: KeywordPlan, *, looks_up: bool) -> list[str]:
    """How many chunks of the scope have each term; several rows of a term are added up.

    Of a term with several long lists the longest stands for all.
    """
    is_plain = scope.is_whole and not scope.leaves_out and not _has_several_lexemes(query)
    if is_plain and plan is KeywordPlan.PACKED:
        return ["SELECT term, size FROM lists", _COUNT.format("read")]
    counts = [_COUNT.format("found")]
    if looks_up:
        counts.append("SELECT term, size FROM sizes WHERE NOT is_short")
        if scope.leaves_out:
            hidden = _LOOK_UP.format(chunks="named")
            counts.append(
                f"SELECT term, -count(DISTINCT {_CHUNK}) FROM ({hidden}) AS hidden GROUP BY term"
            )
    return counts


_COUNT = "SELECT term, count(*) FROM {} GROUP BY term"


def _weigh_parts(counts: Sequence[str]) -> list[str]:
    """What each term weighs: how rare it is in the scope, as often as it is asked for.

    Also as one array, for a join with so many rows the planner would make of loops.
    """
    return [
        f"""
    rarity AS MATERIALIZED (
        SELECT term, {K1 + 1}::float8 * (%(times)s::int[])[term + 1]
            * ln(1 + (%(chunks)s::float8 - matching + 0.5) / (matching + 0.5)) AS idf
        FROM (
            SELECT term, least(greatest(sum(c), 0), %(chunks)s)::float8 AS matching
            FROM ({" UNION ALL ".join(counts)}) AS counted (term, c) GROUP BY term
        ) AS summed
        WHERE matching > 0
    )""",
        """
    weights AS MATERIALIZED (
        SELECT array_agg(coalesce(idf, 0) ORDER BY n) AS idfs
        FROM generate_series(0, (SELECT cardinality(%(times)s::int[]) - 1)) AS n
            LEFT JOIN rarity ON term = n
    )""",
    ]


# Floats throughout: with one literal of another type Postgres reckons ten times as long.
_NORM = f"(%(least_norm)s::float8 + %(norm_by_length)s::float8 * (entry & {LONGEST}))"
_GAIN = f"idf / (1::float8 + {_NORM} / (entry >> {FREQUENCY_SHIFT} & {MOST_FREQUENT}))"


def _score_sql(rows: str, query: KeywordQuery) -> str:
    bits = f", bit_or(1::bigint << least(term, {LAST_BIT + 1})) AS terms"
    return f"""
        SELECT {_CHUNK} AS chunk_id, sum({_GAIN}) AS score
            {bits if query.required or query.preferred else ""}
        FROM (SELECT *, (SELECT idfs FROM weights)[term + 1] AS idf FROM {rows}) AS weighed
        GROUP BY 1"""


# In a large library the long lists of common terms are only looked into --------------------------

MANY_CHUNKS = 4_000
"""Up to here every entry is read: that costs less than to tell short lists from long ones. So it
does in larger libraries where many places are asked for, as nearly all lists are short then."""
CANDIDATES = 150
"""So many of the best by short lists, and twice the pool, are looked up in the long ones."""
_SHORT_ENTRIES, _SHORT_A_TERM, _SHORT_A_PLACE, _SHORT_SHARE = 2_000, 50, 25, 0.03
_MOST_HIDDEN = 0.05

_SHORT_AND_LONG = """
    sizes AS MATERIALIZED (
        SELECT term, max(size) AS size,
            sum(max(size)) OVER (ORDER BY max(size), term)
                <= greatest(%(short)s, min(max(size)) OVER ()) AS is_short
        FROM (SELECT term, sum(size) AS size FROM lists GROUP BY term, lexeme) AS summed
        GROUP BY term
    ),
    long AS MATERIALIZED (
        SELECT term, entries, entries[1] AS first, entries[cardinality(entries)] AS last
        FROM (
            SELECT term, entries || '{}'::bigint[] AS entries
            FROM lists JOIN sizes USING (term) WHERE NOT is_short OFFSET 0
        ) AS read_once
    )"""

# An entry is greater than its chunk's number alone, and smaller than that of the next chunk.
_LOOK_UP = f"""
        SELECT term, entry FROM (
            SELECT term, wanted.chunk_id,
                entries[width_bucket((wanted.chunk_id + 1) << {CHUNK_SHIFT}, entries)] AS entry
            FROM long JOIN {{chunks}} AS wanted
                ON (wanted.chunk_id + 1) << {CHUNK_SHIFT} > first
                AND wanted.chunk_id << {CHUNK_SHIFT} <= last
            OFFSET 0
        ) AS looked_up
        WHERE {_CHUNK} = chunk_id"""

# No joins, of which the planner would make loops; by `coalesce` each chunk is looked up in a hash.
_COMPLETED = """
        SELECT chunk_id, sum(score) AS score FROM (
            SELECT * FROM partial WHERE coalesce(chunk_id IN (SELECT chunk_id FROM likely), false)
            UNION ALL SELECT * FROM rest
        ) AS parts
        GROUP BY chunk_id"""


def _looks_up(scope: Scope, query: KeywordQuery, plan: KeywordPlan, pool: int) -> bool:
    """Whether long lists are looked into for likely chunks alone.

    Not where phrases or beginnings are asked, nor where much of the library is out of scope: then
    the terms of every chunk must be known.
    """
    hidden = scope.library_chunks - scope.chunks
    is_nearly_all = plan is KeywordPlan.PACKED and hidden < _MOST_HIDDEN * scope.chunks
    is_large = scope.chunks > MANY_CHUNKS * max(1, pool / 200)
    return scope.is_whole and is_nearly_all and is_large and not query.is_marked


def _likely_parts(query: KeywordQuery, *, with_semantic: bool) -> list[str]:
    """The chunks that may be the best, and those found by meaning, which need their scores too."""
    also = "UNION SELECT chunk_id FROM semantic" if with_semantic else ""
    looked_up = _once_each(query, _LOOK_UP.format(chunks="likely"))
    return [
        f"\n    partial AS MATERIALIZED ({_score_sql('found', query)}\n    )",
        f"""
    likely AS MATERIALIZED (
        (SELECT chunk_id FROM partial ORDER BY score DESC, chunk_id LIMIT %(candidates)s) {also}
    )""",
        f"""
    rest AS MATERIALIZED ({_score_sql(f"({looked_up}) AS looked_up", query)}
    )""",
    ]


def _short_entries(scope: Scope, query: KeywordQuery, pool: int) -> int:
    """How many entries the short lists may have together: more, the deeper a ranking must be."""
    least = _SHORT_ENTRIES + _SHORT_A_TERM * len(query.terms) + _SHORT_A_PLACE * pool
    return max(least, int(_SHORT_SHARE * scope.chunks))


# The best of them -----------------------------------------------------------------------------


def _best_sql(scope: Scope, query: KeywordQuery) -> str:
    """The first by their own scores. What a chunk must say is asked of these first."""
    conditions = conditions_sql(query)
    if not (scope.gone or conditions):
        return f"\n        (SELECT * FROM bm25 {_ORDERED} LIMIT %(enough)s)"
    enough = "" if conditions else "LIMIT %(enough)s + %(gone)s"
    return f"""
        (
            SELECT * FROM (SELECT * FROM bm25 {_ORDERED} {enough}) AS ordered
            WHERE (
                SELECT true FROM knowledge_chunktext AS t
                WHERE t.chunk_id = ordered.chunk_id {conditions}
            )
            LIMIT %(enough)s
        )"""


_ORDERED = "ORDER BY phrases DESC, score DESC, chunk_id"

# What is near by meaning and has words of the query needs a score to be blended.
_AND_NEAREST = """
        UNION
        SELECT * FROM bm25 WHERE coalesce(chunk_id IN (SELECT chunk_id FROM semantic), false)"""

# Items are looked up one by one: of a join with so many chunks the planner would make a scan.
_KEYWORD = f"""
    keyword AS MATERIALIZED (
        SELECT *, row_number() OVER ({_ORDERED}) AS rank
        FROM (
            SELECT chunk_id, phrases, score + sum(score) FILTER (WHERE place <= {SUPPORTERS})
                OVER (PARTITION BY item_id) / least({SUPPORTERS}, greatest(1, (
                    SELECT chunk_count FROM knowledge_item AS item WHERE item.id = item_id
                ))) AS score
            FROM (
                SELECT *, row_number()
                    OVER (PARTITION BY item_id ORDER BY score DESC, chunk_id) AS place
                FROM (
                    SELECT *, (
                        SELECT item_id FROM knowledge_chunktext AS t
                        WHERE t.chunk_id = best.chunk_id
                    ) AS item_id
                    FROM best {_ORDERED} LIMIT {SUPPORTED}
                ) AS of_items
            ) AS placed
            UNION ALL
            (SELECT chunk_id, phrases, score FROM best {_ORDERED} OFFSET {SUPPORTED})
        ) AS scored
    )"""


def params(scope: Scope, query: KeywordQuery, *, pool: int = 0) -> dict[str, Any]:
    """The values of the statement for so many of the best."""
    asked = [(n, lexeme) for n, term in enumerate(query.terms) for lexeme in term.lexemes]
    begins = {n: term.lexemes[0] for n, term in enumerate(query.terms) if term.is_prefix}
    values: dict[str, Any] = {
        "any_term": " | ".join(term.query for term in query.terms),
        "places": [n for n, _ in asked],
        "lexemes": [lexeme for _, lexeme in asked],
        "queries": [
            Term("", (lexeme,), is_prefix=query.terms[n].is_prefix).query for n, lexeme in asked
        ],
        "times": [term.times for term in query.terms],
        "beginnings": list(begins),
        "begins": list(begins.values()),
        "ends": [begin + _END_OF_PREFIX for begin in begins.values()],
        "candidates": CANDIDATES + 2 * pool,
        "enough": max(SUPPORTED, pool),
        "short": _short_entries(scope, query, pool),
        "chunks": scope.chunks,
        "gone": scope.gone,
        "least_norm": K1 * (1 - B),
        "norm_by_length": K1 * B / max(1.0, scope.words / max(1, scope.chunks)),
    }
    values |= {f"required_{n}": each.query for n, each in enumerate(query.required)}
    values |= {f"preferred_{n}": each.query for n, each in enumerate(query.preferred)}
    return values | {f"excluded_{n}": each for n, each in enumerate(query.excluded)}
