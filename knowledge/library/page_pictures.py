"""Pages of stored PDFs as pictures, to be read beside their text."""

import base64
from uuid import UUID

from knowledge.access import Access
from knowledge.errors import IngestFailed, NotFound
from knowledge.library.originals import get_original
from knowledge.sources.child import run_in_child
from knowledge.storage import live_store

SECONDS = 20
MEGABYTES = 1_024
DRAWING = "knowledge.sources.parsers.page_picture:draw"
"""By its name: the renderer is loaded by the child alone."""


def draw_page(access: Access, item_id: UUID, page: int) -> bytes:
    """A page of an item's PDF as WebP, drawn in a child process as hostile files are read."""
    original = get_original(access, item_id)
    if original.upload.media_type != "application/pdf":
        raise NotFound("Only PDFs have pages to show.")
    try:
        with live_store().local_copy(original.upload.key) as path:
            request = {"path": str(path.resolve()), "page": page}
            drawn = run_in_child(DRAWING, request, seconds=SECONDS, megabytes=MEGABYTES)
    except IngestFailed as error:
        raise NotFound(f"This page cannot be shown. {error.message}") from error
    return base64.b64decode(drawn["webp"])
