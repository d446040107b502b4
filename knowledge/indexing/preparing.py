"""The slow work of indexing, done before any row is locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.budgets import READ_IN_PLACE
from knowledge.indexing import generations
from knowledge.indexing.generations import EmbeddedPieces
from knowledge.indexing.index_rows import IndexRows, Labels, make_rows_of_texts
from knowledge.indexing.reading_texts import read_texts
from knowledge.models import Content
from knowledge.monitoring.progress import tell
from knowledge.sources.readers import opened_readers
from knowledge.text.chunking import Piece, chunk
from knowledge.text.languages import configuration_for, language_of


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text cut into pieces, with its rows, and embedded when its pieces are few."""

    text: str
    pieces: Sequence[Piece]
    embedded: EmbeddedPieces | None
    rows: IndexRows | None = None
    language: str = ""
    """Of the text, where that was found out."""


def prepare(
    text: str, title: str, *, language: str = "", places: Sequence[Mapping[str, Any]] = ()
) -> Prepared:
    """Cut a text and, when it is short, embed it; a job embeds a long one.

    What is told of the language and the places of its source saves making its rows again.
    """
    tell("indexing")
    language = language or language_of(text)
    pieces, rows = _cut(text, title, language, places)
    embedded = generations.embed_inline(title, pieces)
    return Prepared(text, pieces, embedded, rows, language)


def prepare_texts(texts: Sequence[tuple[str, str]]) -> list[Prepared]:
    """The same for texts with their titles, which are cut, read and embedded together."""
    tell("indexing")
    languages = [language_of(text) for text, _ in texts]
    labelled = [
        (text, Labels(title, configuration_for(language), []))
        for (text, title), language in zip(texts, languages, strict=True)
    ]
    cut = _cut_texts(labelled)
    embedded = generations.embed_texts_inline(
        [(title, pieces) for (_, title), (pieces, _) in zip(texts, cut, strict=True)]
    )
    return [
        Prepared(text, pieces, vectors, rows, language)
        for (text, _), (pieces, rows), vectors, language in zip(
            texts, cut, embedded, languages, strict=True
        )
    ]


def prepare_content(content: Content, title: str, *, with_vectors: bool = True) -> Prepared:
    """The same for a content that is there; without vectors all embedding is left to a job."""
    places = content.locators
    if with_vectors:
        return prepare(content.text, title, language=content.language, places=places)
    pieces, rows = _cut(content.text, title, content.language, places)
    return Prepared(content.text, pieces, None, rows)


def prepare_without_vectors(text: str) -> Prepared:
    """Only cut a text, and leave all embedding to a job."""
    return Prepared(text, chunk(text), None)


def _cut(
    text: str, title: str, language: str, places: Sequence[Mapping[str, Any]]
) -> tuple[Sequence[Piece], IndexRows]:
    configuration = configuration_for(language or language_of(text))
    [cut] = _cut_texts([(text, Labels(title, configuration, list(places)))])
    return cut


def _cut_texts(
    texts: Sequence[tuple[str, Labels]],
) -> list[tuple[Sequence[Piece], IndexRows]]:
    """Pieces and rows; a reader makes them where so much text would keep callers waiting."""
    readers = opened_readers()
    if readers and sum(len(text) for text, _ in texts) > READ_IN_PLACE.most:
        return read_texts(readers, texts)
    pieces = [(chunk(text), labels) for text, labels in texts]
    rows = make_rows_of_texts(pieces)
    return [(each, made) for (each, _), made in zip(pieces, rows, strict=True)]
