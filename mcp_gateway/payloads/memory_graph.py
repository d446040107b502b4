"""What the tools that walk memory answer."""

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from knowledge.memory import contexts, exploring
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.fact_lines import UNTRUSTED, join_named, one_line

CUT = "There is more than one walk takes in; name relationship_types or take a lesser depth."


class Entity(Shape):
    """An item; that its parts are loosely typed spares agents half of the schema."""

    listed = "id type title excerpt metadata relations task"

    id: UUID
    type: str
    title: str
    excerpt: str
    metadata: dict[str, Any]
    created_at: datetime
    superseded_by: UUID | None
    distance: int | None
    relations: list[dict[str, Any]]
    task: dict[str, Any] | None

    @classmethod
    def of(cls, node: exploring.Node) -> "Entity":
        item = node.item
        return cls(
            id=item.pk,
            type=item.type,
            title=item.title,
            excerpt=node.excerpt,
            metadata=node.metadata,
            created_at=item.created_at,
            superseded_by=node.superseded_by,
            distance=node.distance,
            relations=[asdict(step) for step in node.relations],
            task=asdict(node.task) if node.task else None,
        )

    def as_text(self, number: int) -> str:
        facts = join_named(
            id=self.id,
            **self.metadata,
            created_at=self.created_at,
            superseded_by=self.superseded_by,
            distance=self.distance,
            relations=[
                "{direction} {type} {weight:g} to {to}".format(**each) for each in self.relations
            ],
            **self.task or {},
        )
        title = f"{number}. {one_line(self.title)} ({self.type})"
        return f'{title}\n   "{one_line(self.excerpt)}"\n   {facts}'


class Explored(Payload):
    listed = "entities total has_more truncated cycles"

    mode: str
    entities: list[Entity]
    total: int
    has_more: bool
    truncated: bool
    cycles: list[list[dict[str, Any]]]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, explored: exploring.Exploration) -> "Explored":
        return cls(
            mode=explored.mode,
            entities=[Entity.of(node) for node in explored.nodes],
            total=explored.total,
            has_more=explored.has_more,
            truncated=explored.is_cut,
            cycles=[
                [{"id": str(item.pk), "title": item.title} for item in cycle]
                for cycle in explored.cycles
            ],
        )

    def links(self) -> list[tuple[UUID, str]]:
        return [(entity.id, entity.title) for entity in self.entities]

    def as_text(self) -> str:
        parts = [entity.as_text(number) for number, entity in enumerate(self.entities, 1)]
        parts = parts or ["Nothing here that this token reaches. Try fewer filters."]
        parts += [_as_text(cycle) for cycle in self.cycles]
        count = f"{len(self.entities)} of {self.total} by {self.mode}."
        notes = [count, CUT if self.truncated else ""]
        return "\n\n".join([*parts, " ".join([*filter(None, notes), UNTRUSTED])])


def _as_text(cycle: list[dict[str, Any]]) -> str:
    names = [f"{one_line(each['title'])} ({each['id']})" for each in [*cycle, cycle[0]]]
    return f"A cycle, in which each waits for the next: {' → '.join(names)}"


class ContextSection(Shape):
    facet: str
    items: list[contexts.ContextItem]


class ContextPack(Payload):
    listed = "markdown sections omitted"

    intent: str
    sections: list[ContextSection]
    markdown: str
    token_count: int
    token_budget: int
    omitted: int
    degraded: str | None
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, context: contexts.Context) -> "ContextPack":
        return cls.model_validate(context)

    def as_text(self) -> str:
        return self.markdown
