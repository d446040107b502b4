"""The keyword rows of chunks: what full-text search reads, in the dictionary of their language.

Postgres stems each word once for this process; the rows are put together here and copied in,
which takes a fraction of the time that `to_tsvector` does.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from knowledge.indexing.copying import copy_rows
from knowledge.indexing.dictionary import AS_WRITTEN, Bytes, Dictionary, Numbers, Reading, spans

Rows = np.ndarray[Any, np.dtype[np.void]]

_PLACE_BITS, _LEXEME_BITS = 14, 26
_LAST_PLACE, _LAST_LEXEME = (1 << _PLACE_BITS) - 1, (1 << _LEXEME_BITS) - 1
_MOST_PLACES = 255
_COUNT = _PLACE = np.dtype(">u2")

# The vector comes last, for it alone has no set size.
_COPY = (
    "COPY knowledge_chunktext (chunk_id, owner_id, item_id, length, tsv) FROM STDIN (FORMAT BINARY)"
)
_ROW = np.dtype(
    [
        ("fields", ">i2"),
        ("chunk_size", ">i4"),
        ("chunk", ">i8"),
        ("owner_size", ">i4"),
        ("owner", ">i4"),
        ("item_size", ">i4"),
        ("item", "V16"),
        ("length_size", ">i4"),
        ("length", ">i4"),
        ("vector_size", ">i4"),
        ("lexemes", ">i4"),
    ]
)
"""A row as COPY has it, each field after its size, up to where the vector's lexemes begin."""

_dictionaries: dict[str, Dictionary] = {}
_reading = Lock()  # words and their numbers must not change under a reader


class Entries(NamedTuple):
    """Each lexeme of each chunk once, in order: how many places it has, and all these in turn."""

    chunks: Numbers
    lexemes: Numbers
    counts: Numbers
    places: Numbers


def write_words(
    owner_id: int,
    item_id: UUID,
    configuration: str,
    chunk_ids: Sequence[int],
    texts: Sequence[str],
) -> None:
    """Write the row of each chunk: stems with their places, and every word as it was written."""
    if not texts:
        return
    with _reading:
        known = _dictionaries.setdefault(configuration, Dictionary(configuration))
        entries = _entries(known.read(texts))
        spelled, sizes = known.spelled(entries.lexemes)
    rows = _rows(owner_id, item_id, chunk_ids)
    rows["length"] = _sum_by_chunk(rows, entries, entries.counts)
    copy_rows(_COPY, _assembled(rows, _within_bounds(entries), spelled, sizes).tobytes())


def _rows(owner_id: int, item_id: UUID, chunk_ids: Sequence[int]) -> Rows:
    rows = np.zeros(len(chunk_ids), _ROW)
    rows["fields"] = 5
    rows["chunk"], rows["owner"], rows["item"] = chunk_ids, owner_id, np.void(item_id.bytes)
    for name in ("chunk", "owner", "item", "length"):
        rows[f"{name}_size"] = _ROW[name].itemsize
    return rows


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


def _assembled(rows: Rows, entries: Entries, spelled: Bytes, sizes: Numbers) -> Bytes:
    """The bytes of all rows: behind each its lexemes, how many places one has, and those."""
    entry_sizes = sizes + _COUNT.itemsize + _PLACE.itemsize * entries.counts
    vector_sizes = _sum_by_chunk(rows, entries, entry_sizes)
    rows["lexemes"] = _sum_by_chunk(rows, entries, np.ones_like(sizes))
    rows["vector_size"] = _ROW["lexemes"].itemsize + vector_sizes
    row_sizes = _ROW.itemsize + vector_sizes
    starts = (entries.chunks + 1) * _ROW.itemsize + np.cumsum(entry_sizes) - entry_sizes
    counts = starts + sizes
    block = np.empty(int(row_sizes.sum()), np.uint8)
    _put(block, np.cumsum(row_sizes) - row_sizes, rows)
    block[spans(starts, sizes)] = spelled
    _put(block, counts, entries.counts.astype(_COUNT))
    places = spans(counts + _COUNT.itemsize, _PLACE.itemsize * entries.counts)
    block[places] = entries.places.astype(_PLACE).view(np.uint8)
    return block


def _sum_by_chunk(rows: Rows, entries: Entries, numbers: Numbers) -> Numbers:
    return np.bincount(entries.chunks, weights=numbers, minlength=len(rows)).astype(np.int64)


def _put(block: Bytes, starts: Numbers, records: np.ndarray[Any, Any]) -> None:
    """The bytes of each record from its start on."""
    size = records.dtype.itemsize
    block[starts[:, None] + np.arange(size)] = records.view(np.uint8).reshape(-1, size)
