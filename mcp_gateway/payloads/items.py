"""Items as tools answer them: in a list, with their text, and new."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from knowledge import models
from knowledge.ingest import adding
from knowledge.library.items import Recent
from knowledge.models import Item
from mcp_gateway.cursors import cursor_after
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.fact_lines import UNTRUSTED, join_named, one_line


class ItemSummary(Shape):
    listed = "user_item_id title type source_url tags folder_ids created_at transcription_status"

    user_item_id: UUID
    title: str
    type: str
    source_url: str | None
    in_kb: bool
    tags: list[str]
    folder_ids: list[UUID]
    created_at: datetime
    transcription_status: str
    index_status: str
    suspected: list[str]

    @classmethod
    def of(cls, item: Item) -> "ItemSummary":
        return cls(**_summary(item))


class RecentItems(Payload):
    listed = "items next_cursor"

    items: list[ItemSummary]
    next_cursor: str | None
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, recent: Recent) -> "RecentItems":
        items = [ItemSummary.of(item) for item in recent.items]
        return cls(items=items, next_cursor=cursor_after(recent))

    def links(self) -> list[tuple[UUID, str]]:
        return [(item.user_item_id, item.title) for item in self.items]

    def as_text(self) -> str:
        if not self.items:
            return "Nothing here yet that this token reaches. add_to_knowledge puts things in."
        lines = [
            f"{number}. {one_line(item.title)}\n   {_item_facts(item)}"
            for number, item in enumerate(self.items, 1)
        ]
        more = [f"For older ones, cursor: {self.next_cursor}"] if self.next_cursor else []
        return "\n".join([*lines, "", *more, f"Titles and tags: {UNTRUSTED.lower()}"])


class Quote(Shape):
    text: str
    page: int | None = None
    start_sec: float | None = None

    @classmethod
    def of(cls, quote: dict[str, Any]) -> "Quote":
        where = quote["locator"]
        return cls(text=quote["text"], page=where.get("page"), start_sec=where.get("start_sec"))

    def as_text(self) -> str:
        where = join_named(page=self.page, start_sec=self.start_sec)
        return f"> {one_line(self.text)}" + (f" ({where})" if where else "")


class Transform(Shape):
    listed = "state tldr key_points"

    state: str
    tldr: str
    key_points: list[str]
    quotes: list[Quote]
    error: str

    @classmethod
    def of(cls, summary: models.Transform | None) -> "Transform | None":
        if summary is None:
            return None
        return cls(
            state=summary.state,
            tldr=summary.tldr,
            key_points=summary.key_points,
            quotes=[Quote.of(quote) for quote in summary.quotes],
            error=summary.error,
        )

    def as_text(self) -> str:
        if self.state != "done":
            return f"Summary: {join_named(state=self.state, error=self.error)}"
        points = [f"- {one_line(point)}" for point in self.key_points]
        quotes = [quote.as_text() for quote in self.quotes]
        return "\n".join(["## Summary", "", one_line(self.tldr), "", *points, "", *quotes])


class ItemText(Payload, ItemSummary):
    """One item with a part of its text."""

    listed = (
        "user_item_id title type source_url tags folder_ids status transcription_status "
        "transform text total_chars next_offset"
    )

    status: str
    step: str
    percent: int
    archived: bool
    index_error: str
    transcription_error: str
    transform: Transform | None
    text: str
    offset: int
    total_chars: int
    next_offset: int | None
    untrusted: Literal[True] = True

    @classmethod
    def part(cls, item: Item, offset: int, max_chars: int) -> "ItemText":
        """The item with this much of its text, and where the rest begins."""
        text = item.content.text
        end = offset + max_chars
        return cls(
            **_summary(item),
            status=item.status,
            step=item.content.step,
            percent=item.content.percent,
            archived=item.archived,
            index_error=item.index_error,
            transcription_error=item.content.error,
            transform=Transform.of(item.summary),
            text=text[offset:end],
            offset=offset,
            total_chars=len(text),
            next_offset=end if end < len(text) else None,
        )

    def as_text(self) -> str:
        is_waiting = self.status not in ("ready", "failed")
        facts = _item_facts(
            self,
            status=None if self.status == "ready" else self.status,
            step=self.step if is_waiting else None,
            percent=self.percent if is_waiting else None,
            archived=self.archived or None,
            index_error=self.index_error,
            transcription_error=self.transcription_error,
        )
        notes = [facts, " ".join([*self._extent(), UNTRUSTED])]
        head = "\n".join([f"# {one_line(self.title)}", "", *notes])
        summary = [self.transform.as_text()] if self.transform else []
        return "\n\n".join([head, *summary, "---", self.text])

    def _extent(self) -> list[str]:
        """Which part this is, unless it is the whole text."""
        end = self.offset + len(self.text)
        if not self.offset and self.next_offset is None:
            return []
        part = f"Characters {self.offset} to {end} of {self.total_chars}."
        if self.next_offset is None:
            return [part]
        return [part, f"Call get_item with offset {self.next_offset} for the next part."]


class Added(Payload):
    listed = "status user_item_id folder_id transform_error"

    status: str
    user_item_id: UUID
    content_id: UUID
    folder_id: UUID | None
    index_status: str
    transform_error: str | None

    @classmethod
    def of(cls, added: adding.AddedItem) -> "Added":
        return cls(
            status=added.item.status,
            user_item_id=added.item.pk,
            content_id=added.item.content_id,
            folder_id=added.folder_id,
            index_status=added.item.index_status,
            transform_error=added.transform_error,
        )

    def as_text(self) -> str:
        return join_named(
            status=self.status,
            user_item_id=self.user_item_id,
            content_id=self.content_id,
            folder_id=self.folder_id or "none (unfiled)",
            index_status=self.index_status,
            transform_error=self.transform_error,
        )


def _summary(item: Item) -> dict[str, Any]:
    return {
        "user_item_id": item.pk,
        "title": item.title,
        "type": item.type,
        "source_url": item.source_url,
        "in_kb": item.in_kb,
        "tags": item.tags,
        "folder_ids": item.folder_ids,
        "created_at": item.created_at,
        "transcription_status": item.content.transcription_status,
        "index_status": item.index_status,
        "suspected": item.suspected,
    }


def _item_facts(item: ItemSummary, **more: object) -> str:
    """The facts of an item that an agent acts on; default values are left out."""
    transcription = item.transcription_status
    return join_named(
        user_item_id=item.user_item_id,
        source_url=item.source_url,
        type=None if item.type == "document" else item.type,
        tags=item.tags,
        folder_ids=item.folder_ids,
        created_at=item.created_at.date(),
        in_kb=None if item.in_kb else False,
        transcription_status=None if transcription in ("none", "done") else transcription,
        **more,
    )
