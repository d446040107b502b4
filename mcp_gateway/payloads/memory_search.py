"""What memory's search answers."""

from typing import Any, Literal
from uuid import UUID

from knowledge.memory.searching import MemoryAnswer, MemoryResult
from mcp_gateway.payloads.base import Copy, Payload, Shape, where_to_read
from mcp_gateway.payloads.fact_lines import NOTHING, UNTRUSTED, one_line


class FoundMemory(Shape):
    listed = "id type title content score url metadata copies"

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
    copies: list[Copy]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, result: MemoryResult) -> "FoundMemory":
        return cls.model_validate(result)

    def as_text(self, number: int) -> str:
        content = self.content.replace("\n", "\n    ")
        where = where_to_read(
            self.url,
            self.id,
            self.copies,
            status=self.metadata.get("status"),
            contested_with=self.metadata["contested_with"],
        )
        title = f"{number}. ({self.score:.2f}) {self.type}: {one_line(self.title)}"
        return f'{title}\n   "{content}"\n   {where}'


class FoundMemories(Payload):
    listed = "results total has_more degraded"

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
        count = f"{len(parts)} of {self.total} that match." if self.has_more else ""
        notes = [count, self.degraded, UNTRUSTED if parts else NOTHING]
        return "\n".join([*parts, " ".join(filter(None, notes))])
