"""What a search answers."""

from typing import Literal
from uuid import UUID

from knowledge.retrieval.search import Answer, Hit
from mcp_gateway.payloads.base import Copy, Payload, Shape, where_to_read
from mcp_gateway.payloads.fact_lines import NOTHING, UNTRUSTED, one_line


class Signal(Shape):
    rank: int | None
    score: float


class Signals(Shape):
    semantic: Signal
    keyword: Signal
    cosine: float | None


class Locator(Shape):
    page: int | None
    start_sec: float | None
    char_span: list[int]
    url: str


class Explanation(Shape):
    matched_terms: list[str]
    visible_by: str
    folder_id: UUID | None


class WholeChunk(Shape):
    chunk_id: int
    char_span: list[int]
    text: str


class SearchResult(Shape):
    listed = "score title user_item_id passage locator copies"

    score: float
    signals: Signals
    title: str
    user_item_id: UUID
    chunk_id: int
    passage: str
    highlights: list[list[int]]
    similar_chunk_ids: list[int]
    copies: list[Copy]
    chunks: list[WholeChunk]
    explanation: Explanation | None
    locator: Locator
    folder_ids: list[UUID]
    source_url: str | None
    suspected: list[str]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, hit: Hit) -> "SearchResult":
        return cls(
            score=hit.score,
            signals=Signals(
                semantic=Signal.model_validate(hit.semantic),
                keyword=Signal.model_validate(hit.keyword),
                cosine=hit.cosine,
            ),
            title=hit.item.title,
            user_item_id=hit.item.pk,
            chunk_id=hit.chunk.pk,
            passage=hit.passage,
            highlights=[list(span) for span in hit.highlights],
            similar_chunk_ids=list(hit.similar_chunk_ids),
            copies=[Copy.model_validate(copy) for copy in hit.copies],
            chunks=[WholeChunk.model_validate(chunk) for chunk in hit.chunks],
            explanation=Explanation.model_validate(hit.explanation) if hit.explanation else None,
            locator=Locator.model_validate(hit.locator),
            folder_ids=hit.item.folder_ids,
            source_url=hit.item.source_url,
            suspected=hit.item.suspected,
        )

    def as_text(self, number: int) -> str:
        # The chunks have the passage in them.
        quoted = "\n\n".join(chunk.text for chunk in self.chunks) or self.passage
        passage = quoted.replace("\n", "\n    ")
        why = self.explanation
        where = where_to_read(
            self.locator.url,
            self.user_item_id,
            self.copies,
            matched_terms=why and why.matched_terms,
            visible_by=why and why.visible_by,
            folder_id=why and why.folder_id,
            suspected=self.suspected,
        )
        title = f"{number}. ({self.score:.2f}) {one_line(self.title)}"
        return f'{title}\n   "{passage}"\n   {where}'


class SearchResults(Payload):
    listed = "results degraded"

    results: list[SearchResult]
    mode: str
    degraded: str | None

    @classmethod
    def of(cls, answer: Answer) -> "SearchResults":
        results = [SearchResult.of(hit) for hit in answer.hits]
        return cls(results=results, mode=answer.mode, degraded=answer.degraded)

    def links(self) -> list[tuple[UUID, str]]:
        return [(result.user_item_id, result.title) for result in self.results]

    def as_text(self) -> str:
        parts = [result.as_text(number) for number, result in enumerate(self.results, 1)]
        notes = [self.degraded, UNTRUSTED if parts else NOTHING]
        return "\n".join([*parts, " ".join(filter(None, notes))])
