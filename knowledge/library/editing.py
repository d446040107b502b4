"""Changing what an item is called, how it is tagged, where it is found and who sees it."""

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import Conflict, InvalidInput
from knowledge.indexing import preparing
from knowledge.ingest.items import MAX_TITLE
from knowledge.ledger import changes as record
from knowledge.library import items as library
from knowledge.library.items import Expectation, accept_any_version, visible_item
from knowledge.models import MEMORY_TYPES, REGISTRY_TYPES, Item, Visibility
from knowledge.moderation import actors, quarantine
from knowledge.moderation.findings import ScreeningResult, each_once, screen_value
from knowledge.registry import publishing
from knowledge.validation import clean_line, clean_tags, one_of

_SCREENED = (*MEMORY_TYPES, *REGISTRY_TYPES)
_WORDS = {"custom_title": "title", "tags": "tags"}
"""The fields that hold words, and what a finding in them calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChanges:
    """Changes to an item; a field that is None stays as it is."""

    title: str | None = None
    tags: Collection[str] | None = None
    in_kb: bool | None = None
    archived: bool | None = None
    visibility: str | None = None

    def checked_fields(self) -> dict[str, Any]:
        """The model's fields to set, each within its rule."""
        fields: dict[str, Any] = {"in_kb": self.in_kb, "archived": self.archived}
        if self.title is not None:
            fields["custom_title"] = clean_line(self.title, field="title", longest=MAX_TITLE)
        if self.tags is not None:
            fields["tags"] = clean_tags(self.tags)
        if self.visibility is not None:
            fields["visibility"] = one_of(self.visibility, Visibility.values, field="visibility")
        return {name: value for name, value in fields.items() if value is not None}


def update_item(
    access: Access, item_id: UUID, changes: ItemChanges, *, expect: Expectation = accept_any_version
) -> Item:
    """Change what is given; leaving the knowledge base removes the chunks, joining makes them.

    What agents read as knowledge is screened like the write that made it.
    """
    access.require(Capability.WRITE)
    if changes.in_kb is False and access.kb_only:
        raise InvalidInput("A kb_only token keeps items in the knowledge base.", field="in_kb")
    fields = changes.checked_fields()
    seen = visible_item(access, item_id)
    shown = _to_be_shown(seen, fields)
    found = _screen_changes(seen, fields)
    ready = None
    if library.needs_indexing(seen, fields):
        title = fields.get("custom_title", seen.title)
        ready = preparing.prepare_content(seen.content, title)
    with transaction.atomic():
        item = _lock_item_and_key(access, seen, fields)
        expect(item)
        if _to_be_shown(item, fields) != shown:
            raise Conflict("Somebody else is changing this item at this moment; send it again.")
        before = record.values_of(item, fields)
        library.set_fields(item, fields, ready)
        record.item_changed(access, item, before)
        if item.type in _SCREENED:
            reworded = {_WORDS[name] for name in fields if name in _WORDS}
            quarantine.suspect(access, item, found.orders, reworded=reworded)
        if not found.is_whole:
            actors.screen_the_rest(item, found)
    return visible_item(access, item_id)


def _screen_changes(item: Item, fields: Mapping[str, Any]) -> ScreeningResult:
    """Screen new words, and all of an item that more people will see; a secret is refused."""
    if item.type not in _SCREENED:
        return ScreeningResult()
    changed = copy(item)
    for name, value in fields.items():
        setattr(changed, name, value)
    shown = {"title": (item.title, changed.title), "tags": (item.tags, changed.tags)}
    new = {name: value for name, (old, value) in shown.items() if value != old}
    found = screen_value(new).without_secrets()
    if not publishing.widens(item, changed.visibility):
        return found
    published = publishing.screen_item(changed)
    return replace(published, orders=each_once([*found.orders, *published.orders]))


def _lock_item_and_key(access: Access, seen: Item, fields: Mapping[str, Any]) -> Item:
    """Lock the item, and before it its key, which must be free if more people will see the item."""
    if publishing.widens(seen, fields.get("visibility")) and (key := publishing.unit_key(seen)):
        publishing.lock_key(key)
        publishing.refuse_taken(access, key, besides_own=True, field="visibility")
    return visible_item(access, seen.pk, for_update=True)


def _to_be_shown(item: Item, fields: Mapping[str, Any]) -> tuple[bool, UUID | None]:
    """Whether more people are to see an item, and in which version."""
    is_wider = publishing.widens(item, fields.get("visibility"))
    return is_wider, publishing.current_version_id(item) if is_wider else None
