"""How a content gets its text after it was asked for. Each step may run twice or die half way."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from knowledge.errors import IngestFailed, QuarryError
from knowledge.indexing.pipeline import index_item
from knowledge.ledger import quotas
from knowledge.locks import thing_key
from knowledge.models import (
    Content,
    ContentState,
    IndexStatus,
    Item,
    Step,
    TranscriptionStatus,
)
from knowledge.models.locking import lock_content
from knowledge.monitoring.metrics import INGESTED, provider_call
from knowledge.providers import live_transcriber, transcriber_named
from knowledge.providers.protocols import StillTranscribing
from knowledge.sources import audio, files, links
from knowledge.sources.extracted import MAX_STORED_TEXT, Extracted, Part, spoken
from knowledge.storage import live_store
from knowledge.text.chunking import chunk
from knowledge.text.languages import language_of
from knowledge.validation import make_storable

DOWNLOAD_SEC = 1_800
ANOTHER_AT_IT_SEC = 10.0
UNFINISHED = (ContentState.QUEUED, ContentState.WORKING)


def read_upload(content_id: UUID) -> Extracted | None:
    """The text of an uploaded document; None when there is nothing left to do."""
    content = _begun(content_id, Step.EXTRACT)
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
    with alone(content_id.int) as is_alone:
        if not is_alone:
            raise StillTranscribing(ANOTHER_AT_IT_SEC)
        content = _begun(content_id, Step.TRANSCRIBE)
        if content is None:
            forget_media(content_id)
            return None
        with _media(content) as path:
            seconds = _length(content, path)
            quotas.reserve(_payer(content), content_id, seconds)
            return _transcribed(content, path, seconds)


@transaction.atomic
def fill(content_id: UUID, extracted: Extracted) -> list[Item]:
    """Give a content its text, index every item that waited for it, and answer those."""
    content = lock_content(content_id)
    if content is None or content.state not in UNFINISHED:
        return []
    return filled(content, extracted)


def filled(content: Content, extracted: Extracted) -> list[Item]:
    """Fill a content that the caller's transaction holds, and answer the items that waited."""
    set_text(content, extracted)
    content.save()
    quotas.settle(content.pk)
    items = list(_waiting(content))
    pieces = chunk(content.text) if any(item.in_kb for item in items) else []
    for item in items:
        item.content = content
        if item.in_kb:
            index_item(item, pieces, None)
    transaction.on_commit(lambda: forget_media(content.pk))
    transaction.on_commit(INGESTED.labels(content.kind, "ready").inc)
    return items


@transaction.atomic
def fail(content_id: UUID, error: QuarryError) -> list[Item]:
    """Say why there is no text, give back what was reserved, and answer the items it concerns."""
    content = lock_content(content_id)
    if content is None or content.state not in UNFINISHED:
        return []
    content.state = ContentState.FAILED
    content.reason = str(error.details.get("reason", error.code))[:40]
    content.error = error.message
    if isinstance(error, IngestFailed) or not content.notes.keys() & {"intent", "ref"}:
        # Another try must not go on with what was refused; with what a vendor still has it must.
        content.notes, content.rung = {}, ""
    if content.is_recording:
        content.transcription_status = TranscriptionStatus.FAILED
    content.save()
    quotas.give_back(content_id)
    items = list(_waiting(content))
    for item in items:
        item.content = content
        if item.in_kb:
            item.index_status, item.index_error = IndexStatus.FAILED, error.message
            item.save(update_fields=["index_status", "index_error"])
    transaction.on_commit(lambda: forget_media(content_id))
    transaction.on_commit(INGESTED.labels(content.kind, "failed").inc)
    return items


def queue(content: Content, step: Step) -> None:
    """Have a content, held, wait for its job, and with it the items that had failed."""
    set_queued(content, step)
    content.save()
    content.items.filter(index_status=IndexStatus.FAILED).update(
        index_status=IndexStatus.PENDING, index_error=""
    )


def set_text(content: Content, extracted: Extracted) -> None:
    """What a source said, on its content; not saved yet."""
    content.text = checked_text(extracted)
    content.title = (" ".join(extracted.title.split()) or content.title or "Untitled")[:500]
    content.author = content.author or extracted.author[:500]
    content.language = (extracted.language or language_of(content.text))[:20]
    content.published_at = content.published_at or extracted.published_at
    content.duration_sec = extracted.duration_sec or content.duration_sec
    content.locators = [_kept(part) for part in extracted.parts]
    content.state, content.step, content.percent = ContentState.READY, "", 100
    content.reason = content.error = ""
    content.notes = {}
    if content.is_recording:
        content.transcription_status = TranscriptionStatus.DONE


def set_queued(content: Content, step: Step) -> None:
    """The content is to get its text by a job; not saved yet."""
    content.state, content.step, content.percent = ContentState.QUEUED, step, 0
    content.reason = content.error = ""
    if step == Step.TRANSCRIBE:
        content.transcription_status = TranscriptionStatus.QUEUED


def checked_text(extracted: Extracted) -> str:
    """The text, if it is one that can be kept."""
    if not extracted.text.strip():
        raise IngestFailed("There is no text in it to be found.", reason="not_extractable")
    if len(extracted.text) > MAX_STORED_TEXT:
        raise IngestFailed(
            f"Its text has {len(extracted.text):,} characters, and at most {MAX_STORED_TEXT:,} are "
            "taken; split it and add the parts.",
            reason="too_long",
        )
    # One character for one, for the parts count them.
    return make_storable(extracted.text)


def forget_media(content_id: UUID) -> None:
    """Remove the working copy of a recording; the original, if we hold it, stays."""
    shutil.rmtree(_work_dir(content_id), ignore_errors=True)


def remove_abandoned_media() -> None:
    """Remove working copies whose content is finished or gone."""
    root = Path(settings.QUARRY_HOME) / "work"
    if not root.exists():
        return
    busy = {str(pk) for pk in _unfinished().values_list("pk", flat=True)}
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


def _begun(content_id: UUID, step: Step) -> Content | None:
    """The content with its step on record, unless its text is there or it is gone."""
    fields: dict[str, Any] = {
        "state": ContentState.WORKING,
        "step": step,
        "changed_at": timezone.now(),
    }
    if step == Step.TRANSCRIBE:
        fields["transcription_status"] = TranscriptionStatus.TRANSCRIBING
    if not _unfinished().filter(pk=content_id).update(**fields):
        return None
    return Content.objects.filter(pk=content_id).first()


def _unfinished() -> QuerySet[Content]:
    return Content.objects.filter(state__in=UNFINISHED)


@contextmanager
def alone(number: int) -> Iterator[bool]:
    """Whether this worker is the only one at what has that number; a dead one's hold ends."""
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
    """Whether only the answer is awaited: then nobody opens the file, which may be a large one."""
    return "ref" in content.notes and content.duration_sec is not None


def _length(content: Content, path: Path) -> float:
    """In seconds, by the file itself; whoever began has kept it."""
    if content.rung and content.duration_sec is not None:
        return content.duration_sec
    return audio.probe(path)


def _transcribed(content: Content, path: Path, seconds: float) -> Extracted:
    """Go on with the transcriber that began, whatever the settings say by now."""
    transcriber = transcriber_named(content.rung) if content.rung else live_transcriber()
    cost = Decimal(str(round(transcriber.usd_per_hour * seconds / 3600, 4)))
    Content.objects.filter(pk=content.pk).update(
        rung=transcriber.name, cost_usd=cost, duration_sec=seconds
    )
    notebook = ContentNotebook(content.pk)
    with provider_call(transcriber.name, "transcribe", expected=StillTranscribing):
        transcript = transcriber.transcribe(path, notebook, language=content.language)
    text, parts = spoken(list(transcript.segments))
    return Extracted(text=text, parts=parts, language=transcript.language, duration_sec=seconds)


def _payer(content: Content) -> int:
    """Who asked first."""
    first = content.items.order_by("created_at").values_list("owner_id", flat=True).first()
    if first is None:
        raise IngestFailed("Its item was deleted.", reason="deleted")
    return first


def _waiting(content: Content) -> Iterator[Item]:
    """Every item of the content, held: whether it is in the knowledge base holds from now on."""
    yield from Item.objects.select_for_update().filter(content=content).order_by("pk")


def _kept(part: Part) -> dict[str, Any]:
    return {name: value for name, value in asdict(part).items() if value not in (None, "")}


def _work_dir(content_id: UUID) -> Path:
    return Path(settings.QUARRY_HOME) / "work" / str(content_id)
