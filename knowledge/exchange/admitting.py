"""Whether what an archive holds may be shown to others: screened as a write is, and kept anyway.

It is its owner's own and comes back whole, marked with what is found in it. But what holds a
secret or is suspected is private here, and what was held back where it was exported is so here.
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
from knowledge.moderation.findings import found_in

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
        """What its owner wanted, for what has nothing about it."""
        is_clean = not self.suspicions and not self.was_held_back
        return wanted if is_clean else Visibility.PRIVATE.value

    def hold(self, item: Item) -> None:
        """Have what was held back wait for an admin here too, in the caller's transaction."""
        if self.was_held_back:
            quarantine.hold(item, [_HELD_BACK], QuarantineReason.REPORTS)


def of_item(record: ItemRecord, content: ContentRecord) -> Admission:
    """Documents are only ever read as what somebody else wrote, and are not screened."""
    was_held_back = record.quarantined is True
    if record.type not in (*MEMORY_TYPES, *REGISTRY_TYPES):
        return Admission(was_held_back=was_held_back)
    title = record.custom_title or content.title
    words = {"title": title, "content": content.text, "tags": record.tags, **record.attributes}
    return Admission(found_in(words, in_full=True).all, was_held_back)
