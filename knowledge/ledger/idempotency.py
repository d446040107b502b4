"""Calls that may be repeated: one with a key runs once, and its answer is kept for a day."""

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from knowledge.errors import Conflict, InvalidInput
from knowledge.models import IdempotencyRecord

KEPT_FOR = timedelta(hours=24)
LOST_AFTER = timedelta(minutes=10)
"""Longer than any call takes: one that has not ended by then died with its process."""

MAX_KEY = 255
_AGAIN_SEC = 2


def clean_key(key: str) -> str:
    """A key as callers may make them up: 1 to 255 printable characters of ASCII."""
    if not (1 <= len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
        raise InvalidInput(
            f"Idempotency-Key must have between 1 and {MAX_KEY} printable ASCII characters.",
            field="Idempotency-Key",
        )
    return key


def claim(*, caller: str, route: str, key: str, request_hash: str) -> IdempotencyRecord:
    """The record of a call that has been answered, or a running one that is now the caller's."""
    record, is_new = IdempotencyRecord.objects.get_or_create(
        caller=caller,
        route=route,
        key=key,
        defaults={"request_hash": request_hash, "created_at": timezone.now()},
    )
    if is_new:
        return record
    if _is_over(record):
        # Of concurrent repeats, the first claims the key again; the others see its record.
        _mine(record).delete()
        return claim(caller=caller, route=route, key=key, request_hash=request_hash)
    if record.request_hash != request_hash:
        raise Conflict(
            "This Idempotency-Key came with another body before; send a new key.",
            reason="idempotency_key_reused",
        )
    if record.status is None:
        raise Conflict(
            "The first call with this Idempotency-Key is still running; "
            f"ask again in {_AGAIN_SEC} seconds.",
            reason="still_running",
            retry_after_sec=_AGAIN_SEC,
        )
    return record


def keep(record: IdempotencyRecord, *, status: int, body: str) -> None:
    """Keep what a call was answered; one that we failed may be repeated at once."""
    if status >= 500:
        _mine(record).delete()
    else:
        _mine(record).update(status=status, body=body)


def forget_old() -> None:
    """Remove the answers that no repeat can ask for any more."""
    IdempotencyRecord.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()


def _is_over(record: IdempotencyRecord) -> bool:
    """Whether the key is free again: it has expired, or its call ended without an answer."""
    age = timezone.now() - record.created_at
    return age >= (LOST_AFTER if record.status is None else KEPT_FOR)


def _mine(record: IdempotencyRecord) -> QuerySet[IdempotencyRecord]:
    return IdempotencyRecord.objects.filter(pk=record.pk, created_at=record.created_at)
