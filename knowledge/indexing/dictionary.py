"""What Postgres makes of the words of a language, asked for once and kept for this process."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from django.db import connection

from knowledge.indexing.binary_rows import Bytes, Numbers, spans
from knowledge.text.words import LONGEST_WORD, identifiers, words_of

AS_WRITTEN = 0
"""The place of a lexeme that has none: a word or a name that is kept as it stands."""

# About 100 MB; when all dictionaries together reach one of these, they are begun anew.
_MOST_LEXEMES = 160_000
_MOST_TOKENS = 160_000
_MOST_CHARACTERS = 4_000_000

# Nearly every word is of letters or digits alone, which Postgres never takes apart. A vector's
# text is made and read in a fraction of the time that arrays take.
_STEMS = """
    SELECT word, to_tsvector(%(configuration)s::regconfig, word)::text
    FROM string_to_table(%(words)s, ' ') AS word
"""

# Any other takes a place for each of its parts that a dictionary was asked about, also when the
# answer was that it is too common to keep.
_PARTS = """
    SELECT word, lexemes, places, CASE WHEN octet_length(word) < 2047 THEN taken ELSE 0 END
    FROM string_to_table(%(words)s, ' ') AS word,
        LATERAL (
            SELECT array_agg(lexeme), array_agg(positions[1])
            FROM unnest(to_tsvector(%(configuration)s::regconfig, word))
        ) AS stem (lexemes, places),
        LATERAL (SELECT count(*) FROM ts_parse('default', word) WHERE tokid <> 12) AS t (taken)
"""

STATEMENTS = {"stems": _STEMS, "parts": _PARTS}
# As one value, so that a process which only hands the answer on need not look at it.
_AS_JSON = "SELECT json_agg(json_build_array({columns}))::text FROM ({statement}) AS a ({columns})"
_COLUMNS = {"stems": "word, vector", "parts": "word, lexemes, places, taken"}

Ask = Callable[[str, str, str], Iterable[Sequence[Any]]]
"""The rows of a statement, by its name, for a configuration and words between blanks."""


def ask_postgres(name: str, configuration: str, words: str) -> Iterable[Sequence[Any]]:
    """Ask on this thread's own connection."""
    with connection.cursor() as cursor:
        cursor.execute(STATEMENTS[name], {"configuration": configuration, "words": words})
        rows: list[Sequence[Any]] = cursor.fetchall()
        return rows


def ask_postgres_for_json(name: str, configuration: str, words: str) -> bytes:
    """The same rows as one JSON text, for a process that has no connection."""
    statement = _AS_JSON.format(columns=_COLUMNS[name], statement=STATEMENTS[name])
    with connection.cursor() as cursor:
        cursor.execute(statement, {"configuration": configuration, "words": words})
        rows: str | None = cursor.fetchone()[0]
        return (rows or "[]").encode()


class Marks(NamedTuple):
    """What a word leaves in an index: lexemes with their places, and the places it takes up."""

    lexemes: Sequence[int]
    places: Sequence[int]
    taken: int


class Reading(NamedTuple):
    """All marks of some texts: whose text each is, its lexeme, and its place in that text."""

    texts: Numbers
    lexemes: Numbers
    places: Numbers


class Tokens(dict[str, int]):
    """Numbers for the words between spaces; an unknown word gets the next number and is queued."""

    def __init__(self) -> None:
        self.new: list[str] = []

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self)
        self.new.append(token)
        return number


class Dictionary:
    """The tokens that were met in one configuration, and the marks that each leaves."""

    def __init__(self, configuration: str, ask: Ask = ask_postgres) -> None:
        self.configuration = configuration
        self._ask_for = ask
        self.forget()

    def forget(self) -> None:
        self._tokens = Tokens()
        self._characters = 0
        self._words: dict[str, Marks] = {}
        self._lexemes: dict[str, int] = {}
        self._lexeme_bytes, self._lexeme_ends = array("B"), array("q", [0])
        # The marks of all tokens one after the other, and where those of each end.
        self._marks, self._places, self._ends = array("q"), array("q"), array("q", [0])
        self._taken = array("q")

    def read(self, texts: Sequence[str]) -> Reading:
        """The marks of these texts, whose words are asked for if they were not met before."""
        try:
            tokens, lengths = self._token_numbers([text.split() for text in texts])
            self._learn()
        except BaseException:
            # Some tokens have a number by now, and nothing behind it.
            self.forget()
            raise
        return self._marks_of(tokens, lengths)

    def bytes_of(self, lexemes: Numbers) -> tuple[Bytes, Numbers]:
        """The bytes of these lexemes, each ended by a zero, and how many each has."""
        ends = np.asarray(self._lexeme_ends)
        starts = ends[lexemes]
        lengths = ends[lexemes + 1] - starts
        return np.asarray(self._lexeme_bytes)[spans(starts, lengths)], lengths

    @property
    def fullness(self) -> float:
        """How much of what may be kept is there; it is 1 when it must be forgotten."""
        return max(
            len(self._lexemes) / _MOST_LEXEMES,
            len(self._tokens) / _MOST_TOKENS,
            self._characters / _MOST_CHARACTERS,
        )

    def _token_numbers(self, tokens: Sequence[Sequence[str]]) -> tuple[Numbers, Numbers]:
        lengths = np.fromiter(map(len, tokens), np.int64, count=len(tokens))
        found = map(self._tokens.__getitem__, chain.from_iterable(tokens))
        return np.fromiter(found, np.int64, count=int(lengths.sum())), lengths

    def _marks_of(self, tokens: Numbers, lengths: Numbers) -> Reading:
        """The marks of texts that have so many tokens each."""
        ends = np.asarray(self._ends)
        starts = ends[tokens]
        counts = ends[tokens + 1] - starts
        marks = spans(starts, counts)
        places = np.asarray(self._places)[marks]
        before = np.repeat(_before(np.asarray(self._taken)[tokens], lengths), counts)
        return Reading(
            np.repeat(np.repeat(np.arange(len(lengths)), lengths), counts),
            np.asarray(self._marks)[marks],
            np.where(places == AS_WRITTEN, AS_WRITTEN, before + places),
        )

    def _learn(self) -> None:
        new, self._tokens.new = self._tokens.new, []
        spoken = [words_of(token) for token in new]
        self._ask({word for word in chain.from_iterable(spoken) if word not in self._words})
        for token, words in zip(new, spoken, strict=True):
            self._keep(words, identifiers(token))
        self._characters += sum(map(len, new))

    def _keep(self, words: Iterable[str], names: Iterable[str]) -> None:
        """The marks of the next token."""
        taken = 0
        for word in words:
            marks = self._words[word]
            self._marks.extend(marks.lexemes)
            self._places.extend([place and place + taken for place in marks.places])
            taken += marks.taken
        for name in names:
            self._marks.append(self._number(name))
            self._places.append(AS_WRITTEN)
        self._ends.append(len(self._marks))
        self._taken.append(taken)

    def _ask(self, words: set[str]) -> None:
        simple = {word for word in words if _is_simple(word)}
        others = words - simple
        for number in filter(str.isdecimal, simple):  # its own stem in every configuration
            self._keep_word(number, [number], [1], 1)
        simple = set(filter(str.isalpha, simple))
        if simple:
            others |= self._keep_stems(self._rows("stems", simple))
        if others:
            for word, lexemes, places, taken in self._rows("parts", others):
                self._keep_word(word, lexemes or [], places or [], taken)

    def _rows(self, name: str, words: Iterable[str]) -> Iterable[Sequence[Any]]:
        return self._ask_for(name, self.configuration, " ".join(words))

    def _keep_stems(self, rows: Iterable[Sequence[Any]]) -> set[str]:
        """Cache words whose vector is one stem, or empty for a stop word; others stay uncached."""
        left = set()
        for word, vector in rows:
            stem = vector[1:-3]
            if not vector:
                self._keep_word(word, [], [], 1)
            elif stem.isalnum() and vector == f"'{stem}':1":
                self._keep_word(word, [stem], [1], 1)
            else:
                left.add(word)
        return left

    def _keep_word(
        self, word: str, lexemes: Sequence[str], places: Sequence[int], taken: int
    ) -> None:
        numbers = [self._number(lexeme) for lexeme in lexemes]
        if len(word) <= LONGEST_WORD and word not in lexemes:
            numbers.append(self._number(word))
            places = [*places, AS_WRITTEN]
        self._words[word] = Marks(tuple(numbers), tuple(places), taken)

    def _number(self, lexeme: str) -> int:
        number = self._lexemes.setdefault(lexeme, len(self._lexemes))
        if number == len(self._lexeme_ends) - 1:
            self._lexeme_bytes.frombytes(lexeme.encode() + b"\0")
            self._lexeme_ends.append(len(self._lexeme_bytes))
        return number


def _before(taken: Numbers, lengths: Numbers) -> Numbers:
    """How many places are taken up before each token, from the beginning of its own text."""
    before = np.append(0, np.cumsum(taken))
    firsts = np.cumsum(lengths) - lengths
    places: Numbers = before[:-1] - np.repeat(before[firsts], lengths)
    return places


def _is_simple(word: str) -> bool:
    is_of_a_kind = word.isascii() and (word.isalpha() or word.isdecimal())
    return is_of_a_kind and len(word) <= LONGEST_WORD
