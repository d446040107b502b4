"""The slow work of indexing, done before any row is locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.budgets import READ_IN_PLACE
from knowledge.indexing import generations
from knowledge.indexing.generations import EmbeddedPieces
from knowledge.indexing.index_rows import IndexRows, Labels
from knowledge.indexing.reading_texts import read_text
from knowledge.models import Content
from knowledge.progress import tell
from knowledge.sources.readers import opened_readers
from knowledge.text.chunking import Piece, chunk
from knowledge.text.languages import configuration_for, language_of


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text cut into pieces and, when they are few, embedded; of a long one also its rows."""

    text: str
    pieces: Sequence[Piece]
    embedded: EmbeddedPieces | None
    rows: IndexRows | None = None


def prepare(
    text: str, title: str, *, language: str = "", places: Sequence[Mapping[str, Any]] = ()
) -> Prepared:
    """Cut a text and, when it is short, embed it; a job embeds a long one.

    What is told of the language and the places of its source saves making its rows again.
    """
    tell("indexing")
    pieces, rows = _cut(text, title, language, places)
    return Prepared(text, pieces, generations.embed_inline(title, pieces), rows)


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
) -> tuple[Sequence[Piece], IndexRows | None]:
    """The pieces; a reader makes the rows too, where a long text would keep callers waiting."""
    readers = opened_readers()
    if readers is None or len(text) <= READ_IN_PLACE.most:
        return chunk(text), None
    configuration = configuration_for(language or language_of(text))
    return read_text(readers, text, Labels(title, configuration, list(places)))
