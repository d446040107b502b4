"""The keyword rows of chunks: what full-text search reads, in the dictionary of their language.

Postgres stems each word once for this process; the rows are put together here and copied in,
which takes a fraction of the time that `to_tsvector` does.
"""

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from knowledge.indexing.binary_rows import (
    WORDS,
    Keys,
    Lexemes,
    Numbers,
    copy_rows,
    spans,
    sum_by_row,
    tsvector_fields,
)
from knowledge.indexing.dictionary import AS_WRITTEN, Ask, Dictionary, Reading, ask_postgres

_PLACE_BITS, _LEXEME_BITS = 14, 26
_LAST_PLACE, _LAST_LEXEME = (1 << _PLACE_BITS) - 1, (1 << _LEXEME_BITS) - 1
_MOST_PLACES = 255

_dictionaries: dict[str, Dictionary] = {}
_reading = Lock()  # words and their numbers must not change under a reader


class Entries(NamedTuple):
    """Each lexeme of each chunk once, in order: how many places it has, and all these in turn."""

    chunks: Numbers
    lexemes: Numbers
    counts: Numbers
    places: Numbers


class WordRows(NamedTuple):
    """The keyword row of each chunk of a text, ready to be written: its vector, its length."""

    vectors: Sequence[bytes]
    lengths: Numbers


def word_rows(configuration: str, texts: Sequence[str], ask: Ask = ask_postgres) -> WordRows:
    """The row of each text: stems with their places, and every word as it was written."""
    if not texts:
        return WordRows([], np.zeros(0, np.int64))
    with _reading:
        known = _dictionary(configuration, ask)
        entries = _entries(known.read(texts))
        spelled, sizes = known.bytes_of(entries.lexemes)
    lengths = sum_by_row(entries.chunks, entries.counts, len(texts))
    kept = _within_bounds(entries)
    lexemes = Lexemes(kept.chunks, spelled, sizes, kept.counts, kept.places)
    return WordRows(tsvector_fields(lexemes, len(texts)), lengths)


def together(rows: Sequence[WordRows]) -> WordRows:
    """The keyword rows of several texts as those of one."""
    vectors = [vector for each in rows for vector in each.vectors]
    return WordRows(vectors, np.concatenate([each.lengths for each in rows]))


def write_words(keys: Keys, rows: WordRows) -> None:
    """Write the keyword rows of chunks."""
    if rows.vectors:
        copy_rows(WORDS, keys, rows.vectors, length=rows.lengths)


def _dictionary(configuration: str, ask: Ask) -> Dictionary:
    """The dictionary of a configuration; all together keep no more than one may."""
    if sum(each.fullness for each in _dictionaries.values()) > 1:
        _dictionaries.clear()
    return _dictionaries.setdefault(configuration, Dictionary(configuration, ask))


def empty_dictionaries() -> None:
    """Ask Postgres for the stems of every word anew."""
    with _reading:
        _dictionaries.clear()


def _entries(reading: Reading) -> Entries:
    # As one number each, they sort by chunk, lexeme and place.
    marks = (
        reading.texts << (_LEXEME_BITS + _PLACE_BITS)
        | reading.lexemes << _PLACE_BITS
        | np.minimum(reading.places, _LAST_PLACE)
    )
    marks.sort()
    marks = marks[_firsts(marks)]
    groups, places = marks >> _PLACE_BITS, marks & _LAST_PLACE
    firsts = _firsts(groups)
    has_place = places != AS_WRITTEN
    groups = groups[firsts]
    counts = np.bincount(np.cumsum(firsts)[has_place] - 1, minlength=len(groups))
    return Entries(groups >> _LEXEME_BITS, groups & _LAST_LEXEME, counts, places[has_place])


def _firsts(numbers: Numbers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each of these sorted numbers is the first of its equals."""
    firsts = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=firsts[1:])
    return firsts


def _within_bounds(entries: Entries) -> Entries:
    """With no more places of a lexeme than Postgres keeps, which are its first."""
    kept = np.minimum(entries.counts, _MOST_PLACES)
    starts = np.cumsum(entries.counts) - entries.counts
    return entries._replace(counts=kept, places=entries.places[spans(starts, kept)])
