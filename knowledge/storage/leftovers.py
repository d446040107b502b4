"""Stored files that nobody needs any more. Each step may run twice, or die half way."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from knowledge.models import Upload, UploadState
from knowledge.storage import live_store


def expired_uploads() -> QuerySet[Upload]:
    """Those that were never finished in time, and those whose content has been deleted for good."""
    now = timezone.now()
    never_finished = ~Q(state=UploadState.FINISHED) & Q(expires_at__lte=now)
    deleted = Q(state=UploadState.FINISHED, content=None)
    kept = Q(kept_until__gt=now)
    return Upload.objects.filter(never_finished | (deleted & ~kept))


def remove_expired() -> int:
    """Remove the files of all of these, and say how many there were."""
    ids = expired_uploads().order_by("expires_at").values_list("pk", flat=True)
    return sum(remove_file(upload_id) for upload_id in list(ids))


@transaction.atomic
def remove_file(upload_id: UUID) -> bool:
    """Remove one upload with its file, unless a content stands on it or it may be finished yet."""
    # A finishing upload has locked its row; it is skipped until the next sweep.
    held = expired_uploads().select_for_update(skip_locked=True, of=("self",))
    upload = held.filter(pk=upload_id).first()
    if upload is None:
        return False
    # The file first: a row without its file is swept again, a file without its row never.
    live_store().delete(upload.key)
    upload.delete()
    return True
