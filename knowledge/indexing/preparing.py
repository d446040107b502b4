"""The slow work of indexing, done before any row is locked."""

from dataclasses import dataclass

from knowledge.indexing import generations
from knowledge.indexing.generations import EmbeddedPieces
from knowledge.progress import tell
from knowledge.text.chunking import Piece, chunk


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text cut into pieces and, when they are few, embedded."""

    text: str
    pieces: list[Piece]
    embedded: EmbeddedPieces | None


def prepare(text: str, title: str) -> Prepared:
    """Cut a text and, when it is short, embed it; a job embeds a long one."""
    tell("indexing")
    pieces = chunk(text)
    return Prepared(text, pieces, generations.embed_inline(title, pieces))


def prepare_without_vectors(text: str) -> Prepared:
    """Only cut a text, and leave all embedding to a job."""
    return Prepared(text, chunk(text), None)
