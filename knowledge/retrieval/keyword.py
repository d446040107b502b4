"""Nearest by word: full-text candidates within the scope, ranked by BM25."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log, prod
from typing import Any

from django.db import connection

from knowledge.retrieval import caches
from knowledge.retrieval.candidate_terms import TOO_MANY, Word, candidates_query
from knowledge.retrieval.plans import KeywordPlan
from knowledge.retrieval.scope import Scope
from knowledge.retrieval.statistics import Corpus, average_length
from knowledge.text.languages import DEFAULT, configuration_for
from knowledge.text.words import LONGEST_WORD, compound_parts, identifiers, plain

K1 = 1.2
B = 0.75
MOST_WORDS = 32
"""Of a longer query the rarest words count, and its quotation marks and dashes mean nothing."""

_PHRASE = re.compile(r'"([^"]+)"')
# Not before a digit, as in the error code -32605, or one or two letters, as in the flag -g; and
# nothing but a word or a name, unlike -T/--task.
_EXCLUDED = re.compile(r"(?<!\S)-([^\W\d][\w.-]+\w)(?!\S)")
_PREFIX = re.compile(r"(?<!\S)(\w{2,})\*(?!\S)")

_LEXEMES = """
    SELECT place, array_agg(DISTINCT lexeme)
    FROM unnest(%s::text[]) WITH ORDINALITY AS asked (word, place),
        unnest(%s::regconfig[]) AS configuration,
        unnest(to_tsvector(configuration, word))
    GROUP BY place
"""
_PHRASES = """
    SELECT place, string_agg(DISTINCT phrase::text, ' | ')
    FROM unnest(%s::text[]) WITH ORDINALITY AS asked (words, place),
        unnest(%s::regconfig[]) AS configuration,
        phraseto_tsquery(configuration, words) AS phrase
    WHERE numnode(phrase) > 0
    GROUP BY place
    ORDER BY place
"""


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """What a caller wants by word: terms to rank by, and what a chunk must or must not say."""

    words: tuple[tuple[str, ...], ...]
    """For each word, the tsqueries that stand for it: its stems and itself."""
    shares: tuple[float, ...]
    spoken: tuple[str, ...]
    """The same words as a person would point at them in a text."""
    required: tuple[str, ...]
    preferred: tuple[Word, ...]
    """Phrases: chunks that have them come first, and the others fill up."""
    excluded: tuple[str, ...]

    @property
    def any_word(self) -> str:
        return " | ".join(query for word in self.words for query in word)


@dataclass(frozen=True, slots=True)
class _ParsedQuery:
    words: tuple[str, ...]
    exact: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def read_query(query: str, corpus: Corpus) -> KeywordQuery:
    """Read `"a phrase"`, `-word` and `begin*`; every other word is wanted, none is required."""
    asked = _split(query)
    stems = stems_of(asked.words, corpus.configurations)
    groups = [(word, *stems[word]) for word in asked.words if stems[word]]
    if not groups and not asked.exact:
        groups = [(word,) for word in asked.words]
    groups = _rarest(groups, corpus) + _rarest([(each,) for each in asked.exact], corpus)
    words = [
        (tuple(_quote_lexeme(each) for each in dict.fromkeys(group)), _share(group, corpus))
        for group in groups
    ]
    words += [
        ((f"{_quote_lexeme(prefix)}:*",), corpus.share([prefix])) for prefix in asked.prefixes
    ]
    return KeywordQuery(
        words=tuple(queries for queries, _ in words),
        shares=tuple(share for _, share in words),
        spoken=(*(group[0] for group in groups), *asked.prefixes),
        required=tuple(phrase.query for phrase in _phrases(asked.required, corpus)),
        preferred=_phrases(asked.preferred, corpus),
        excluded=tuple(query for word in asked.excluded for query in _without(word, corpus)),
    )


def _rarest(groups: Sequence[tuple[str, ...]], corpus: Corpus) -> list[tuple[str, ...]]:
    """The words that tell most, in the order in which they were asked for."""
    if len(groups) <= MOST_WORDS:
        return list(groups)
    kept = {*sorted(groups, key=lambda group: _share(group, corpus))[:MOST_WORDS]}
    return [group for group in groups if group in kept]


def _share(group: tuple[str, ...], corpus: Corpus) -> float:
    return corpus.share(group[1:] or group)


def _phrases(phrases: Sequence[str], corpus: Corpus) -> tuple[Word, ...]:
    """The phrases as tsqueries; none for one of words that every dictionary drops."""
    if not phrases:
        return ()
    with connection.cursor() as cursor:
        asked = [plain(phrase) for phrase in phrases]
        cursor.execute(_PHRASES, [asked, list(corpus.configurations)])
        rows = cursor.fetchall()
    return tuple(Word(f"({query})", _share_of_phrase(asked[n - 1], corpus)) for n, query in rows)


def _share_of_phrase(words: str, corpus: Corpus) -> float:
    """An estimate, as if its words stood together by chance."""
    stems = stems_of(_words(words), corpus.configurations)
    return max(1e-7, prod(corpus.share(each) for each in stems.values() if each))


def _without(word: str, corpus: Corpus) -> list[str]:
    """What a chunk must not say for `-word`; who writes it with its dash means a flag by it."""
    stems = stems_of(_without_stop_words(word), corpus.configurations)
    flag = _quote_lexeme(f"-{word.lower()}")
    return [f"{_any_of((each, *stems[each]))} & !{flag}" for each in stems]


def stems_of(words: Sequence[str], configurations: Sequence[str]) -> dict[str, list[str]]:
    """Each word's stems in every language there is; none for a word too common to count."""
    asked = tuple(configurations)
    known = {word: caches.stems.get((asked, word)) for word in words}
    found = {word: stems for word, stems in known.items() if stems is not None}
    if unknown := [word for word in known if word not in found]:
        with connection.cursor() as cursor:
            cursor.execute(_LEXEMES, [unknown, list(asked)])
            rows = {unknown[place - 1]: stems for place, stems in cursor.fetchall()}
        found |= {word: caches.stems.put((asked, word), rows.get(word, [])) for word in unknown}
    return found


def conditions_sql(query: KeywordQuery) -> str:
    """What a chunk must and must not say. By function: the operator would call for the index."""
    required = (
        f"AND ts_match_vq(tsv, %(required_{n})s::tsquery)" for n in range(len(query.required))
    )
    excluded = (
        f"AND NOT ts_match_vq(tsv, %(excluded_{n})s::tsquery)" for n in range(len(query.excluded))
    )
    return " ".join((*required, *excluded))


def candidates_sql(scope: Scope, query: KeywordQuery, plan: KeywordPlan) -> str:
    """The best chunks by word, each with its exact score.

    A column for each word, and not a row: it is several times as quick.
    """
    ranks = ", ".join(
        f"{_greatest(_RANK.format(term=f'%(term_{n}_{m})s') for m in range(len(queries)))} AS r{n}"
        for n, queries in enumerate(query.words)
    )
    phrases = " + ".join(
        f"ts_match_vq(tsv, %(preferred_{n})s::tsquery)::int" for n in range(len(query.preferred))
    )
    numbers = range(len(query.words))
    scores = " + ".join(_SCORE.format(n=n) for n in numbers)
    return f"""
    spoken AS MATERIALIZED (
        SELECT chunk_id, {ranks}, {phrases or 0} AS phrases,
            {K1} * (1 - {B} + {B} * length / %(average_length)s::float8) AS norm
        FROM ({_rows_sql(scope, query, plan)}) AS rows
    ),
    rarity AS ({_rarity_sql(numbers, plan)}),
    bm25 AS MATERIALIZED (
        SELECT chunk_id, phrases, {scores} AS score
        FROM spoken, rarity
    ),
    keyword AS MATERIALIZED (
        SELECT chunk_id, score, phrases,
            row_number() OVER (ORDER BY phrases DESC, score DESC, chunk_id) AS rank
        FROM bm25
        ORDER BY rank
        LIMIT %(pool)s
    )"""


# ts_rank of one word with all weights 1 is (1 + 1/4 + … + 1/tf²) / (π²/6), which gives the
# frequency back exactly up to the 256 places a tsvector keeps, and reads no other word.
_RANK = "ts_rank('{{1,1,1,1}}', tsv, {term}::tsquery)"
_FREQUENCY = "round(1 / (1.6449340668482264 * (1 - r{n})) - 0.5)"
_SCORE = (
    f"CASE WHEN r{{n}} > 0 THEN idf{{n}} * {K1 + 1} * {_FREQUENCY} / ({_FREQUENCY} + norm) "
    "ELSE 0 END"
)


def _rows_sql(scope: Scope, query: KeywordQuery, plan: KeywordPlan) -> str:
    conditions = conditions_sql(query)
    if plan is KeywordPlan.SCAN:
        return f"""
            SELECT chunk_id, tsv, length FROM knowledge_chunktext
            WHERE {scope.owners} AND {scope.condition}
                AND ts_match_vq(tsv, %(any_word)s::tsquery) {conditions}"""
    likely = f"{scope.owners} AND {scope.condition} AND ts_match_vq(tsv, %(theta)s::tsquery)"
    if plan is KeywordPlan.INDEX:
        likely = f"{scope.owners_by_index} AND tsv @@ %(theta)s::tsquery AND {scope.filter}"
    return f"""
            SELECT chunk_id, tsv, length FROM knowledge_chunktext
            WHERE {likely} {conditions}
            UNION ALL
            SELECT chunk_id, tsv, length FROM semantic JOIN knowledge_chunktext USING (chunk_id)
            WHERE NOT ts_match_vq(tsv, %(theta)s::tsquery)"""


def _rarity_sql(numbers: Iterable[int], plan: KeywordPlan) -> str:
    """Counted, when every chunk of the scope was read; else from the table's statistics."""
    if plan is not KeywordPlan.SCAN:
        return "SELECT " + ", ".join(f"%(idf_{n})s::float8 AS idf{n}" for n in numbers)
    counts = ", ".join(f"count(*) FILTER (WHERE r{n} > 0) AS c{n}" for n in numbers)
    rarities = ", ".join(
        f"ln(1 + (%(chunks)s - c{n} + 0.5::float8) / (c{n} + 0.5)) AS idf{n}" for n in numbers
    )
    return f"SELECT {rarities} FROM (SELECT {counts} FROM spoken) AS counted"


def _greatest(expressions: Iterable[str]) -> str:
    listed = list(expressions)
    return listed[0] if len(listed) == 1 else f"greatest({', '.join(listed)})"


def params(
    scope: Scope, query: KeywordQuery, plan: KeywordPlan, *, widely: bool = False
) -> dict[str, Any]:
    """The values of the statement for this plan; widely, when too few were found before."""
    values: dict[str, Any] = {
        f"term_{n}_{m}": each
        for n, queries in enumerate(query.words)
        for m, each in enumerate(queries)
    }
    values |= {f"required_{n}": each for n, each in enumerate(query.required)}
    values |= {f"preferred_{n}": each.query for n, each in enumerate(query.preferred)}
    values |= {f"excluded_{n}": each for n, each in enumerate(query.excluded)}
    values["average_length"] = average_length(scope.owner_ids or [scope.owner_id])
    if plan is KeywordPlan.SCAN:
        return values | {"any_word": query.any_word, "chunks": scope.chunks}
    shared = list(zip(query.words, query.shares, strict=True))
    words = [*query.preferred, *(Word(_any_query(queries), share) for queries, share in shared)]
    values |= {f"idf_{n}": _idf(scope.chunks, share) for n, (_, share) in enumerate(shared)}
    too_many = inf if widely else TOO_MANY
    return values | {"theta": candidates_query(words, scope.chunks, too_many=too_many)}


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
            [
                list(query.spoken),
                [_any_query(queries) for queries in query.words],
                list(chunk_ids),
            ],
        )
        return dict(cursor.fetchall())


def _split(query: str) -> _ParsedQuery:
    """What is asked for, by how it is written.

    A phrase is required only where nothing else is asked for, and a word is left out only where
    something else is. A query of many words is a text: it says nothing by its marks.
    """
    if len(query.split()) > MOST_WORDS:
        return _ParsedQuery(*_words_to_rank(query))
    phrases = _PHRASE.findall(query)
    rest = _PHRASE.sub(" ", query)
    excluded = _EXCLUDED.findall(rest)
    others = _EXCLUDED.sub(" ", rest)
    if not phrases and not _words(others):
        return _ParsedQuery(*_words_to_rank(query))
    prefixes = tuple(prefix.lower() for prefix in _PREFIX.findall(others))
    words, exact = _words_to_rank(" ".join((_PREFIX.sub(" ", others), *phrases)))
    is_phrase_alone = not _words(others)
    return _ParsedQuery(
        words,
        (*exact, *(f"-{word.lower()}" for word in excluded)),
        prefixes=prefixes,
        required=tuple(phrases) if is_phrase_alone else (),
        # One quoted word in a question is a word like the others.
        preferred=() if is_phrase_alone else tuple(each for each in phrases if each.split()[1:]),
        excluded=tuple(excluded),
    )


def _words_to_rank(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words to rank by, and the identifiers as they are written."""
    exact = tuple(identifiers(text))
    return _without_stop_words(text) or (() if exact else _words(text)), exact


def _without_stop_words(text: str) -> tuple[str, ...]:
    """The words of a text without the stop words in its identifiers.

    `is_unscoped` is not about `is`, whatever language beside English has that as a word.
    """
    parts = sorted(compound_parts(text))
    stems = stems_of(parts, [configuration_for(DEFAULT)]) if parts else {}
    return tuple(word for word in _words(text) if stems.get(word) != [])


def _words(text: str) -> tuple[str, ...]:
    words = dict.fromkeys(plain(text).lower().split())
    return tuple(word for word in words if len(word) <= LONGEST_WORD)


def _quote_lexeme(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _any_of(lexemes: Iterable[str]) -> str:
    return _any_query(_quote_lexeme(lexeme) for lexeme in dict.fromkeys(lexemes))


def _any_query(queries: Iterable[str]) -> str:
    return f"({' | '.join(queries)})"


def _idf(chunks: int, share: float) -> float:
    having = chunks * share
    return log(1 + (chunks - having + 0.5) / (having + 0.5))
