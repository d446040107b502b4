"""Whether what an archive holds may be shown to others: screened as a write is, and kept anyway.

It is its owner's own and comes back whole. But what holds a secret is seen by nobody else, and what
is suspected waits for an admin, as does what was held back where it was exported.
"""

from dataclasses import dataclass, field
from typing import Any

from knowledge import quarantine
from knowledge.item_records import ItemRecord
from knowledge.models import (
    MEMORY_TYPES,
    REGISTRY_TYPES,
    Item,
    QuarantineReason,
    Visibility,
)
from knowledge.records import ContentRecord

_HELD_BACK = {
    "kind": "exported",
    "rule": "was_held_back",
    "sentence": "It was held back where it was exported.",
    "path": "",
}


@dataclass(frozen=True, slots=True)
class Admission:
    """What a screening found of one item, and so who may see it."""

    has_secret: bool = False
    orders: list[dict[str, Any]] = field(default_factory=list)
    was_held_back: bool = False

    @property
    def is_suspected(self) -> bool:
        return bool(self.orders) or self.was_held_back

    def visibility(self, wanted: str) -> str:
        """What its owner wanted, for what has nothing about it."""
        is_clean = not self.has_secret and not self.is_suspected
        return wanted if is_clean else Visibility.PRIVATE.value

    def hold(self, item: Item) -> None:
        """Have a suspected item wait for an admin, in the caller's transaction."""
        if self.orders:
            quarantine.hold(item, QuarantineReason.INJECTION, self.orders)
        elif self.was_held_back:
            quarantine.hold(item, QuarantineReason.REPORTS, [_HELD_BACK])


def of_item(record: ItemRecord, content: ContentRecord) -> Admission:
    """Documents are only ever read as what somebody else wrote, and are not screened."""
    was_held_back = record.quarantined is True
    if record.type not in (*MEMORY_TYPES, *REGISTRY_TYPES):
        return Admission(was_held_back=was_held_back)
    title = record.custom_title or content.title
    words = {"title": title, "content": content.text, "tags": record.tags, **record.attributes}
    return of_found(*quarantine.found_in(words), was_held_back=was_held_back)


def of_found(
    secrets: list[dict[str, Any]], orders: list[dict[str, Any]], *, was_held_back: bool = False
) -> Admission:
    return Admission(bool(secrets), orders, was_held_back)
