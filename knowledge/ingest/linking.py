"""The shared contents of public addresses: known before, or kept now."""

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from knowledge.ingest import intake, tasks
from knowledge.ledger import quotas
from knowledge.models import Content, ContentState, Link, Step, TranscriptionStatus
from knowledge.models.locking import lock_content
from knowledge.sources import audio
from knowledge.sources.extracted import Extracted, Fetched, Recording


def known(key: str) -> Content | None:
    """A content that the address led to before and that came to something."""
    shared = Content.objects.filter(owner=None).exclude(state=ContentState.FAILED)
    return shared.filter(links__key=key).first()


def still_known(content: Content) -> Content | None:
    """The content, held while an item is made for it; None if it is gone or failed meanwhile."""
    content_now = lock_content(content.pk)
    if content_now is None or content_now.state == ContentState.FAILED:
        return None
    return content_now


def kept(owner_id: int, key: str, fetched: Fetched) -> Content | None:
    """The content of what a link led to, held: there already, failed before, or new.

    Runs within the caller's transaction; the owner pays for what must be transcribed. None if
    the last who had it deletes it at this very moment.
    """
    found, is_new = Content.objects.get_or_create(
        canonical_url=fetched.key, defaults=_fields(fetched)
    )
    content = lock_content(found.pk)
    if content is None:
        return None
    for each in {fetched.key, *([key] if fetched.is_lasting else [])}:
        Link.objects.update_or_create(key=each, defaults={"content": content})
    if is_new or content.state == ContentState.FAILED:
        _begin(owner_id, content, fetched)
    return content


def _fields(fetched: Fetched) -> dict[str, Any]:
    title = " ".join(fetched.found.title.split()) or _name_of(fetched.url)
    return {"kind": fetched.kind, "url": fetched.url, "title": title[:500], "text": ""}


def _name_of(url: str) -> str:
    parts = urlsplit(url)
    return unquote(PurePosixPath(parts.path).name) or parts.netloc or "Untitled"


def _begin(owner_id: int, content: Content, fetched: Fetched) -> None:
    """Give a content what was fetched: its text, or the job that finds it out.

    One that failed before may be another thing by now, and others may have waited for it.
    """
    found = fetched.found
    for name, value in _fields(fetched).items():
        setattr(content, name, value)
    content.author, content.published_at = found.author[:500], found.published_at
    if isinstance(found, Extracted):
        content.duration_sec = found.duration_sec
        content.rung, content.media_url = fetched.rung, fetched.media_url
        spoken = TranscriptionStatus.DONE if fetched.rung else TranscriptionStatus.NONE
        content.transcription_status = spoken
        tasks.follow(intake.filled(content, found))
        return
    content.media_url, content.language = found.media_url, found.language[:20]
    if not content.rung:  # else a transcriber has begun, and it was measured
        content.duration_sec = told_length(found)
    intake.queue(content, Step.TRANSCRIBE)
    quotas.reserve(owner_id, content.pk, content.duration_sec)
    tasks.start(content)


def told_length(recording: Recording) -> float | None:
    """The seconds that a source tells; a length that no recording may have is not believed."""
    seconds = recording.duration_sec
    return seconds if seconds and seconds <= audio.LONGEST_SEC else None
