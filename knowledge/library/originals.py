"""The files that items were read from, as they were sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db import close_old_connections

from knowledge.access import Access, Capability
from knowledge.errors import NotFound, not_found
from knowledge.models import Item, Upload, UploadState
from knowledge.storage import live_store

_PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Original:
    """A stored file that the caller may read."""

    upload: Upload
    size: int

    def read(self, start: int, count: int) -> Iterator[bytes]:
        """So many of its bytes, from `start` on; the database's connection is let go before."""
        close_old_connections()
        with live_store().open_read(self.upload.key, start=start) as file:
            while count > 0 and (piece := file.read(min(count, _PIECE))):
                count -= len(piece)
                yield piece


def get_original(access: Access, item_id: UUID) -> Original:
    """The file of an item that the caller sees."""
    access.require(Capability.READ)
    items = Item.objects.visible_to(access).filter(pk=item_id)
    content_id = items.values_list("content_id", flat=True).first()
    if content_id is None:
        raise not_found("item")
    upload = Upload.objects.filter(content=content_id, state=UploadState.FINISHED).first()
    if upload is None:
        raise NotFound("This item has no stored file; it was added as a text or a link.")
    size = live_store().size_of(upload.key)
    if size is None:
        raise NotFound("The file of this item is not in the file store any more.")
    return Original(upload, size)
