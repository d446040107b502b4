"""The same change to many items at once: all of them, or none."""

from collections.abc import Collection, Iterator
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import InvalidInput
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.filing import with_new_folder
from knowledge.library.items import delete_item, file_item, visible_item

MAX_BULK = 200


@transaction.atomic
def archive_items(access: Access, item_ids: Collection[UUID], *, archived: bool = True) -> int:
    """Take items out of search and listings, or bring them back; how many they are."""
    for item_id in _checked(access, item_ids):
        update_item(access, item_id, ItemChanges(archived=archived))
    return len(set(item_ids))


@transaction.atomic
def tag_items(access: Access, item_ids: Collection[UUID], tags: Collection[str]) -> int:
    """Add tags to items, beside those they have; how many items they are."""
    if not tags:
        raise InvalidInput("Name at least one tag.", field="tags")
    for item_id in _checked(access, item_ids):
        item = visible_item(access, item_id)
        update_item(access, item_id, ItemChanges(tags=[*item.tags, *tags]))
    return len(set(item_ids))


@transaction.atomic
def file_items(
    access: Access,
    item_ids: Collection[UUID],
    folder_ids: Collection[UUID],
    *,
    new_folder: str = "",
) -> int:
    """Put items in folders, beside those they are in; how many items they are."""
    folders = with_new_folder(access, folder_ids, new_folder)
    for item_id in _checked(access, item_ids):
        file_item(access, item_id, folders)
    return len(set(item_ids))


@transaction.atomic
def delete_items(access: Access, item_ids: Collection[UUID]) -> int:
    """Delete items with all that hangs on them; how many they were."""
    for item_id in _checked(access, item_ids):
        delete_item(access, item_id)
    return len(set(item_ids))


def _checked(access: Access, item_ids: Collection[UUID]) -> Iterator[UUID]:
    """Each id once, and in order, so that two callers lock the same items without a deadlock."""
    access.require(Capability.WRITE)
    if not 0 < len(item_ids) <= MAX_BULK:
        raise InvalidInput(f"Choose between 1 and {MAX_BULK} items.", field="item_ids")
    yield from sorted(set(item_ids))
