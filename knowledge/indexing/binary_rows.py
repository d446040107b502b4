"""Rows of the three search tables in the bytes that Postgres' binary COPY takes.

Made in whole blocks, because row by row Python takes longer than Postgres does. Every number is
big-endian; Postgres checks each value as it reads it, so a mistake here is an error and no broken
index.

    file      "PGCOPY\\n\\xff\\r\\n\\0", int32 flags 0, int32 size of a header extension 0; then
              all rows; then int16 -1
    row       int16 number of fields; of each field an int32 size and so many bytes
    int4, int8, uuid  4, 8 and 16 bytes
    text      UTF-8
    jsonb     byte 1 (the version of this form), then the JSON as text
    real[]    as text[], of type 700, each element a 4-byte float
    text[]    int32 dimensions (0 if empty, else 1), int32 flags 0, int32 type of an element (25 is
              text); if there is one: int32 length, int32 first index 1, and each element as a field
    halfvec   int16 dimensions, int16 unused, then a 2-byte float for each dimension
    tsvector  int32 number of lexemes; of each, in any order: its UTF-8, a zero byte, uint16 number
              of places, and as a uint16 each place (the weight, here 0, is in the two highest bits)

All three tables have one layout: the keys of a chunk, then its numbers, whose size is known and
which numpy lays out for all rows at once, then the fields that differ in size, ready as bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from struct import Struct
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db import connection

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

_FILE_BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_FILE_END = b"\xff\xff"
_INT4, _INT8, _UUID = ">i4", ">i8", "V16"
_SIZE = Struct("!i")
_ARRAY, _ARRAY_LENGTHS = Struct("!iii"), Struct("!ii")
_TEXT_TYPE = 25
_JSONB_VERSION = b"\1"
_HALFVEC = Struct("!hh")
_REAL_TYPE = 700
_REAL = np.dtype([("size", ">i4"), ("number", ">f4")])
_PLACE = np.dtype(">u2")
_FIELDS = Struct("!h")
_FEW = 2
"""So many rows are inserted one by one: a COPY takes as long as several statements."""


@dataclass(frozen=True)
class Table:
    """A search table: the column with the chunk's id, numbers by type, fields of any size."""

    name: str
    key: str
    numbers: Mapping[str, str]
    values: tuple[str, ...]

    @cached_property
    def columns(self) -> list[str]:
        return [self.key, "owner_id", "item_id", *self.numbers, *self.values]

    @cached_property
    def copy(self) -> str:
        """The statement that takes rows in a file."""
        return f"COPY {self._named} FROM STDIN (FORMAT BINARY)"

    @cached_property
    def insert(self) -> str:
        """The one that takes the fields of one row, each in the form of its column."""
        values = ", ".join(["%b"] * len(self.columns))
        return f"INSERT INTO {self._named} VALUES ({values})"  # noqa: S608

    @property
    def _named(self) -> str:
        columns = ", ".join(f'"{column}"' for column in self.columns)
        return f"{self.name} ({columns})"

    @cached_property
    def head(self) -> np.ndarray[Any, Any]:
        """One row up to where its fields of any size begin, with nothing but their sizes yet."""
        types = {self.key: _INT8, "owner_id": _INT4, "item_id": _UUID, **self.numbers}
        layout = [("fields", ">i2")]
        for name, kind in types.items():
            layout += [(f"size of {name}", _INT4), (name, kind)]
        row = np.zeros(1, layout)
        row["fields"] = len(self.columns)
        for name in types:
            row[f"size of {name}"] = row.dtype[name].itemsize
        return row


CHUNKS = Table(
    "knowledge_chunk",
    "id",
    {"position": _INT4, "start": _INT4, "end": _INT4},
    ("heading_path", "text", "locator"),
)
WORDS = Table("knowledge_chunktext", "chunk_id", {"length": _INT4}, ("tsv",))
VECTORS = Table("knowledge_chunkembedding", "chunk_id", {"generation_id": _INT8}, ("vector",))


class Keys(NamedTuple):
    """The chunks of the rows, and whose they are: one owner and item, or those of each chunk."""

    chunk_ids: Sequence[int] | Numbers
    owner_id: int | Numbers
    item_id: UUID | np.ndarray[Any, Any]


def copy_rows(
    table: Table,
    keys: Keys,
    values: Sequence[bytes],
    **numbers: int | Sequence[int] | Numbers,
) -> None:
    """Insert a row for each chunk: its keys, its numbers, and its other fields as bytes."""
    heads = _heads(table, keys, numbers)
    rows = [head + value for head, value in zip(heads, values, strict=True)]
    if len(rows) <= _FEW:
        # Imported here: a reader, which has no settings, cannot load models.
        from knowledge.models.prepared import Binary, write

        for row in rows:
            write(table.insert, list(map(Binary, _fields_of(row))))
        return
    with connection.cursor() as cursor, cursor.copy(table.copy) as copy:
        copy.write(b"".join((_FILE_BEGIN, *rows, _FILE_END)))


def _heads(table: Table, keys: Keys, numbers: Mapping[str, Any]) -> Iterator[bytes]:
    """Each row up to where its fields of any size begin."""
    rows = np.repeat(table.head, len(keys.chunk_ids))
    item = np.void(keys.item_id.bytes) if isinstance(keys.item_id, UUID) else keys.item_id
    given = {table.key: keys.chunk_ids, "owner_id": keys.owner_id, "item_id": item, **numbers}
    for name, value in given.items():
        rows[name] = value
    return _cut(rows.tobytes(), np.arange(len(rows) + 1) * rows.itemsize)


def _fields_of(row: bytes) -> Iterator[bytes]:
    """The fields of a row, which stand in it after their number, each after its size."""
    place = _FIELDS.size
    while place < len(row):
        (size,) = _SIZE.unpack_from(row, place)
        start = place + _SIZE.size
        place = start + size
        yield row[start:place]


def field(value: bytes) -> bytes:
    """A value after its size, as it stands in a row or in an array."""
    return _SIZE.pack(len(value)) + value


def text_array(texts: Sequence[str]) -> bytes:
    if not texts:
        return _ARRAY.pack(0, 0, _TEXT_TYPE)
    elements = (field(text.encode()) for text in texts)
    return _ARRAY.pack(1, 0, _TEXT_TYPE) + _ARRAY_LENGTHS.pack(len(texts), 1) + b"".join(elements)


def jsonb(text: str) -> bytes:
    return _JSONB_VERSION + text.encode()


def halfvec(vector: np.ndarray[Any, Any]) -> bytes:
    return _HALFVEC.pack(len(vector), 0) + vector.astype(">f2").tobytes()


def reals(numbers: np.ndarray[Any, Any]) -> bytes:
    """Numbers as an array of four-byte floats."""
    elements = np.empty(len(numbers), _REAL)
    elements["size"], elements["number"] = 4, numbers
    head = _ARRAY.pack(1, 0, _REAL_TYPE) + _ARRAY_LENGTHS.pack(len(numbers), 1)
    return head + elements.tobytes()


class Lexemes(NamedTuple):
    """Each lexeme of each row once, by row: how many places it has, and all these in turn."""

    rows: Numbers
    spelled: Bytes
    """The bytes of all, each with the zero that ends it."""
    sizes: Numbers
    counts: Numbers
    places: Numbers


def tsvector_fields(lexemes: Lexemes, rows: int) -> list[bytes]:
    """The vector of each row, after its size."""
    sizes = lexemes.sizes + _PLACE.itemsize * (1 + lexemes.counts)
    starts = np.cumsum(sizes) - sizes
    block = np.empty(int(sizes.sum()), np.uint8)
    block[spans(starts, lexemes.sizes)] = lexemes.spelled
    counts = starts + lexemes.sizes
    block[spans(counts, np.full_like(counts, _PLACE.itemsize))] = _bytes_of(lexemes.counts)
    places = spans(counts + _PLACE.itemsize, _PLACE.itemsize * lexemes.counts)
    block[places] = _bytes_of(lexemes.places)
    row_sizes = sum_by_row(lexemes.rows, sizes, rows)
    numbers = sum_by_row(lexemes.rows, np.ones_like(sizes), rows)
    vectors = _cut(block.tobytes(), np.append(0, np.cumsum(row_sizes)))
    return [
        field(_SIZE.pack(number) + vector)
        for number, vector in zip(numbers.tolist(), vectors, strict=True)
    ]


def sum_by_row(rows: Numbers, numbers: Numbers, count: int) -> Numbers:
    """The sum of each row's numbers, for so many rows."""
    return np.bincount(rows, weights=numbers, minlength=count).astype(np.int64)


def spans(starts: Numbers, lengths: Numbers) -> Numbers:
    """The places from each start on, as many as its length says, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def _bytes_of(numbers: Numbers) -> Bytes:
    return numbers.astype(_PLACE).view(np.uint8)


def _cut(block: bytes, edges: Numbers) -> Iterator[bytes]:
    return (block[start:end] for start, end in pairwise(edges.tolist()))
