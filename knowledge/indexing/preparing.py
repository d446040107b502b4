"""The slow work of indexing, done before any row is locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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


class _Source(NamedTuple):
    text: str
    title: str
    language: str
    places: Sequence[Mapping[str, Any]] = ()

    @property
    def labels(self) -> Labels:
        return Labels(self.title, configuration_for(self.language), list(self.places))


def prepare(
    text: str, title: str, *, language: str = "", places: Sequence[Mapping[str, Any]] = ()
) -> Prepared:
    """Cut a text and, when it is short, embed it; a job embeds a long one.

    What is told of the language and the places of its source saves making its rows again.
    """
    [prepared] = _prepare([_Source(text, title, language or language_of(text), places)])
    return prepared


def prepare_texts(texts: Sequence[tuple[str, str]]) -> list[Prepared]:
    """The same for texts with their titles, which are cut, read and embedded together."""
    return _prepare([_Source(text, title, language_of(text)) for text, title in texts])


def prepare_content(content: Content, title: str, *, with_vectors: bool = True) -> Prepared:
    """The same for a content that is there; without vectors all embedding is left to a job."""
    language = content.language or language_of(content.text)
    source = _Source(content.text, title, language, content.locators)
    [prepared] = _prepare([source], with_vectors=with_vectors)
    return prepared


def prepare_without_vectors(text: str) -> Prepared:
    """Only cut a text, and leave all embedding to a job."""
    return Prepared(text, chunk(text), None)


def _prepare(sources: Sequence[_Source], *, with_vectors: bool = True) -> list[Prepared]:
    tell("indexing")
    cut = _cut_texts([(each.text, each.labels) for each in sources])
    embedded: Sequence[EmbeddedPieces | None] = [None] * len(sources)
    if with_vectors:
        titled = [(each.title, pieces) for each, (pieces, _) in zip(sources, cut, strict=True)]
        embedded = generations.embed_inline(titled)
    return [
        Prepared(each.text, pieces, vectors, rows, each.language)
        for each, (pieces, rows), vectors in zip(sources, cut, embedded, strict=True)
    ]


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
