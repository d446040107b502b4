"""Screening all of an item of which only a part was read when it was written."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from knowledge.ingest import followups
from knowledge.models import Item, ItemType, Version, WebhookEvent
from knowledge.moderation import quarantine
from knowledge.moderation.findings import ScreeningResult, screen_value
from knowledge.text.file_text import readable


@dataclass(frozen=True, slots=True)
class FullScreening:
    """The findings of an item, and the version that was read: it may be rewritten in between."""

    found: ScreeningResult
    version_id: UUID | None
    changed_at: datetime


def screen(item_id: UUID) -> FullScreening | None:
    """Screen a whole item before any row is locked; None if it was screened in full already."""
    items = Item.objects.select_related("content").filter(pk=item_id, half_screened=True)
    item = items.first()
    if item is None:
        return None
    version = _current(item)
    found = screen_value(_words(item, version), in_full=True)
    return FullScreening(found, version.pk if version else None, item.content.changed_at)


def record_findings(item_id: UUID, screened: FullScreening | None) -> bool:
    """Mark the item with what was found, and tell its owner; False if it was changed meanwhile.

    Runs within the caller's transaction. A second run finds nothing that is left to do.
    """
    items = Item.objects.select_related("content").select_for_update(of=("self",))
    item = items.filter(pk=item_id, half_screened=True).first()
    if item is None or screened is None:
        return True
    version = _current(item)
    is_same_version = screened.version_id == (version.pk if version else None)
    is_same = is_same_version and screened.changed_at == item.content.changed_at
    if is_same:
        item.half_screened = False
        item.save(update_fields=["half_screened", "updated_at"])
        if quarantine.suspect_later(item, screened.found.all):
            followups.announce(WebhookEvent.ITEM_SUSPECTED, item)
    return is_same


def _current(item: Item) -> Version | None:
    return Version.objects.filter(item=item).order_by("-number").first()


def _words(item: Item, version: Version | None) -> dict[str, Any]:
    """What the write itself screened, by the same names; a skill's YAML was read in full then."""
    if version is None:
        shown = {"title": item.title, "content": item.content.text, "tags": item.tags}
        return {**shown, **item.attributes}
    if item.type != ItemType.SKILL:
        return {"unit": version.document}
    files = {path: _text(file) for path, file in version.files.items()}
    return {"skill_md_content": version.document["body"], "files": files}


def _text(file: Mapping[str, str]) -> str:
    return file["text"] if "text" in file else readable(base64.b64decode(file["base64"]))
