"""Cutting long texts and making their rows in a reader process, while their caller waits."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np

from knowledge.indexing.binary_rows import Numbers
from knowledge.indexing.dictionary import ask_postgres_for_json
from knowledge.indexing.index_rows import IndexRows, Labels, make_rows_of_texts
from knowledge.indexing.keyword_rows import WordRows
from knowledge.sources.parsers.frames import Frame
from knowledge.sources.parsers.reader_main import ask_caller
from knowledge.sources.readers import LONG_TEXT, Readers
from knowledge.text.chunking import Piece, chunk

TARGET = f"{__name__}:cut_and_make_rows"
_BLOBS = 4
"""What is sent back of each text: numbers, sizes, fields and vectors."""


class CutText(Sequence[Piece]):
    """The pieces of a text that a reader has cut; each is made when it is looked at."""

    def __init__(
        self, text: str, starts: Numbers, ends: Numbers, paths: Sequence[tuple[str, ...]]
    ) -> None:
        self._text, self._starts, self._ends, self._paths = text, starts, ends, paths

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> Piece: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Piece]: ...
    def __getitem__(self, at: int | slice) -> Piece | Sequence[Piece]:
        if isinstance(at, slice):
            return CutText(self._text, self._starts[at], self._ends[at], self._paths[at])
        start, end = int(self._starts[at]), int(self._ends[at])
        return Piece(start, end, self._text[start:end], self._paths[at])


def read_texts(
    readers: Readers, texts: Sequence[tuple[str, Labels]]
) -> list[tuple[Sequence[Piece], IndexRows]]:
    """The pieces of texts and their rows, made by one reader."""
    request = [
        {"title": each.title, "configuration": each.configuration, "places": list(each.places)}
        for _, each in texts
    ]
    blobs = [text.encode(errors="surrogatepass") for text, _ in texts]
    is_long = sum(len(text) for text, _ in texts) > LONG_TEXT
    given = readers.call(TARGET, request, *blobs, answer=_answer_for_words, is_long=is_long)
    return [
        _rows_from_blobs(text, labels, given.value[n], given.blobs[_BLOBS * n : _BLOBS * (n + 1)])
        for n, (text, labels) in enumerate(texts)
    ]


def _rows_from_blobs(
    text: str, labels: Labels, told: Mapping[str, Any], blobs: Sequence[bytes]
) -> tuple[Sequence[Piece], IndexRows]:
    numbers, sizes, fields, vectors = blobs
    starts, ends, lengths = np.frombuffer(numbers, np.int64).reshape(3, -1)
    field_sizes, vector_sizes = np.frombuffer(sizes, np.int64).reshape(2, -1)
    words = WordRows(_cut(vectors, vector_sizes), lengths)
    rows = IndexRows(labels, starts, ends, _cut(fields, field_sizes), words)
    named = [tuple(path) for path in told["paths"]]
    return CutText(text, starts, ends, [named[at] for at in told["path_of"]]), rows


def _answer_for_words(question: Mapping[str, str]) -> bytes:
    return ask_postgres_for_json(**question)


def _cut(block: bytes, sizes: Numbers) -> list[bytes]:
    edges = np.append(0, np.cumsum(sizes)).tolist()
    return [block[start:end] for start, end in pairwise(edges)]


# In the reader ---------------------------------------------------------------------------------


def cut_and_make_rows(asked: Frame) -> Frame:
    """What `read_texts` asks for, in the reader."""
    texts = [
        (chunk(blob.decode(errors="surrogatepass")), Labels(**each))
        for blob, each in zip(asked.blobs, asked.value, strict=True)
    ]
    made = make_rows_of_texts(texts, _ask_caller_for_words)
    parts = [_as_blobs(pieces, rows) for (pieces, _), rows in zip(texts, made, strict=True)]
    return Frame([told for told, _ in parts], tuple(blob for _, blobs in parts for blob in blobs))


def _as_blobs(pieces: Sequence[Piece], rows: IndexRows) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    paths = dict.fromkeys(piece.heading_path for piece in pieces)
    numbers = {path: number for number, path in enumerate(paths)}
    told = {"paths": list(paths), "path_of": [numbers[piece.heading_path] for piece in pieces]}
    vectors = rows.words.vectors
    sizes = (list(map(len, rows.fields)), list(map(len, vectors)))
    blobs = (
        np.stack([rows.starts, rows.ends, rows.words.lengths]).astype(np.int64).tobytes(),
        np.array(sizes, np.int64).tobytes(),
        b"".join(rows.fields),
        b"".join(vectors),
    )
    return told, blobs


def _ask_caller_for_words(name: str, configuration: str, words: str) -> Iterable[Sequence[Any]]:
    asked = {"name": name, "configuration": configuration, "words": words}
    return _rows(ask_caller(asked))


def _rows(answer: bytes) -> Iterator[Sequence[Any]]:
    yield from json.loads(answer)
