"""What memory's search answers."""

from collections.abc import Container, Mapping
from typing import Any, Literal
from uuid import UUID

from knowledge.memory.searching import MemoryAnswer, MemoryResult
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.wording import UNTRUSTED, named, one_line


class FoundMemory(Shape):
    id: UUID
    user_item_id: UUID
    chunk_id: int
    type: str
    name: str
    title: str
    content: str
    score: float
    source: str | None
    url: str
    result_origin: Literal["graph", "document"]
    metadata: dict[str, Any]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, result: MemoryResult) -> "FoundMemory":
        return cls.model_validate(result)

    def as_text(self, number: int) -> str:
        content = self.content.replace("\n", "\n    ")
        known = {"id": self.id, "result_origin": self.result_origin, "source": self.source}
        facts = named(**known, **_flat_each(self.metadata, known))
        title = f"{number}. ({self.score:.2f}) {self.type}: {one_line(self.title)}"
        return f'{title}\n   "{content}"\n   {self.url}\n   {facts}'


class FoundMemories(Payload):
    results: list[FoundMemory]
    total: int
    query: str
    filters: dict[str, Any]
    graph_count: int
    document_count: int
    limit: int
    offset: int
    has_more: bool
    usage_hint: str
    degraded: str | None

    @classmethod
    def of(cls, answer: MemoryAnswer) -> "FoundMemories":
        return cls.model_validate(answer)

    def links(self) -> list[tuple[UUID, str]]:
        return [(result.id, result.title) for result in self.results]

    def as_text(self) -> str:
        parts = [result.as_text(number) for number, result in enumerate(self.results, 1)]
        if not parts:
            parts = ["Nothing that this token reaches matches. Try other words or fewer filters."]
        counts = named(
            total=self.total,
            graph_count=self.graph_count,
            document_count=self.document_count,
            limit=self.limit,
            offset=self.offset,
            has_more=self.has_more,
            **_flat_each(self.filters),
        )
        notes = [self.degraded, *([self.usage_hint, UNTRUSTED] if self.results else [])]
        return "\n\n".join([*parts, counts, " ".join(note for note in notes if note)]).strip()


def _flat_each(facts: Mapping[str, Any], said: Container[str] = ()) -> dict[str, Any]:
    return {name: _flat(value) for name, value in facts.items() if name not in said}


def _flat(value: Any) -> Any:
    """What a fact is in words: numbers short, an object by its values."""
    if isinstance(value, dict):
        return " ".join(str(_flat(each)) for each in value.values())
    return f"{value:.3g}" if isinstance(value, float) else value
