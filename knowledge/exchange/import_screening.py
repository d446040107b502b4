"""Screens what an archive holds as a write is screened; findings make it private, never lost.

An import is the owner's own data, so everything is restored and marked with its findings. What
holds a secret or is suspected becomes private; what was quarantined stays quarantined.
"""

from dataclasses import dataclass, field
from typing import Any

from knowledge.exchange.item_records import ItemRecord
from knowledge.exchange.records import ContentRecord
from knowledge.models import (
    MEMORY_TYPES,
    REGISTRY_TYPES,
    Item,
    QuarantineReason,
    Visibility,
)
from knowledge.moderation import quarantine
from knowledge.moderation.findings import screen_value

_HELD_BACK = {
    "kind": "exported",
    "rule": "was_held_back",
    "sentence": "It was held back where it was exported.",
    "path": "",
}


@dataclass(frozen=True, slots=True)
class Admission:
    """What a screening found of one item, and so who may see it."""

    suspicions: list[dict[str, Any]] = field(default_factory=list)
    was_held_back: bool = False

    def visibility(self, wanted: str) -> str:
        """The visibility that the owner chose; it holds only without findings."""
        is_clean = not self.suspicions and not self.was_held_back
        return wanted if is_clean else Visibility.PRIVATE.value

    def hold(self, item: Item) -> None:
        """Have what was held back wait for an admin here too, in the caller's transaction."""
        if self.was_held_back:
            quarantine.quarantine_item(item, [_HELD_BACK], QuarantineReason.REPORTS)


def of_item(record: ItemRecord, content: ContentRecord) -> Admission:
    """Documents are not screened: they are always shown as texts by somebody else."""
    was_held_back = record.quarantined is True
    if record.type not in (*MEMORY_TYPES, *REGISTRY_TYPES):
        return Admission(was_held_back=was_held_back)
    title = record.custom_title or content.title
    words = {"title": title, "content": content.text, "tags": record.tags, **record.attributes}
    return Admission(screen_value(words, in_full=True).all, was_held_back)
