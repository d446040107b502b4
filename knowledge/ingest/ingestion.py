"""Putting things in: texts, links and uploads; what each costs, and what becomes of it."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.errors import ForbiddenBinary, IngestFailed, InvalidInput
from knowledge.ingest import intake, linking, tasks
from knowledge.ingest.renewing import renew_item
from knowledge.ingest.shelving import (
    MAX_TITLE,
    Prepared,
    Wish,
    folders_within,
    own_text,
    prepare,
    shelve,
    wish_of,
)
from knowledge.ledger import quotas
from knowledge.models import Content, Item, Step, Transform, Upload, UploadState
from knowledge.monitoring.metrics import INGESTED
from knowledge.providers import live_transcriber
from knowledge.sources import audio, canonical, files, links
from knowledge.sources.addresses import read_url
from knowledge.sources.extracted import Extracted, Fetched, Recording
from knowledge.storage import live_store
from knowledge.validation import UPLOAD_INSTEAD, clean_line, clean_text, one_of, refuse_blob

KINDS = ("text", "url")
MIN_TEXT = 20
MAX_TEXT = 500_000
MAX_URL = 4_000
SPOKEN = ("audio", "video")


@dataclass(frozen=True, slots=True)
class Added:
    """What became of an addition: the item, where it was filed, and why it has no transform."""

    item: Item
    folder_id: UUID | None
    transform_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What an addition would be and cost; minutes are unknown where its source does not tell."""

    kind: str
    title: str
    status: str
    minutes: float | None
    cost_usd: float | None
    fits_quota: bool
    quota: quotas.Quota


def add_to_knowledge(
    access: Access,
    *,
    kind: str,
    text: str | None = None,
    title: str | None = None,
    url: str | None = None,
    in_kb: bool = True,
    auto_transform: bool = False,
    tags: Collection[str] = (),
    folder_id: UUID | None = None,
) -> Added:
    """Add what the caller sent, by its kind; into a folder within its reach, if it names one."""
    access.require(Capability.WRITE)
    _check_kind(kind)
    if kind == "text":
        title = _given(title, "title", kind)
    wish = wish_of(
        access,
        title=title,
        in_kb=in_kb,
        tags=tags,
        auto_transform=auto_transform,
        folder_id=folder_id,
    )
    if kind == "url":
        return _added(access, add_url(access, _given(url, "url", kind), wish), folder_id)
    return _added(access, _add_text(access, _given(text, "text", kind), wish), folder_id)


def estimate(
    access: Access,
    *,
    kind: str,
    text: str | None = None,
    title: str | None = None,
    url: str | None = None,
    folder_id: UUID | None = None,
    **_: object,
) -> Estimate:
    """What adding this would be and cost; nothing is kept and nothing is spent."""
    access.require(Capability.WRITE)
    _check_kind(kind)
    if folder_id:
        folders_within(access, [folder_id])
    if kind == "text":
        wish = wish_of(access, title=_given(title, "title", kind))
        _checked_text(_given(text, "text", kind))
        return _estimate(access, kind, wish.title, seconds=0)
    url = _clean_url(_given(url, "url", kind))
    if known := linking.known(_key(url)):
        return _estimate_known(access, known)
    fetched = links.open_link(url)
    if known := linking.known(fetched.key):
        return _estimate_known(access, known)
    found = fetched.found
    if isinstance(found, Extracted):
        return _estimate(access, fetched.kind, found.title, seconds=0)
    seconds = linking.told_length(found)
    return _estimate(access, fetched.kind, found.title, seconds=seconds, status="transcribing")


def add_text(
    access: Access, *, title: str, text: str, in_kb: bool = True, tags: Collection[str] = ()
) -> Item:
    """Add a text: whole or not at all, found by word at once and by meaning soon after."""
    access.require(Capability.WRITE)
    title = clean_line(title, field="title", longest=MAX_TITLE)
    return _add_text(access, text, wish_of(access, title=title, in_kb=in_kb, tags=tags))


@contextmanager
def _count_failed_links() -> Iterator[None]:
    try:
        yield
    except IngestFailed:
        INGESTED.labels("link", "failed").inc()
        raise


@_count_failed_links()
def add_url(access: Access, url: str, wish: Wish) -> Item:
    """Add what a link leads to; what somebody added before is shared and costs nothing."""
    access.require(Capability.WRITE)
    url = _clean_url(url)
    key = _key(url)
    item = None
    while item is None:  # what was known may be deleted, or fail, before it is held
        if known := linking.known(key):
            item = _add_known(access, known, wish)
        else:
            item = _add_fetched(access, key, links.open_link(url), wish)
    return item


def add_upload(
    access: Access,
    upload: Upload,
    *,
    title: str | None = None,
    in_kb: bool = True,
    tags: Collection[str] = (),
    auto_transform: bool = False,
    folder_id: UUID | None = None,
) -> Added:
    """Add a stored file; its job reads or transcribes it.

    Runs within the caller's transaction, which holds the upload.
    """
    access.require(Capability.WRITE)
    wish = wish_of(
        access,
        title=title,
        in_kb=in_kb,
        tags=tags,
        auto_transform=auto_transform,
        folder_id=folder_id,
    )
    kind = files.kind_of(upload.media_type)
    seconds = _length_of(upload) if kind in SPOKEN else None
    content = _content_of(upload, kind, seconds)
    item = shelve(access, content, wish, None)
    if seconds is not None:
        quotas.reserve(access.owner_id, content.pk, seconds)
    tasks.start(content)
    return _added(access, item, folder_id)


def _check_kind(kind: str) -> None:
    if kind == "file":
        raise ForbiddenBinary(f"Files are not taken here. {UPLOAD_INSTEAD}")
    one_of(kind, KINDS, field="kind")


def _given(value: str | None, field: str, kind: str) -> str:
    if value is None or (field == "url" and not str(value).strip()):
        raise InvalidInput(f'{field} is required when kind is "{kind}".', field=field)
    return value


def _added(access: Access, item: Item, folder_id: UUID | None) -> Added:
    transform = Transform.objects.filter(item=item).first()
    error = (transform and transform.error) or None
    return Added(item, folder_id or access.filing_folder_id, error)


def _add_text(access: Access, text: str, wish: Wish) -> Item:
    text = _checked_text(text)
    ready = prepare(text, wish.title) if wish.in_kb else None
    with transaction.atomic():
        content = own_text(access, title=wish.title, text=text)
        return shelve(access, content, wish, ready)


def _checked_text(text: str) -> str:
    refuse_blob(text)
    return clean_text(text, field="text", shortest=MIN_TEXT, longest=MAX_TEXT)


def _clean_url(url: str) -> str:
    if url.lstrip()[:5].lower() == "data:":
        raise ForbiddenBinary(f"data: URLs are not taken. {UPLOAD_INSTEAD}")
    return clean_text(url, field="url", shortest=1, longest=MAX_URL).strip()


def _key(url: str) -> str:
    """The address's key; one that could never be opened is the caller's mistake."""
    try:
        read_url(canonical.unwrapped(url))
        return canonical.key(url)
    except IngestFailed as error:
        if error.details.get("reason") != "bad_url":
            raise
        raise InvalidInput(error.message, field="url") from None


def _add_known(access: Access, known: Content, wish: Wish) -> Item | None:
    ready = _prepared(known, wish)
    with transaction.atomic():
        content = linking.still_known(known)
        return _add_content(access, content, wish, ready) if content else None


def _add_fetched(access: Access, key: str, fetched: Fetched, wish: Wish) -> Item | None:
    # Another address, or a feed, may lead to what is known: then that text is the one to come.
    ready = _prepared(linking.known(fetched.key) or fetched.found, wish)
    with transaction.atomic():
        content = linking.kept(access.owner_id, key, fetched)
        return _add_content(access, content, wish, ready) if content else None


def _prepared(source: Content | Extracted | Recording, wish: Wish) -> Prepared | None:
    if not wish.in_kb or isinstance(source, Recording) or not source.text:
        return None
    return prepare(source.text, wish.title or source.title)


def _add_content(access: Access, content: Content, wish: Wish, ready: Prepared | None) -> Item:
    return renew_item(access, content, wish, ready) or shelve(access, content, wish, ready)


def _length_of(upload: Upload) -> float:
    with live_store().local_copy(upload.key) as path:
        return audio.probe(path)


def _content_of(upload: Upload, kind: str, seconds: float | None) -> Content:
    content = Content(
        owner_id=upload.owner_id,
        kind=kind,
        title=PurePosixPath(upload.filename).stem[:500],
        text="",
        duration_sec=seconds,
    )
    intake.set_queued(content, Step.TRANSCRIBE if kind in SPOKEN else Step.EXTRACT)
    content.save()
    upload.content, upload.state = content, UploadState.FINISHED
    upload.save(update_fields=["content", "state", "media_type"])
    return content


def _estimate_known(access: Access, known: Content) -> Estimate:
    status = "ready" if known.is_ready else "transcribing"
    return _estimate(access, known.kind, known.title, seconds=0, status=status)


def _estimate(
    access: Access, kind: str, title: str, *, seconds: float | None, status: str = "ready"
) -> Estimate:
    quota = quotas.quota_of(access.owner_id)
    return Estimate(
        kind=kind,
        title=title,
        status=status,
        minutes=None if seconds is None else round(seconds / 60, 1),
        cost_usd=None if seconds is None else _cost(seconds),
        fits_quota=quota.has_room_for(seconds),
        quota=quota,
    )


def _cost(seconds: float) -> float:
    return round(live_transcriber().usd_per_hour * seconds / 3600, 4) if seconds else 0.0
