"""The rows of a text's chunks in the search tables, made before anything is locked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from knowledge.indexing.binary_rows import Numbers, field, jsonb, text_array
from knowledge.indexing.dictionary import Ask, ask_postgres
from knowledge.indexing.keyword_rows import WordRows, word_rows
from knowledge.text.chunking import Piece
from knowledge.text.languages import configuration_for
from knowledge.text.places import span_locator

if TYPE_CHECKING:  # a reader, which has no settings, cannot load models
    from knowledge.models import Item


class Labels(NamedTuple):
    """What the rows of an item say beside its text: its title, its language, its places."""

    title: str
    configuration: str
    places: Sequence[Mapping[str, Any]]

    @classmethod
    def of_item(cls, item: "Item") -> Self:
        content = item.content
        return cls(item.title, configuration_for(content.language), content.locators)


@dataclass(frozen=True, slots=True)
class IndexRows:
    """The rows of all chunks, but for the ids that they get when they are written."""

    labels: Labels
    starts: Numbers
    ends: Numbers
    fields: Sequence[bytes]
    """The headings, the text and the place of each chunk, as COPY takes them."""
    words: WordRows


LabelledPieces = tuple[Sequence[Piece], Labels]
"""A text's pieces, and what their rows say beside them."""


def make_rows(pieces: Sequence[Piece], labels: Labels, ask: Ask = ask_postgres) -> IndexRows:
    """The rows of a text that was cut into these pieces."""
    [rows] = make_rows_of_texts([(pieces, labels)], ask)
    return rows


def make_rows_of_texts(texts: Sequence[LabelledPieces], ask: Ask = ask_postgres) -> list[IndexRows]:
    """The rows of several texts; the words of a language are asked for once for all of them."""
    return [
        IndexRows(
            labels,
            np.array([piece.start for piece in pieces], np.int64),
            np.array([piece.end for piece in pieces], np.int64),
            list(_text_fields(pieces, labels.places)),
            words,
        )
        for (pieces, labels), words in zip(texts, _words_of_texts(texts, ask), strict=True)
    ]


def _words_of_texts(texts: Sequence[LabelledPieces], ask: Ask) -> list[WordRows]:
    found: dict[int, WordRows] = {}
    for configuration in dict.fromkeys(labels.configuration for _, labels in texts):
        numbers = [n for n, (_, each) in enumerate(texts) if each.configuration == configuration]
        rows = word_rows(configuration, [line for n in numbers for line in _lines(*texts[n])], ask)
        first = 0
        for n in numbers:
            last = first + len(texts[n][0])
            found[n] = WordRows(rows.vectors[first:last], rows.lengths[first:last])
            first = last
    return [found[n] for n in range(len(texts))]


def _lines(pieces: Sequence[Piece], labels: Labels) -> list[str]:
    return ["\n".join((labels.title, *piece.heading_path, piece.text)) for piece in pieces]


def _text_fields(pieces: Sequence[Piece], places: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    headings = cache(text_array)  # they repeat from piece to piece
    for piece in pieces:
        locator = json.dumps(span_locator(places, piece.start, piece.end))
        values = (headings(piece.heading_path), piece.text.encode(), jsonb(locator))
        yield b"".join(map(field, values))
