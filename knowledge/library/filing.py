"""The folders of one item, all at once."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from knowledge.access import Access
from knowledge.library.items import create_folder, file_item, unfile_item, visible_item
from knowledge.models import Item


@transaction.atomic
def refile_item(
    access: Access, item_id: UUID, folder_ids: Collection[UUID], *, new_folder: str = ""
) -> Item:
    """Have an item in just these folders, and in a new one if it is named."""
    now = set(visible_item(access, item_id, for_update=True).folder_ids)
    wanted = with_new_folder(access, folder_ids, new_folder)
    if wanted - now:
        file_item(access, item_id, wanted - now)
    for folder_id in now - wanted:
        unfile_item(access, item_id, folder_id)
    return visible_item(access, item_id)


def with_new_folder(access: Access, folder_ids: Collection[UUID], name: str) -> set[UUID]:
    """The folders, and beside them the one that is made, if it has a name."""
    made = {create_folder(access, name).pk} if name.strip() else set()
    return {*folder_ids, *made}
