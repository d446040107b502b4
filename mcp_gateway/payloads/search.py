"""What a search answers."""

from typing import Literal
from uuid import UUID

from knowledge.retrieval.search import Answer, Hit
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.wording import UNTRUSTED, named, one_line


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


class SearchResult(Shape):
    score: float
    signals: Signals
    title: str
    user_item_id: UUID
    chunk_id: int
    passage: str
    highlights: list[list[int]]
    similar_chunk_ids: list[int]
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
            explanation=Explanation.model_validate(hit.explanation) if hit.explanation else None,
            locator=Locator.model_validate(hit.locator),
            folder_ids=hit.item.folder_ids,
            source_url=hit.item.source_url,
            suspected=hit.item.suspected,
        )

    def as_text(self, number: int) -> str:
        passage = self.passage.replace("\n", "\n    ")
        where, signals = self.locator, self.signals
        facts = named(
            user_item_id=self.user_item_id,
            chunk_id=self.chunk_id,
            page=where.page,
            start_sec=where.start_sec,
            char_span="-".join(map(str, where.char_span)),
            source_url=None if self.source_url == where.url else self.source_url,
            folder_ids=self.folder_ids,
            similar_chunk_ids=self.similar_chunk_ids,
            semantic=_signal(signals.semantic, signals.cosine),
            keyword=_signal(signals.keyword),
            matched_terms=self.explanation and self.explanation.matched_terms,
            visible_by=self.explanation and self.explanation.visible_by,
            suspected=self.suspected,
        )
        title = f"{number}. ({self.score:.2f}) {one_line(self.title)}"
        return f'{title}\n   "{passage}"\n   {where.url}\n   {facts}'


class SearchResults(Payload):
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
        if not parts:
            parts = ["Nothing that this token reaches matches. Try other words or fewer filters."]
        notes = [f"Searched by {self.mode}.", *([self.degraded] if self.degraded else [])]
        if self.results:
            notes.append(UNTRUSTED)
        return "\n\n".join([*parts, " ".join(notes)])


def _signal(signal: Signal, cosine: float | None = None) -> str:
    rank = "not among its candidates" if signal.rank is None else f"rank {signal.rank}"
    measured = "" if cosine is None else f" cosine {cosine:.2f}"
    return f"{signal.score:.2f} {rank}{measured}"
