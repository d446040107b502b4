"""The steps that find out a content's text. Each may run twice, or be killed half way."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from knowledge.errors import IngestFailed
from knowledge.jobs.notices import tell_owners_of
from knowledge.ledger import quotas
from knowledge.locks import thing_key
from knowledge.models import (
    Content,
    ContentState,
    Step,
    TranscriptionStatus,
)
from knowledge.monitoring.metrics import provider_call
from knowledge.providers import live_transcriber, transcriber_named
from knowledge.providers.protocols import StillTranscribing
from knowledge.sources import audio, files, links
from knowledge.sources.extracted import Extracted, join_segments
from knowledge.storage import live_store

DOWNLOAD_SEC = 1_800
ANOTHER_AT_IT_SEC = 10.0


def read_upload(content_id: UUID) -> Extracted | None:
    """The text of an uploaded document; None when there is nothing left to do."""
    content = _begin_step(content_id, Step.EXTRACT)
    if content is None:
        return None
    upload = getattr(content, "upload", None)
    if upload is None:
        raise IngestFailed("Its original is not here; add it again.", reason="no_original")
    with live_store().local_copy(upload.key) as path:
        return files.read_file(path, media_type=upload.media_type, filename=upload.filename)


def transcribe(content_id: UUID) -> Extracted | None:
    """What a recording says; None when there is nothing left to do.

    StillTranscribing also while another worker is at it: that one may yet be killed.
    """
    with try_advisory_lock(content_id.int) as is_alone:
        if not is_alone:
            raise StillTranscribing(ANOTHER_AT_IT_SEC)
        content = _begin_step(content_id, Step.TRANSCRIBE)
        if content is None:
            forget_media(content_id)
            return None
        with _media(content) as path:
            seconds = _length(content, path)
            quotas.reserve(_payer(content), content_id, seconds)
            return _transcribe(content, path, seconds)


def forget_media(content_id: UUID) -> None:
    """Remove the working copy of a recording; the original, if we hold it, stays."""
    shutil.rmtree(_work_dir(content_id), ignore_errors=True)


def remove_abandoned_media() -> None:
    """Remove working copies whose content is finished or gone."""
    root = Path(settings.QUARRY_HOME) / "work"
    if not root.exists():
        return
    busy = {str(pk) for pk in Content.objects.at_work().values_list("pk", flat=True)}
    long_ago = timezone.now().timestamp() - timedelta(hours=1).total_seconds()
    for folder in root.iterdir():
        if folder.name not in busy and folder.stat().st_mtime < long_ago:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class ContentNotebook:
    """The transcriber's notes, kept on the content's own row."""

    content_id: UUID

    def read(self) -> dict[str, Any]:
        notes = Content.objects.values_list("notes", flat=True).filter(pk=self.content_id).first()
        if notes is None:
            raise IngestFailed("Its item was deleted.", reason="deleted")
        return dict(notes)

    def write(self, notes: Mapping[str, Any], *, percent: int | None = None) -> None:
        progress = {} if percent is None else {"percent": percent}
        Content.objects.filter(pk=self.content_id).update(
            notes=dict(notes),
            provider_ref=str(notes.get("ref", ""))[:200],
            changed_at=timezone.now(),
            **progress,
        )
        if progress:
            tell_owners_of(self.content_id)


def _begin_step(content_id: UUID, step: Step) -> Content | None:
    """Record the step and return the content; None if the content is finished or deleted."""
    fields: dict[str, Any] = {
        "state": ContentState.WORKING,
        "step": step,
        "changed_at": timezone.now(),
    }
    if step == Step.TRANSCRIBE:
        fields["transcription_status"] = TranscriptionStatus.TRANSCRIBING
    if not Content.objects.at_work().filter(pk=content_id).update(**fields):
        return None
    tell_owners_of(content_id)
    return Content.objects.filter(pk=content_id).first()


@contextmanager
def try_advisory_lock(number: int) -> Iterator[bool]:
    """Try the advisory lock of that number; it yields whether this worker got it."""
    key = thing_key(number)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        got: bool = cursor.fetchone()[0]
    try:
        yield got
    finally:
        if got:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


@contextmanager
def _media(content: Content) -> Iterator[Path]:
    """The recording as a file here: our own original, or what its address gives, fetched once."""
    upload = getattr(content, "upload", None)
    if upload and not _is_with_vendor(content):
        with live_store().local_copy(upload.key) as path:
            yield path
        return
    kept = _work_dir(content.pk) / "media"
    if not kept.exists() and not _is_with_vendor(content):
        kept.parent.mkdir(parents=True, exist_ok=True)
        coming = kept.with_suffix(".coming")
        links.fetch_media(
            content.kind,
            content.media_url,
            coming,
            max_bytes=settings.QUARRY_MAX_DOWNLOAD_MB * 1_000_000,
            seconds=DOWNLOAD_SEC,
        )
        coming.rename(kept)
    yield kept


def _is_with_vendor(content: Content) -> bool:
    """Whether only the vendor's answer is awaited; then the large file is not opened."""
    return "ref" in content.notes and content.duration_sec is not None


def _length(content: Content, path: Path) -> float:
    """In seconds, by the file itself; whoever began has kept it."""
    if content.rung and content.duration_sec is not None:
        return content.duration_sec
    return audio.probe(path)


def _transcribe(content: Content, path: Path, seconds: float) -> Extracted:
    """Continue with the transcriber that began this job, even if the setting has changed."""
    transcriber = transcriber_named(content.rung) if content.rung else live_transcriber()
    cost = Decimal(str(round(transcriber.usd_per_hour * seconds / 3600, 4)))
    Content.objects.filter(pk=content.pk).update(
        rung=transcriber.name, cost_usd=cost, duration_sec=seconds
    )
    notebook = ContentNotebook(content.pk)
    with provider_call(transcriber.name, "transcribe", expected=StillTranscribing):
        transcript = transcriber.transcribe(path, notebook, language=content.language)
    text, parts = join_segments(list(transcript.segments))
    return Extracted(text=text, parts=parts, language=transcript.language, duration_sec=seconds)


def _payer(content: Content) -> int:
    """Who asked first."""
    first = content.items.order_by("created_at").values_list("owner_id", flat=True).first()
    if first is None:
        raise IngestFailed("Its item was deleted.", reason="deleted")
    return first


def _work_dir(content_id: UUID) -> Path:
    return Path(settings.QUARRY_HOME) / "work" / str(content_id)
