"""Rows whose job is lost: the job server lost its message, or the job killed its workers.

Only questions; the sweep that asks them sends the jobs again.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from knowledge.jobs.broker import keeps_dead_jobs, without_message
from knowledge.jobs.servers.base import arguments_of
from knowledge.models import (
    ArchiveImport,
    Content,
    ContentState,
    Export,
    IndexStatus,
    Item,
    Job,
    Source,
)
from knowledge.models.archive_import import UNFINISHED_IMPORTS
from knowledge.models.export import UNFINISHED
from knowledge.models.job import JobState

STUCK_AFTER = timedelta(minutes=10)
MOST_AT_ONCE = 1000

_AT_WORK = Q(state__in=[ContentState.QUEUED, ContentState.WORKING])
_HALF_INDEXED = Q(index_status__in=[IndexStatus.PENDING, IndexStatus.KEYWORD])


def stuck_contents() -> list[UUID]:
    """Contents that are due for a job, have not changed for long and have no message.

    Sending a job again sets `changed_at`, because RabbitMQ does not show running messages.
    """
    waiting = Content.objects.filter(_AT_WORK, changed_at__lt=_long_ago()).order_by("changed_at")
    return _without_message(waiting.values_list("pk", flat=True))


def stuck_items() -> list[UUID]:
    """Items of a finished content whose vectors are missing for long, and without a message."""
    waiting = Item.objects.filter(
        _HALF_INDEXED, content__state=ContentState.READY, updated_at__lt=_long_ago()
    ).order_by("updated_at")
    return _without_message(waiting.values_list("pk", flat=True))


def half_screened_items() -> list[UUID]:
    """Items that have waited long for their full screening, and have no message."""
    waiting = Item.objects.filter(half_screened=True, updated_at__lt=_long_ago())
    return _without_message(waiting.order_by("updated_at").values_list("pk", flat=True))


def contents_of_dead_jobs() -> dict[UUID, str]:
    """Unfinished contents whose last job is dead, with that job's error; it is not retried."""
    return _errors_of_dead_jobs(Content.objects.filter(_AT_WORK).values_list("pk", flat=True))


def items_of_dead_jobs() -> dict[UUID, str]:
    """Items without all their vectors whose last job is dead, and what it said."""
    return _errors_of_dead_jobs(Item.objects.filter(_HALF_INDEXED).values_list("pk", flat=True))


def stuck_sources() -> list[UUID]:
    """Sources whose crawl has not moved for long, and has no message."""
    waiting = Source.objects.at_work().filter(changed_at__lt=_long_ago())
    return _without_message(waiting.order_by("changed_at").values_list("pk", flat=True))


def sources_of_dead_jobs() -> dict[UUID, str]:
    """Sources at work whose last job is dead, and what it said."""
    return _errors_of_dead_jobs(Source.objects.at_work().values_list("pk", flat=True))


def stuck_exports() -> list[UUID]:
    """Exports that are due for a job, have not changed for long and have no message."""
    waiting = Export.objects.filter(state__in=UNFINISHED, changed_at__lt=_long_ago())
    return _without_message(waiting.order_by("changed_at").values_list("pk", flat=True))


def exports_of_dead_jobs() -> dict[UUID, str]:
    """Unfinished exports whose last job is dead, and what it said."""
    unfinished = Export.objects.filter(state__in=UNFINISHED)
    return _errors_of_dead_jobs(unfinished.order_by().values_list("pk", flat=True))


def stuck_archives() -> list[UUID]:
    """Archives that are on their way in, have not changed for long and have no message."""
    waiting = ArchiveImport.objects.filter(state__in=UNFINISHED_IMPORTS, changed_at__lt=_long_ago())
    return _without_message(waiting.order_by("changed_at").values_list("pk", flat=True))


def archives_of_dead_jobs() -> dict[UUID, str]:
    """Archives on their way in whose last job is dead, and what it said."""
    unfinished = ArchiveImport.objects.filter(state__in=UNFINISHED_IMPORTS)
    return _errors_of_dead_jobs(unfinished.order_by().values_list("pk", flat=True))


def _without_message(waiting: QuerySet[Any, UUID]) -> list[UUID]:
    ids = list(waiting)
    return without_message(ids)[:MOST_AT_ONCE] if ids else []


def _errors_of_dead_jobs(waiting: QuerySet[Any, UUID]) -> dict[UUID, str]:
    if not keeps_dead_jobs():
        return {}
    errors: dict[str, str] = {}
    alive: set[str] = set()
    for job in Job.objects.only("state", "message", "error"):
        arguments = arguments_of(bytes(job.message))
        if job.state == JobState.DEAD:
            errors.update(dict.fromkeys(arguments, job.error))
        else:
            alive |= arguments
    return {pk: errors[str(pk)] for pk in waiting if str(pk) in errors.keys() - alive}


def _long_ago() -> datetime:
    return timezone.now() - STUCK_AFTER
