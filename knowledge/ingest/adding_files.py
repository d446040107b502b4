"""Adding a file: an upload becomes an item, whose text a job reads or transcribes."""

from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Unpack
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import QuarryError
from knowledge.ingest import contents
from knowledge.ingest.adding import AddedItem, AddOptions, check_options
from knowledge.ingest.items import ItemOptions, create_item
from knowledge.ingest.uploads import (
    DOCUMENTS,
    RECORDINGS,
    begin_upload,
    no_such_upload,
    take_upload,
)
from knowledge.ledger import quotas
from knowledge.models import Content, Folder, Item, Step, Upload, UploadState
from knowledge.sources import audio, files
from knowledge.storage import live_store


def finish_upload(
    access: Access,
    upload_id: UUID,
    *,
    kinds: Collection[str],
    **given: Unpack[AddOptions],
) -> AddedItem:
    """Make an item of a stored file; asked again, answer the item that it has become."""
    access.require(Capability.WRITE)
    folder_id = given.get("folder_id")
    if folder_id:
        Folder.objects.visible_to(access).all_of([folder_id])
    with transaction.atomic():
        upload = take_upload(access, upload_id, kinds=kinds)
        if upload.state == UploadState.FINISHED:
            return _earlier_answer(access, upload, folder_id)
        options = check_options(access, **given)
        return AddedItem.of(access, add_upload(access, upload, options), folder_id)


def add_file(access: Access, path: Path, **given: Unpack[AddOptions]) -> AddedItem:
    """Add a file of this machine in one go: all three steps are taken, or nothing is left."""
    upload = store_file(access, path, filename=path.name)
    try:
        return finish_upload(access, upload.pk, kinds=RECORDINGS | DOCUMENTS, **given)
    except QuarryError:
        live_store().delete(upload.key)
        upload.delete()
        raise


def store_file(access: Access, path: Path, *, filename: str) -> Upload:
    """Take the first two steps for a file of this machine: it is stored, and no item yet."""
    with path.open("rb") as file:
        media_type = files.sniff(file.read(files.HEAD), filename)
    size = path.stat().st_size
    upload = begin_upload(access, filename=filename, media_type=media_type, size=size).upload
    try:
        live_store().put(upload.key, path)
    except QuarryError:
        upload.delete()
        raise
    return upload


def add_upload(access: Access, upload: Upload, options: ItemOptions) -> Item:
    """Add a stored file; its job reads or transcribes it.

    Runs within the caller's transaction, which has locked the upload.
    """
    kind = files.kind_of(upload.media_type)
    seconds = recording_length(upload) if kind in RECORDINGS else None
    content = _create_content(upload, kind, seconds)
    item = create_item(access, content, options, None)
    if seconds is not None:
        quotas.reserve(access.owner_id, content.pk, seconds)
    contents.start_job(content)
    return item


def recording_length(upload: Upload) -> float:
    """The seconds of a stored recording."""
    with live_store().local_copy(upload.key) as path:
        return audio.probe(path)


def _create_content(upload: Upload, kind: str, seconds: float | None) -> Content:
    content = Content(
        owner_id=upload.owner_id,
        kind=kind,
        title=PurePosixPath(upload.filename).stem[:500],
        text="",
        duration_sec=seconds,
    )
    contents.set_queued(content, Step.TRANSCRIBE if kind in RECORDINGS else Step.EXTRACT)
    content.save()
    upload.content, upload.state = content, UploadState.FINISHED
    upload.save(update_fields=["content", "state", "media_type"])
    return content


def _earlier_answer(access: Access, upload: Upload, folder_id: UUID | None) -> AddedItem:
    item = Item.objects.visible_to(access).filter(content=upload.content_id).first()
    if item is None or upload.content_id is None:
        raise no_such_upload()
    is_there = folder_id and item.filings.filter(folder=folder_id).exists()
    return AddedItem(item, folder_id if is_there else access.filing_folder_id, None)
