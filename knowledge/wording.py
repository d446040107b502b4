"""The keyword rows of chunks: what full-text search reads, in the dictionary of their language.

Postgres stems each word once for this process; the rows are put together here and copied in,
which takes a fraction of the time that `to_tsvector` does.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from struct import Struct, pack
from threading import Lock
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from knowledge.words import LONGEST_WORD, identifiers, plain

Numbers = np.ndarray[Any, np.dtype[np.int64]]

Spoken = tuple[Sequence[str], Sequence[str]]
"""The words of a chunk in order, and the names that are kept as they were written."""

_NONE, _APART = -1, -2
_PLACE_BITS, _LEXEME_BITS = 14, 26
_LAST_PLACE, _LAST_LEXEME = (1 << _PLACE_BITS) - 1, (1 << _LEXEME_BITS) - 1
_MOST_LEXEMES = 300_000
_MOST_PLACES = 255
_COUNT = Struct("!I")
_COUNTS = [pack("!H", count) for count in range(_MOST_PLACES + 1)]

# A word takes a place for each of its parts that a dictionary was asked about, also when the
# answer was that it is too common to keep.
_STEMS = """
    SELECT word, lexemes, places, CASE WHEN octet_length(word) < 2047 THEN taken ELSE 0 END
    FROM unnest(%s::text[]) AS word,
        LATERAL (
            SELECT array_agg(lexeme), array_agg(positions[1])
            FROM unnest(to_tsvector(%s::regconfig, word))
        ) AS stem (lexemes, places),
        LATERAL (SELECT count(*) FROM ts_parse('default', word) WHERE tokid <> 12) AS t (taken)
"""
_COPY = (
    "COPY knowledge_chunktext (chunk_id, owner_id, item_id, tsv, length) FROM STDIN (FORMAT BINARY)"
)


class Dictionary:
    """The words that Postgres was asked about in one configuration, each by its number."""

    def __init__(self, configuration: str) -> None:
        self.configuration = configuration
        self.forget()

    def forget(self) -> None:
        self.words: dict[str, int] = {}
        self.numbers: dict[str, int] = {}
        self.lexemes: list[bytes] = []
        """By their numbers, as they are sent."""
        self.stems = array("q")
        """For each word the lexeme it becomes, if it is one and not taken apart."""
        self.written = array("q")
        """For each word itself as a lexeme; none when it is too long, or its own stem."""
        self.taken = array("q")
        """For each word how many places it takes in the text."""
        self.apart: dict[int, list[tuple[int, int]]] = {}
        """The few words that Postgres takes apart: their lexemes, each with its place."""

    def learn(self, words: set[str]) -> None:
        """Know these words, by asking for those that were not met before."""
        if len(self.lexemes) > _MOST_LEXEMES:
            self.forget()
        if unknown := [word for word in words if word not in self.words]:
            with connection.cursor() as cursor:
                cursor.execute(_STEMS, [unknown, self.configuration])
                for word, lexemes, places, taken in cursor.fetchall():
                    self._keep(word, lexemes or [], places or [], taken)

    def number(self, lexeme: str) -> int:
        number = self.numbers.setdefault(lexeme, len(self.lexemes))
        if number == len(self.lexemes):
            self.lexemes.append(lexeme.encode() + b"\0")
        return number

    def _keep(self, word: str, lexemes: Sequence[str], places: Sequence[int], taken: int) -> None:
        number = len(self.words)
        numbers = [self.number(lexeme) for lexeme in lexemes]
        if taken == 1 and list(places) in ([], [1]):
            stem = numbers[0] if numbers else _NONE
        else:
            stem, self.apart[number] = _APART, list(zip(numbers, places, strict=True))
        itself = self.number(word) if len(word) <= LONGEST_WORD else _NONE
        self.stems.append(stem)
        self.written.append(_NONE if itself == stem else itself)
        self.taken.append(taken)
        self.words[word] = number


_dictionaries: dict[str, Dictionary] = {}
_reading = Lock()  # words and their numbers must not change under a reader


def write_words(
    owner_id: int, item_id: UUID, configuration: str, texts: Iterable[tuple[int, str]]
) -> None:
    """Write the row of each chunk: stems with their places, and every word as it was written."""
    spoken = [
        (chunk_id, plain(text).lower().split(), identifiers(text)) for chunk_id, text in texts
    ]
    if not spoken:
        return
    rows = tsvectors(configuration, [(words, names) for _, words, names in spoken])
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        # A tsvector's own bytes, for the type need not be looked up to send them.
        copy.set_types(["int8", "int4", "uuid", "bytea", "int4"])
        for (chunk_id, _, _), (vector, length) in zip(spoken, rows, strict=True):
            copy.write_row((chunk_id, owner_id, item_id, vector, length))


def tsvectors(configuration: str, spoken: Sequence[Spoken]) -> list[tuple[bytes, int]]:
    """Each chunk's words and names as Postgres keeps them, and how many of its words count."""
    with _reading:
        known = _dictionaries.setdefault(configuration, Dictionary(configuration))
        known.learn({word for words, _ in spoken for word in words})
        return _assembled(_entries(known, spoken), known.lexemes, len(spoken))


def _entries(known: Dictionary, spoken: Sequence[Spoken]) -> Numbers:
    """Every lexeme of every chunk at each of its places, as one number that sorts by these."""
    lengths = [len(words) for words, _ in spoken]
    words = np.fromiter(
        map(known.words.__getitem__, chain.from_iterable(words for words, _ in spoken)),
        np.int64,
        count=sum(lengths),
    )
    chunks = np.repeat(np.arange(len(spoken)), lengths)
    taken = np.asarray(known.taken)[words]
    before = np.cumsum(taken) - taken
    first = np.searchsorted(chunks, np.arange(len(spoken)))
    places = before - np.append(before, 0)[first][chunks] + 1
    stems, written = np.asarray(known.stems)[words], np.asarray(known.written)[words]
    return np.concatenate(
        [
            _entry(chunks, stems, places)[stems >= 0],
            _entry(chunks, written, 0)[written >= 0],
            _taken_apart(known, np.flatnonzero(stems == _APART), words, chunks, places),
            _named(known, spoken),
        ]
    )


def _entry(chunk: Any, lexeme: Any, place: Any) -> Any:
    return (
        chunk << (_LEXEME_BITS + _PLACE_BITS)
        | lexeme << _PLACE_BITS
        | np.minimum(place, _LAST_PLACE)
    )


def _taken_apart(
    known: Dictionary, found: Numbers, words: Numbers, chunks: Numbers, places: Numbers
) -> Numbers:
    entries = [
        _entry(chunks[at], lexeme, places[at] + place - 1)
        for at in found
        for lexeme, place in known.apart[words[at]]
    ]
    return np.array(entries, np.int64)


def _named(known: Dictionary, spoken: Sequence[Spoken]) -> Numbers:
    entries = [
        _entry(chunk, known.number(name), 0)
        for chunk, (_, names) in enumerate(spoken)
        for name in names
    ]
    return np.array(entries, np.int64)


def _assembled(entries: Numbers, lexemes: Sequence[bytes], chunks: int) -> list[tuple[bytes, int]]:
    """The bytes of each chunk's tsvector: every lexeme, how many places it has, and those."""
    entries = np.unique(entries)
    groups, places = entries >> _PLACE_BITS, entries & _LAST_PLACE
    starts = np.flatnonzero(np.append(True, groups[1:] != groups[:-1])[: len(groups)])
    ends = np.append(starts[1:], len(groups))
    groups = groups[starts]
    # A word as written stands at place 0, before any true one.
    starts = starts + (places[starts] == 0)
    counts = ends - starts
    kept = np.minimum(counts, _MOST_PLACES)
    packed = places.astype(">u2").tobytes()
    rows = [
        lexemes[lexeme] + _COUNTS[count] + packed[2 * start : 2 * (start + count)]
        for lexeme, count, start in zip(
            (groups & _LAST_LEXEME).tolist(), kept.tolist(), starts.tolist(), strict=True
        )
    ]
    of_chunk = groups >> _LEXEME_BITS
    bounds = np.searchsorted(of_chunk, np.arange(chunks + 1)).tolist()
    lengths = np.bincount(of_chunk, weights=counts, minlength=chunks).astype(int).tolist()
    return [
        (_COUNT.pack(end - start) + b"".join(rows[start:end]), length)
        for start, end, length in zip(bounds, bounds[1:], lengths, strict=False)
    ]
