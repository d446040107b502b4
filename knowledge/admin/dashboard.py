"""The figures of the first page: what is at work, and what has failed since yesterday."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from knowledge.models import (
    Content,
    ContentState,
    CrawlState,
    IndexStatus,
    Item,
    ItemType,
    Job,
    Memory,
    Quarantine,
    Source,
    Verdict,
)
from knowledge.models.job import JobState


def with_figures(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The figures that this person may look up, each with the list that it counts."""
    figures = [
        figure
        for model, figure in _figures()
        if request.user.has_perm(f"knowledge.view_{model._meta.model_name}")
    ]
    return {**context, "figures": figures}


def _figures() -> Iterator[tuple[type[Model], dict[str, Any]]]:
    yesterday = timezone.now() - timedelta(days=1)
    at_work = [ContentState.QUEUED, ContentState.WORKING]
    failed = {"state": ContentState.FAILED, "changed_at__gte": yesterday.isoformat()}
    yield Content, _figure("At work", Content, {"state__in": at_work})
    yield Content, _figure("Failed in 24 hours", Content, failed, is_bad=True)
    yield Item, _figure("Not indexed", Item, {"index_status": IndexStatus.FAILED}, is_bad=True)
    yield Job, _figure("Dead jobs", Job, {"state": JobState.DEAD}, is_bad=True)
    yield Memory, _figure("Memory", Memory, {"archived": False})
    yield Memory, _open_tasks()
    crawled = [CrawlState.QUEUED, CrawlState.CRAWLING]
    yield Source, _figure("Sources at work", Source, {"state__in": crawled})
    waiting = {"verdict": Verdict.OPEN}
    yield Quarantine, _figure("Quarantine: to rule", Quarantine, waiting, is_bad=True)


def open_quarantines() -> int:
    """How many wait for a verdict."""
    return Quarantine.objects.filter(verdict=Verdict.OPEN).count()


def _open_tasks() -> dict[str, Any]:
    """The board is the list of these."""
    finished = Q(attributes__status__in=["done", "archived"]) | Q(archived=True)
    tasks = Memory.objects.filter(type=ItemType.TASK).exclude(finished)
    board = reverse("admin:knowledge_memory_board")
    return {"name": "Open tasks", "count": tasks.count(), "link": board, "is_bad": False}


def _figure(
    name: str, model: type[Model], lookups: dict[str, Any], *, is_bad: bool = False
) -> dict[str, Any]:
    page = reverse(f"admin:knowledge_{model._meta.model_name}_changelist")
    asked = {key: ",".join(v) if isinstance(v, list) else v for key, v in lookups.items()}
    count = model._default_manager.filter(**lookups).count()
    return {
        "name": name,
        "count": count,
        "link": f"{page}?{urlencode(asked)}",
        "is_bad": is_bad and count > 0,
    }
