"""What a query asks for by word: terms to rank by, and what a chunk must or must not say."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import connection

from knowledge.retrieval import caches
from knowledge.text.languages import DEFAULT, configuration_for
from knowledge.text.words import LONGEST_WORD, compound_parts, identifiers, plain, words_of

MARKED_WORDS = 32
"""A longer query is a text: its quotation marks and dashes mean nothing."""

_PHRASE = re.compile(r'"([^"]+)"')
# Not before a digit, as in the error code -32605, or one or two letters, as in the flag -g; and
# nothing but a word or a name, unlike -T/--task.
_EXCLUDED = re.compile(r"(?<!\S)-([^\W\d][\w.-]+\w)(?!\S)")
_PREFIX = re.compile(r"(?<!\S)(\w{2,})\*(?!\S)")

_LEXEMES = """
    SELECT word, array_agg(DISTINCT lexeme) FROM unnest(%s::text[]) AS word,
        unnest(to_tsvector(%s::regconfig, word))
    GROUP BY word
"""
_PHRASES = """
    SELECT place, string_agg(DISTINCT phrase::text, ' | ')
    FROM unnest(%s::text[]) WITH ORDINALITY AS asked (words, place),
        unnest(%s::regconfig[]) AS configuration,
        phraseto_tsquery(configuration, words) AS phrase
    WHERE numnode(phrase) > 0
    GROUP BY place
"""


@dataclass(frozen=True, slots=True)
class Term:
    """A word that is asked for: what stands for it in the index, and how often it is asked."""

    spoken: str
    lexemes: tuple[str, ...]
    times: int = 1
    is_prefix: bool = False

    @property
    def query(self) -> str:
        """As a tsquery."""
        ending = ":*" if self.is_prefix else ""
        return _any_of(f"{_quote_lexeme(each)}{ending}" for each in self.lexemes)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand together, as a tsquery, and which of the query's terms they are."""

    query: str
    terms: frozenset[int]

    def renumber(self, places: Mapping[int, int]) -> "Phrase":
        return replace(self, terms=frozenset(places[n] for n in self.terms if n in places))


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """What a caller wants by word."""

    terms: tuple[Term, ...]
    required: tuple[Phrase, ...] = ()
    preferred: tuple[Phrase, ...] = ()
    """Chunks that have them come first, and the others fill up."""
    excluded: tuple[str, ...] = ()

    @property
    def has_prefix(self) -> bool:
        return any(term.is_prefix for term in self.terms)

    @property
    def is_marked(self) -> bool:
        """Whether more is asked than words: a phrase, a word to leave out, a beginning."""
        return bool(self.required or self.preferred or self.excluded) or self.has_prefix

    @property
    def spoken(self) -> list[str]:
        return [term.spoken for term in self.terms]

    def with_terms(self, places: Iterable[int]) -> "KeywordQuery":
        """The same with some of its terms only."""
        kept = {place: n for n, place in enumerate(places)}
        return replace(
            self,
            terms=tuple(self.terms[place] for place in kept),
            required=tuple(each.renumber(kept) for each in self.required),
            preferred=tuple(each.renumber(kept) for each in self.preferred),
        )


def configurations_of(languages: Iterable[str]) -> tuple[str, ...]:
    """The dictionaries that read a library of these languages; a question may always be English."""
    return tuple(sorted({configuration_for(each) for each in (DEFAULT, *languages)}))


def read_query(query: str, configurations: Sequence[str]) -> KeywordQuery:
    """Read `"a phrase"`, `-word` and `begin*`; every other word is wanted, none is required."""
    if len(query.split()) > MARKED_WORDS:
        return KeywordQuery(_terms(query, configurations))
    phrases = _PHRASE.findall(query)
    rest = _PHRASE.sub(" ", query)
    excluded = _EXCLUDED.findall(rest)
    others = _EXCLUDED.sub(" ", rest)
    is_phrase_alone = not words_of(others)
    if is_phrase_alone and not phrases:  # a word is left out only where something else is asked
        return KeywordQuery(_terms(query, configurations))
    wanted = " ".join((_PREFIX.sub(" ", others), *phrases))
    terms = (
        *_terms(wanted, configurations),
        *(Term(flag, (flag,)) for word in excluded for flag in [f"-{word.lower()}"]),
        *(Term(begin, (begin,), is_prefix=True) for begin in _beginnings(others)),
    )
    if not is_phrase_alone:  # then one quoted word is a word like the others
        phrases = [phrase for phrase in phrases if phrase.split()[1:]]
    read = _phrases(phrases, terms, configurations)
    return KeywordQuery(
        terms,
        required=read if is_phrase_alone else (),
        preferred=() if is_phrase_alone else read,
        excluded=tuple(each for word in excluded for each in _without(word, configurations)),
    )


def stems_of(words: Iterable[str], configuration: str) -> dict[str, list[str]]:
    """Each word's stems in a language; none for a word too common to count."""
    known = {word: caches.stems.get((configuration, word)) for word in words}
    found = {word: stems for word, stems in known.items() if stems is not None}
    if unknown := [word for word in known if word not in found]:
        with connection.cursor() as cursor:
            cursor.execute(_LEXEMES, [unknown, configuration])
            rows = dict(cursor.fetchall())
        found |= {
            word: caches.stems.put((configuration, word), rows.get(word, [])) for word in unknown
        }
    return found


def _beginnings(text: str) -> list[str]:
    return list(dict.fromkeys(begin.lower() for begin in _PREFIX.findall(text)))


def _terms(text: str, configurations: Sequence[str]) -> tuple[Term, ...]:
    """The words to rank by, without the stop words of their language, and identifiers."""
    exact = identifiers(text)
    times = Counter(word for word in words_of(text) if len(word) <= LONGEST_WORD)
    inside = _too_common_inside(text)
    words = [word for word in times if word not in inside]
    stems = {each: stems_of(words, each) for each in configurations}
    own = _own_language(stems)
    kept = [word for word in words if stems[own][word]]
    if not kept and not exact:
        return tuple(Term(word, (word,)) for word in times)
    found = [
        Term(word, _distinct(each for of in stems.values() for each in of[word]), times[word])
        for word in kept
    ]
    return (*found, *(Term(name, (name,)) for name in exact))


def _own_language(stems: dict[str, dict[str, list[str]]]) -> str:
    """The language of which a text has most stop words; of none, the default."""
    dropped = {
        configuration: sum(not each for each in of.values()) for configuration, of in stems.items()
    }
    return max(dropped, key=lambda each: (dropped[each], each == configuration_for(DEFAULT)))


def _too_common_inside(text: str) -> set[str]:
    """`is_unscoped` is not about `is`, whatever language beside English has that as a word.

    Nor is `x-ray` about x, or `e.g.` about e and g: what is written whole is asked for whole.
    """
    stems = stems_of(sorted(compound_parts(text)), configuration_for(DEFAULT))
    return {word for word, found in stems.items() if not found or _is_letter(word)}


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isascii() and word.isalpha()


def _phrases(
    phrases: Sequence[str], terms: Sequence[Term], configurations: Sequence[str]
) -> tuple[Phrase, ...]:
    """The phrases as tsqueries; none for one of words that every dictionary drops."""
    if not phrases:
        return ()
    places = {term.spoken: place for place, term in enumerate(terms)}
    with connection.cursor() as cursor:
        asked = [plain(phrase) for phrase in phrases]
        cursor.execute(_PHRASES, [asked, list(configurations)])
        queries = dict(cursor.fetchall())
    return tuple(
        Phrase(
            queries[n],
            frozenset(places[word] for word in words_of(phrase) if word in places),
        )
        for n, phrase in enumerate(phrases, start=1)
        if n in queries
    )


def _without(word: str, configurations: Sequence[str]) -> list[str]:
    """What a chunk must not say for `-word`; who writes it with its dash means a flag by it."""
    inside = _too_common_inside(word)
    flag = _quote_lexeme(f"-{word.lower()}")
    found = []
    for part in dict.fromkeys(words_of(word)):
        if part not in inside and len(part) <= LONGEST_WORD:
            stems = [each for of in configurations for each in stems_of([part], of)[part]]
            lexemes = _distinct([part, *stems])
            found.append(f"{_any_of(map(_quote_lexeme, lexemes))} & !{flag}")
    return found


def _distinct(lexemes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lexemes))


def _quote_lexeme(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _any_of(queries: Iterable[str]) -> str:
    return f"({' | '.join(queries)})"
