"""Folders as a caller sees them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal
from uuid import UUID

from knowledge.models import Folder
from mcp_gateway.payloads.base import Payload, Shape
from mcp_gateway.payloads.fact_lines import UNTRUSTED, join_named, one_line


class FolderSummary(Shape):
    """A folder that a listing has counted, for its caller."""

    listed = "id name item_count"

    id: UUID
    name: str
    item_count: int
    last_added_at: datetime | None


class Folders(Payload):
    listed = "folders"

    folders: list[FolderSummary]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, folders: Iterable[Folder]) -> "Folders":
        return cls(folders=[FolderSummary.model_validate(folder) for folder in folders])

    def as_text(self) -> str:
        if not self.folders:
            return "No folders that this token reaches."
        lines = [
            f"{one_line(each.name)} | {join_named(folder_id=each.id, items=each.item_count)}"
            for each in self.folders
        ]
        return "\n".join([*lines, f"Names: {UNTRUSTED.lower()}"])
