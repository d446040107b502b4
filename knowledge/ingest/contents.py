"""Contents: locked, given their text by a link or a job, or the reason why there is none."""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

import dramatiq
from django.db import transaction

from knowledge.errors import IngestFailed, InternalError, QuarryError
from knowledge.indexing.pipeline import index_item
from knowledge.ingest import extraction
from knowledge.ingest.followups import announce, send_followups
from knowledge.jobs.actors import HOUR, MAX_RETRIES, is_last_try, may_pass
from knowledge.jobs.fairness import send_job
from knowledge.jobs.notices import tell_owners_of
from knowledge.ledger import quotas
from knowledge.models import (
    Content,
    ContentState,
    IndexStatus,
    Item,
    Link,
    Step,
    TranscriptionStatus,
    Upload,
    WebhookEvent,
)
from knowledge.models.locking import lock_content
from knowledge.monitoring.metrics import INGESTED
from knowledge.providers.protocols import StillTranscribing
from knowledge.sources import audio
from knowledge.sources.extracted import MAX_STORED_TEXT, Extracted, FetchedLink, Recording
from knowledge.text.chunking import chunk
from knowledge.text.languages import language_of
from knowledge.validation import make_storable

SHORT_BYTES = 1_000_000
"""A document of more is read in the queue of long work."""

# The content of a link ---------------------------------------------------------------------------


def lock_known(known: Content) -> Content | None:
    """A shared content, locked while an item is made for it; None if it is gone or failed since."""
    content = lock_content(known.pk)
    return None if content is None or content.state == ContentState.FAILED else content


def save_fetched(owner_id: int, key: str, fetched: FetchedLink) -> Content | None:
    """The shared content of what a link led to, locked: there already, failed before, or new.

    Runs within the caller's transaction; the owner pays for a transcription. None if the content is
    deleted at the same moment.
    """
    found, is_new = Content.objects.get_or_create(
        canonical_url=fetched.key, defaults=_fields_of(fetched)
    )
    content = lock_content(found.pk)
    if content is None:
        return None
    for each in {fetched.key, *([key] if fetched.is_lasting else [])}:
        Link.objects.update_or_create(key=each, defaults={"content": content})
    if is_new or content.state == ContentState.FAILED:
        # One that failed before may be another thing by now, and others may have waited for it.
        for name, value in _fields_of(fetched).items():
            setattr(content, name, value)
        content.author = fetched.found.author[:500]
        content.published_at = fetched.found.published_at
        if isinstance(fetched.found, Extracted):
            _save_fetched_text(content, fetched, fetched.found)
        else:
            _queue_recording(owner_id, content, fetched.found)
    return content


def _fields_of(fetched: FetchedLink) -> dict[str, Any]:
    title = " ".join(fetched.found.title.split()) or _name_of(fetched.url)
    return {"kind": fetched.kind, "url": fetched.url, "title": title[:500], "text": ""}


def _name_of(url: str) -> str:
    parts = urlsplit(url)
    return unquote(PurePosixPath(parts.path).name) or parts.netloc or "Untitled"


def _save_fetched_text(content: Content, fetched: FetchedLink, extracted: Extracted) -> None:
    content.duration_sec = extracted.duration_sec
    content.rung, content.media_url = fetched.rung, fetched.media_url
    content.transcription_status = (
        TranscriptionStatus.DONE if fetched.rung else TranscriptionStatus.NONE
    )
    save_text(content, extracted)


def _queue_recording(owner_id: int, content: Content, recording: Recording) -> None:
    content.media_url, content.language = recording.media_url, recording.language[:20]
    if not content.rung:  # else a transcriber has begun, and it was measured
        content.duration_sec = believable_length(recording)
    queue_content(content, Step.TRANSCRIBE)
    quotas.reserve(owner_id, content.pk, content.duration_sec)
    start_job(content, owner_id=owner_id)


def believable_length(recording: Recording) -> float | None:
    """The seconds that a source tells, unless no recording may be so long."""
    seconds = recording.duration_sec
    return seconds if seconds and seconds <= audio.LONGEST_SEC else None


# The text, by a link or a job --------------------------------------------------------------------


def save_text(content: Content, extracted: Extracted) -> None:
    """Give a content its text, index every item that waited for it, and send what follows.

    Runs within the caller's transaction, which has locked the content.
    """
    set_text(content, extracted)
    content.save()
    quotas.settle(content.pk)
    items = _lock_items(content)
    pieces = chunk(content.text) if any(item.in_kb for item in items) else []
    for item in items:
        if item.in_kb:
            index_item(item, pieces, None)
    _finish(content, "ready")
    if items:
        send_followups(content, items)


@transaction.atomic
def save_failure(content_id: UUID, error: QuarryError) -> list[Item]:
    """Say why there is no text, give back what was reserved, and answer the items it concerns."""
    content = _lock_unfinished(content_id)
    if content is None:
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
    items = _lock_items(content)
    for item in items:
        if item.in_kb:
            item.index_status, item.index_error = IndexStatus.FAILED, error.message
            item.save(update_fields=["index_status", "index_error"])
    _finish(content, "failed")
    return items


def set_text(content: Content, extracted: Extracted) -> None:
    """What a source said, on its content; not saved yet."""
    content.text = storable_text(extracted)
    content.title = (" ".join(extracted.title.split()) or content.title or "Untitled")[:500]
    content.author = content.author or extracted.author[:500]
    content.language = (extracted.language or language_of(content.text))[:20]
    content.published_at = content.published_at or extracted.published_at
    content.duration_sec = extracted.duration_sec or content.duration_sec
    content.locators = extracted.locators
    content.state, content.step, content.percent = ContentState.READY, "", 100
    content.reason = content.error = ""
    content.notes = {}
    if content.is_recording:
        content.transcription_status = TranscriptionStatus.DONE


def storable_text(extracted: Extracted) -> str:
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


def _lock_unfinished(content_id: UUID) -> Content | None:
    content = lock_content(content_id)
    return content if content is not None and content.is_at_work else None


def _lock_items(content: Content) -> list[Item]:
    """Every item of the content, locked: whether it is in the knowledge base stays as it is."""
    items = list(Item.objects.select_for_update().filter(content=content).order_by("pk"))
    for item in items:
        item.content = content
    return items


def _finish(content: Content, outcome: str) -> None:
    tell_owners_of(content.pk)
    transaction.on_commit(lambda: extraction.forget_media(content.pk))
    transaction.on_commit(INGESTED.labels(content.kind, outcome).inc)


# The jobs that find out a text -------------------------------------------------------------------


def queue_content(content: Content, step: Step) -> None:
    """Have a locked content wait for its job, and with it the items that had failed."""
    set_queued(content, step)
    content.save()
    content.items.filter(index_status=IndexStatus.FAILED).update(
        index_status=IndexStatus.PENDING, index_error=""
    )


def set_queued(content: Content, step: Step) -> None:
    """The content is to get its text by a job; not saved yet."""
    content.state, content.step, content.percent = ContentState.QUEUED, step, 0
    content.reason = content.error = ""
    if step == Step.TRANSCRIBE:
        content.transcription_status = TranscriptionStatus.QUEUED


def start_job(content: Content, *, owner_id: int | None = None) -> None:
    """Send the job that a content waits for, in the caller's transaction."""
    actor = transcribe_content if content.is_recording else extract_content
    upload = Upload.objects.filter(content=content).only("size").first()
    is_long = actor is extract_content and upload is not None and upload.size > SHORT_BYTES
    for_whom = owner_id or content.owner_id or _first_owner(content)
    send_job(actor, str(content.pk), owner_id=for_whom, is_long=is_long)


def _first_owner(content: Content) -> int | None:
    """Of a shared content, the first who added it."""
    return content.items.order_by("created_at").values_list("owner_id", flat=True).first()


@dramatiq.actor(max_retries=MAX_RETRIES, min_backoff=2_000, time_limit=HOUR)
def extract_content(content_id: str) -> None:
    """Read an uploaded document."""
    _save_text_by(extraction.read_upload, UUID(content_id))


@dramatiq.actor(
    queue_name="transcription",
    max_retries=MAX_RETRIES,
    min_backoff=5_000,
    max_backoff=600_000,
    time_limit=12 * HOUR,
)
def transcribe_content(content_id: str) -> None:
    """Write down what a recording says; while a vendor works, look again later."""
    try:
        _save_text_by(extraction.transcribe, UUID(content_id))
    except StillTranscribing as wait:
        delay = int(wait.retry_after_sec * 1000)
        send_job(transcribe_content, content_id, delay=delay)


def _save_text_by(step: Callable[[UUID], Extracted | None], content_id: UUID) -> None:
    """Run a step and save what it gives; what cannot pass fails the content, and only that."""
    try:
        extracted = step(content_id)
        if extracted is not None:
            with transaction.atomic():
                if content := _lock_unfinished(content_id):
                    save_text(content, extracted)
    except StillTranscribing:
        raise
    except QuarryError as error:
        if may_pass(error) and not is_last_try():
            raise
        fail_content(content_id, error)
    except Exception:
        if is_last_try():
            fail_content(
                content_id,
                InternalError("Something went wrong here; retry, then tell the operator."),
            )
        raise


@transaction.atomic
def fail_content(content_id: UUID, error: QuarryError) -> None:
    """Say why there is no text, and tell the webhooks of those who waited for it."""
    for item in save_failure(content_id, error):
        announce(WebhookEvent.ITEM_FAILED, item)
