"""Files on their way in: an address to put one at, and the file itself."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from knowledge.access import Access, Capability
from knowledge.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    PayloadTooLarge,
    UnsupportedMedia,
)
from knowledge.models import Upload, UploadState
from knowledge.sources import files
from knowledge.storage import FileStore, LocalStore, SignedPut, live_store
from knowledge.storage.local import Draft
from knowledge.validation import clean_line

PUT_WITHIN = timedelta(minutes=15)
FINISH_WITHIN = timedelta(minutes=75)
"""A file that is put at the last moment may take an hour to arrive."""

MAX_FILENAME = 255
MAX_MEDIA_TYPE = 255
RECORDINGS = frozenset({"audio", "video"})
DOCUMENTS = frozenset({"pdf", "image", "office", "text", "markdown", "webpage"})

_BEGIN_AGAIN = "begin again with POST /api/v1/uploads/signed-url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """An upload that waits for its file, and where the file may be put until then."""

    upload: Upload
    put: SignedPut
    expires_at: datetime
    max_bytes: int


def begin_upload(access: Access, *, filename: str, media_type: str, size: int) -> Begun:
    """Promise a place to a file of a kind and size that are taken."""
    access.require(Capability.WRITE)
    filename = clean_filename(filename)
    media_type = _bare(clean_line(media_type, field="mime_type", longest=MAX_MEDIA_TYPE))
    media_type = files.check_announcement(media_type, filename)
    _check_size(size)
    upload_id, now = uuid4(), timezone.now()
    upload = Upload.objects.create(
        pk=upload_id,
        owner_id=access.owner_id,
        token_id=access.token_id,
        filename=filename,
        media_type=media_type,
        size=size,
        key=f"{access.owner_id}/{upload_id}",
        expires_at=now + FINISH_WITHIN,
    )
    put = live_store().sign_put(
        upload.key, media_type=media_type, size=size, expires_at=_put_before(upload)
    )
    return Begun(upload=upload, put=put, expires_at=_put_before(upload), max_bytes=max_bytes())


def receive_upload(
    upload_id: UUID, *, signature: str, media_type: str, length: int | None
) -> "Incoming":
    """Open a draft for the file that the signature allows; the signature is the whole right."""
    store, upload = _upload_of_signature(upload_id, signature)
    if upload.state != UploadState.BEGUN:
        raise _stored_conflict()
    if timezone.now() >= _put_before(upload):
        raise _expiry_conflict()
    if _bare(media_type) != upload.media_type:
        raise UnsupportedMedia(
            f"This file was announced as {upload.media_type}; send that as its Content-Type.",
            media_type=upload.media_type,
        )
    if length is not None:
        _check_length(length, upload.size)
    return Incoming(upload, store.draft(upload.key))


@dataclass(slots=True)
class Incoming:
    """A file while it is being put: in the end all of it is kept, or nothing."""

    upload: Upload
    draft: Draft
    received: int = 0

    def take(self, data: bytes) -> None:
        """Write the next bytes, unless they are more than were announced."""
        self.received += len(data)
        if self.received > self.upload.size:
            _check_length(self.received, self.upload.size)
        self.draft.write(data)

    def store(self) -> None:
        """Keep the file if it is whole, and if no other was kept meanwhile."""
        _check_length(self.received, self.upload.size)
        self.draft.fsync()
        with transaction.atomic():
            held = Upload.objects.select_for_update().filter(pk=self.upload.pk).first()
            if held is None:
                raise _expiry_conflict()
            if held.state != UploadState.BEGUN:
                raise _stored_conflict()
            self.draft.keep()
            held.state = UploadState.STORED
            held.save(update_fields=["state"])

    def drop(self) -> None:
        """Leave nothing behind but a file that was kept."""
        self.draft.drop()


def take_upload(access: Access, upload_id: UUID, *, kinds: Collection[str]) -> Upload:
    """The caller's own upload, held until the transaction ends, once its file is what it should be.

    One that is finished already comes as it is.
    """
    access.require(Capability.WRITE)
    uploads = Upload.objects.visible_to(access).select_for_update(of=("self",))
    upload = uploads.filter(pk=upload_id).first()
    if upload is None:
        raise no_such_upload()
    _check_kind(upload, kinds)
    if upload.state != UploadState.FINISHED:
        _check_file(upload, live_store())
    return upload


def clean_filename(filename: str) -> str:
    """The bare name, without folders and without characters that nobody sees."""
    name = filename.replace("\\", "/").rpartition("/")[2]
    name = "".join(char if char.isprintable() else " " for char in name)
    return clean_line(name, field="filename", longest=MAX_FILENAME)


def max_bytes() -> int:
    """The largest file that is taken."""
    return settings.QUARRY_MAX_UPLOAD_MB * 1_000_000


def _put_before(upload: Upload) -> datetime:
    return upload.expires_at - FINISH_WITHIN + PUT_WITHIN


def _bare(media_type: str) -> str:
    """A media type without its parameters: `text/plain` of `Text/Plain; charset=utf-8`."""
    return media_type.partition(";")[0].strip().lower()


def _check_size(size: int) -> None:
    if size < 1:
        raise InvalidInput("size must be that of the file in bytes, at least 1.", field="size")
    if size > max_bytes():
        raise PayloadTooLarge(
            f"A file may have at most {max_bytes():,} bytes; split it, or send a smaller one.",
            max_bytes=max_bytes(),
        )


def _check_length(length: int, size: int) -> None:
    if length > size:
        raise PayloadTooLarge(
            f"{size:,} bytes were announced and more were sent; put just those, or {_BEGIN_AGAIN}.",
            max_bytes=size,
        )
    if length < size:
        raise InvalidInput(
            f"{size:,} bytes were announced and {length:,} were sent; nothing was kept. "
            "Put the whole file.",
            field="body",
        )


def _upload_of_signature(upload_id: UUID, signature: str) -> tuple[LocalStore, Upload]:
    store, upload = live_store(), Upload.objects.filter(pk=upload_id).first()
    if (
        upload is None
        or not isinstance(store, LocalStore)
        or not store.is_signed(upload.key, expires_at=_put_before(upload), signature=signature)
    ):
        raise no_such_upload()
    return store, upload


def _check_kind(upload: Upload, kinds: Collection[str]) -> None:
    kind = files.kind_of(upload.media_type)
    if kind in kinds:
        return
    route = "finalize" if kind in RECORDINGS else "finalize-document"
    raise UnsupportedMedia(
        f"This file is {upload.media_type}; finish it with POST /api/v1/uploads/{route}.",
        media_type=upload.media_type,
    )


def _check_file(upload: Upload, store: FileStore) -> None:
    if timezone.now() >= upload.expires_at:
        raise _expiry_conflict()
    size = store.size_of(upload.key)
    if size is None:
        raise Conflict("The file is not there yet; PUT it to its signed_url first.", reason="empty")
    if size != upload.size:
        raise Conflict(
            f"The stored file has {size:,} bytes and {upload.size:,} were announced; "
            f"{_BEGIN_AGAIN}.",
            reason="wrong_size",
        )
    head = store.head(upload.key, files.HEAD)
    upload.media_type = files.check_declared(upload.media_type, head, upload.filename)


def no_such_upload() -> NotFound:
    """What every caller is told of an upload that is missing or another's."""
    return NotFound(f"No such upload, or it is not yours to use; {_BEGIN_AGAIN}.")


def _stored_conflict() -> Conflict:
    return Conflict("The file was put already; finish the upload.", reason="stored")


def _expiry_conflict() -> Conflict:
    return Conflict(f"This upload has expired; {_BEGIN_AGAIN}.", reason="expired")
