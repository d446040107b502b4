"""Documentation sources as tools answer them, with how far each crawl is."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from knowledge.models import Source
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.fact_lines import join_named, one_line


class SourceSummary(Shape):
    listed = "source_id name start_url state percent pages error"

    source_id: UUID
    name: str
    start_url: str
    include: list[str]
    exclude: list[str]
    depth: int
    max_pages: int
    folder_id: UUID | None
    state: str
    percent: int
    pages: dict[str, int]
    pages_done: int
    pages_known: int
    error: str
    begun_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, source: Source) -> "SourceSummary":
        taken = {
            name: getattr(source, name)
            for name in cls.model_fields
            if name not in ("source_id", "pages")
        }
        return cls(source_id=source.pk, pages=source.page_counts, **taken)

    def as_text(self) -> str:
        told = self.model_dump(exclude={"name", "pages"})
        counts = {f"pages_{state}": count for state, count in self.pages.items()}
        return f"{one_line(self.name)}\n   {join_named(**told, **counts)}"


class SourceList(Payload):
    sources: list[SourceSummary]

    @classmethod
    def of(cls, sources: Iterable[Source]) -> "SourceList":
        return cls(sources=[SourceSummary.of(source) for source in sources])

    def as_text(self) -> str:
        if not self.sources:
            return "No documentation sources that this token reaches. crawl_source adds one."
        return "\n".join(
            f"{number}. {source.as_text()}" for number, source in enumerate(self.sources, 1)
        )


class Crawl(Payload):
    """A crawl that was begun, or that runs already."""

    listed = "source_id name state percent"

    source_id: UUID
    name: str
    start_url: str
    folder_id: UUID | None
    state: str
    percent: int

    @classmethod
    def of(cls, source: Source) -> "Crawl":
        taken = {name: getattr(source, name) for name in cls.model_fields if name != "source_id"}
        return cls(source_id=source.pk, **taken)

    def as_text(self) -> str:
        facts = join_named(**self.model_dump(exclude={"name"}))
        return f"{one_line(self.name)}\n{facts}\nlist_sources tells how far it is."
