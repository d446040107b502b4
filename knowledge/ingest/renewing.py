"""An item that its owner adds again: it comes back, and takes the new title, tags and folder."""

from typing import Any

from knowledge.access import Access
from knowledge.ingest import transforms
from knowledge.ingest.shelving import Prepared, Wish, file_into, folders_within, index, prepare
from knowledge.ledger import changes
from knowledge.models import Content, IndexStatus, Item, Transform, TransformState

_RENEWED = ("archived", "in_kb", "custom_title", "tags")


def renew_item(access: Access, content: Content, wish: Wish, ready: Prepared | None) -> Item | None:
    """The item that the caller sees of this content, with what the call names; None without one.

    Runs within the caller's transaction, which holds the content.
    """
    items = Item.objects.visible_to(access).select_for_update(of=("self",))
    item = items.filter(content=content).first()
    if item is None:
        return None
    item.content = content
    before, title = changes.values_of(item, _RENEWED), item.title
    joins = wish.in_kb and not item.in_kb
    for name, value in _new_values(item, wish).items():
        setattr(item, name, value)
    if joins:
        item.index_status = IndexStatus.PENDING
    item.save(update_fields=[*_RENEWED, "index_status", "updated_at"])
    changes.item_changed(access, item, before)
    if wish.folder_id:
        file_into(access, item, folders_within(access, [wish.folder_id], for_update=True))
    if item.in_kb and content.is_ready and (joins or item.title != title):
        index(item, ready if wish.title else prepare(content.text, item.title))
    if wish.auto_transform and _lacks_summary(item):
        transforms.want_transform(item)
    return item


def _new_values(item: Item, wish: Wish) -> dict[str, Any]:
    """What is not named in the call stays as it is."""
    values: dict[str, Any] = {"archived": False, "in_kb": item.in_kb or wish.in_kb}
    if wish.title:
        values["custom_title"] = wish.title if wish.title != item.content.title else ""
    if wish.tags:
        values["tags"] = list(wish.tags)
    return values


def _lacks_summary(item: Item) -> bool:
    """Adding again pays for nothing that is there or on the way."""
    return not Transform.objects.filter(item=item).exclude(state=TransformState.FAILED).exists()
