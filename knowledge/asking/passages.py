"""What the model reads: the chunks that were found, by sentences that know their place."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.models import Item
from knowledge.providers.protocols import Citation, SourcePassage
from knowledge.retrieval.search import Hit
from knowledge.text.places import mark_before
from knowledge.text.sentences import sentence_spans
from knowledge.text.token_estimate import token_count


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """Some sentences of an item, and where they stand in it."""

    text: str
    start: int
    end: int
    page: int | None
    start_sec: float | None

    @property
    def fragment(self) -> str:
        """What leads there in the reader: the second of a recording, else the characters."""
        if self.start_sec is not None:
            return f"t={int(self.start_sec)}"
        return f"char={self.start},{self.end}"


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A chunk as the model is given it."""

    hit: Hit
    spans: tuple[tuple[int, int], ...]
    """Of its sentences, in the chunk's own characters."""

    @property
    def item(self) -> Item:
        return self.hit.item

    @property
    def text(self) -> str:
        return self.hit.chunk.text

    def as_source(self) -> SourcePassage:
        return SourcePassage(
            title=self.item.title or "Untitled",
            source=f"quarry://items/{self.item.pk}",
            sentences=tuple(self.text[a:b] for a, b in self.spans),
        )

    def span_of(self, citation: Citation) -> QuotedSpan:
        start, end = self.spans[citation.first][0], self.spans[citation.end - 1][1]
        quoted = self.text[start:end]
        end = start + len(quoted.rstrip())
        chunk = self.hit.chunk
        return QuotedSpan(
            text=" ".join(quoted.split()),
            start=chunk.start + start,
            end=chunk.start + end,
            page=mark_before(chunk.locator, "page", chunk.start + start),
            start_sec=mark_before(chunk.locator, "start_sec", chunk.start + start),
        )


def read_passages(hits: Sequence[Hit], *, most_tokens: float) -> list[ReadPassage]:
    """The best hits that fit, in the order of their rank."""
    passages, room = [], most_tokens
    for hit in hits:
        room -= token_count(hit.chunk.text)
        if room < 0:
            break
        # No blank ones: the vendor refuses them, and nobody can cite them.
        text = hit.chunk.text
        spans = tuple((a, b) for a, b in sentence_spans(text) if text[a:b].strip())
        if spans:
            passages.append(ReadPassage(hit, spans))
    return passages
