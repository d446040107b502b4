"""Folders as a caller sees them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal
from uuid import UUID

from knowledge.models import Folder
from mcp_gateway.payloads.base import Shape


class FolderSummary(Shape):
    """A folder that a listing has counted, for its caller."""

    id: UUID
    name: str
    item_count: int
    last_added_at: datetime | None


class Folders(Shape):
    folders: list[FolderSummary]
    untrusted: Literal[True] = True

    @classmethod
    def of(cls, folders: Iterable[Folder]) -> "Folders":
        return cls(folders=[FolderSummary.model_validate(folder) for folder in folders])
