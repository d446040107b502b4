"""What adding something would be and cost: nothing is kept, and nothing is spent."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from knowledge.access import Access, Capability
from knowledge.ingest.adding import (
    check_kind,
    check_options,
    check_text,
    find_or_fetch,
    require_value,
)
from knowledge.ingest.adding_files import recording_length
from knowledge.ingest.contents import believable_length
from knowledge.ingest.uploads import DOCUMENTS, RECORDINGS, take_upload
from knowledge.ledger import quotas
from knowledge.models import Folder, UploadState
from knowledge.providers import live_transcriber
from knowledge.sources import files
from knowledge.sources.extracted import Extracted, Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What an addition would be and cost; minutes are None if the source gives no length."""

    kind: str
    title: str
    status: str
    minutes: float | None
    cost_usd: float | None
    fits_quota: bool
    quota: quotas.Quota


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
    """What adding this would be and cost."""
    access.require(Capability.WRITE)
    check_kind(kind)
    if folder_id:
        Folder.objects.visible_to(access).all_of([folder_id])
    if kind == "text":
        options = check_options(access, title=require_value(title, "title", kind))
        check_text(require_value(text, "text", kind))
        return _estimate(access, kind, options.title, seconds=0)
    link = find_or_fetch(require_value(url, "url", kind))
    source = link.source
    if isinstance(source, Recording):
        seconds, is_ready = believable_length(source), False
    else:
        seconds, is_ready = 0, isinstance(source, Extracted) or source.is_ready
    status = "ready" if is_ready else "transcribing"
    return _estimate(access, link.kind, source.title, seconds=seconds, status=status)


def estimate_upload(access: Access, upload_id: UUID) -> Estimate:
    """What a stored file would be and cost; only recordings cost anything."""
    with transaction.atomic():
        upload = take_upload(access, upload_id, kinds=RECORDINGS | DOCUMENTS)
        kind = files.kind_of(upload.media_type)
        if kind not in RECORDINGS or upload.state == UploadState.FINISHED:
            return _estimate(access, kind, upload.filename, seconds=0)
        seconds = recording_length(upload)
    return _estimate(access, kind, upload.filename, seconds=seconds, status="transcribing")


def text_estimate(quota: quotas.Quota, title: str) -> Estimate:
    """Of a text: it is ready at once, and costs nothing."""
    return _estimate_within(quota, "text", title, seconds=0, status="ready")


def _estimate(
    access: Access, kind: str, title: str, *, seconds: float | None, status: str = "ready"
) -> Estimate:
    quota = quotas.quota_of(access.owner_id)
    return _estimate_within(quota, kind, title, seconds=seconds, status=status)


def _estimate_within(
    quota: quotas.Quota, kind: str, title: str, *, seconds: float | None, status: str
) -> Estimate:
    return Estimate(
        kind=kind,
        title=title,
        status=status,
        minutes=None if seconds is None else round(seconds / 60, 1),
        cost_usd=None if seconds is None else transcription_cost(seconds),
        fits_quota=quota.has_room_for(seconds),
        quota=quota,
    )


def transcription_cost(seconds: float) -> float:
    """What the configured transcriber takes for so many seconds, in dollars."""
    return round(live_transcriber().usd_per_hour * seconds / 3600, 4) if seconds else 0.0
