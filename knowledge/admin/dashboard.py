"""What the first page tells of the library: how much there is, what failed, what waits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Count, Model, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.urls import reverse
from django.utils.timezone import localdate, make_aware

from knowledge.admin.base import Person, own_rows
from knowledge.admin.charts import Chart, Series, by_day
from knowledge.ledger import quotas
from knowledge.models import (
    Content,
    ContentState,
    CrawlState,
    Delivery,
    DeliveryState,
    IndexStatus,
    Item,
    ItemType,
    Job,
    Memory,
    Quarantine,
    Reservation,
    ReservationState,
    Source,
    Transform,
    TransformState,
    Usage,
    Verdict,
)
from knowledge.models.job import JobState
from knowledge.models.library_size import LibrarySize


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, and the list of what it counts."""

    name: str
    count: str
    link: str
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """One way in which work fails: the rows, when each failed, and the list of them."""

    name: str
    model: type[Model]
    lookups: dict[str, str]
    failed_at: str
    shade: int
    listed: str = ""
    """The lookups of the list, where it is not a list of these very rows."""
    page: type[Model] | None = None


FAILURES = (
    Failure("Contents", Content, {"state": ContentState.FAILED}, "changed_at", 1),
    Failure("Indexing", Item, {"index_status": IndexStatus.FAILED}, "updated_at", 2),
    Failure(
        "Summaries",
        Transform,
        {"state": TransformState.FAILED},
        "changed_at",
        3,
        listed="summary=failed",
        page=Item,
    ),
    Failure("Crawls", Source, {"state": CrawlState.FAILED}, "changed_at", 4),
    Failure("Webhooks", Delivery, {"state": DeliveryState.FAILED}, "changed_at", 5),
    Failure("Jobs", Job, {"state": JobState.DEAD}, "enqueued_at", 6),
)


def may_view(request: HttpRequest, model: type[Model]) -> bool:
    return admin.site._registry[model].has_view_permission(request)


def figures(request: HttpRequest) -> list[Figure]:
    """How much there is, what is at work and what waits, as far as this person may look it up."""
    return [figure for model, figure in _figures(request.user) if may_view(request, model)]


def failures(request: HttpRequest) -> list[Figure]:
    """Every kind of failure, with the list of what failed."""
    return [
        _failure_figure(request.user, failure)
        for failure in FAILURES
        if may_view(request, failure.page or failure.model)
    ]


def charts(request: HttpRequest, days: Sequence[date]) -> Iterator[Chart]:
    """What was added, transcribed and failed on each of these days."""
    if may_view(request, Item):
        yield _additions(request.user, days)
    if may_view(request, Reservation):
        yield _minutes(request.user, days)
    kinds = [kind for kind in FAILURES if may_view(request, kind.page or kind.model)]
    if kinds:
        yield _failure_chart(request.user, days, kinds)


def open_quarantines(person: Person) -> int:
    """How many wait for a verdict."""
    return own_rows(person, Quarantine.objects.filter(verdict=Verdict.OPEN)).count()


# Figures --------------------------------------------------------------------------------


def _figures(person: Person) -> Iterator[tuple[type[Model], Figure]]:
    yield Item, _figure("Items", person, Item)
    yield Item, Figure("Chunks", f"{_chunks(person):,}", _list_of(Item, {"in_kb": "1"}))
    at_work = [ContentState.QUEUED, ContentState.WORKING]
    yield Content, _figure("Contents in progress", person, Content, state__in=at_work)
    crawled = [CrawlState.QUEUED, CrawlState.CRAWLING]
    yield Source, _figure("Crawls in progress", person, Source, state__in=crawled)
    yield Memory, _figure("Memory", person, Memory, archived=False)
    yield Memory, _open_tasks(person)
    yield Usage, Figure("Minutes this month", _minutes_used(person), _list_of(Usage, {}))
    waiting = open_quarantines(person)
    link = _list_of(Quarantine, {"verdict": Verdict.OPEN})
    yield Quarantine, Figure("Waiting for a verdict", f"{waiting:,}", link, waiting > 0)


def _figure(name: str, person: Person, model: type[Model], **lookups: Any) -> Figure:
    count = own_rows(person, model._default_manager.filter(**lookups)).count()
    return Figure(name, f"{count:,}", _list_of(model, lookups))


def _chunks(person: Person) -> int:
    """From the counters that every write keeps, not from the chunks."""
    sizes = LibrarySize.objects.all() if person.is_superuser else _sizes_of(person)
    return sizes.aggregate(chunks=Sum("chunks"))["chunks"] or 0


def _sizes_of(person: Person) -> QuerySet[LibrarySize]:
    return LibrarySize.objects.filter(owner=person.pk)


def _open_tasks(person: Person) -> Figure:
    """The board is the list of these."""
    finished = Q(attributes__status__in=["done", "archived"]) | Q(archived=True)
    tasks = own_rows(person, Memory.objects.filter(type=ItemType.TASK)).exclude(finished)
    return Figure("Open tasks", f"{tasks.count():,}", reverse("admin:knowledge_memory_board"))


def _minutes_used(person: Person) -> str:
    months = own_rows(person, Usage.objects.filter(month=localdate().replace(day=1)))
    seconds = months.aggregate(seconds=Sum("transcription_sec_used"))["seconds"] or 0
    cap = None if person.is_superuser or not person.pk else quotas.quota_of(person.pk).cap_per_month
    minutes = seconds / 60
    used = f"{minutes:,.0f}" if minutes >= 10 or not minutes else f"{minutes:.1f}"
    return used if cap is None else f"{used} of {cap:,}"


def _failure_figure(person: Person, failure: Failure) -> Figure:
    count = _rows_of(person, failure).count()
    link = _list_of(failure.page or failure.model, failure.lookups)
    if failure.listed:
        link = f"{_list_of(failure.page or failure.model, {})}?{failure.listed}"
    return Figure(failure.name, f"{count:,}", link, count > 0)


def _rows_of(person: Person, failure: Failure) -> QuerySet[Any]:
    rows = failure.model._default_manager.filter(**failure.lookups)
    if failure.model is Transform and not person.is_superuser:
        return rows.filter(item__owner=person.pk)
    return own_rows(person, rows)


def _list_of(model: type[Model], lookups: dict[str, Any]) -> str:
    page = reverse(f"admin:knowledge_{model._meta.model_name}_changelist")
    asked = {key: ",".join(v) if isinstance(v, list) else v for key, v in lookups.items()}
    named = {key if "__" in key else f"{key}__exact": value for key, value in asked.items()}
    flags = {key: int(value) if isinstance(value, bool) else value for key, value in named.items()}
    return f"{page}?{urlencode(flags)}" if flags else page


# Charts ---------------------------------------------------------------------------------


def _additions(person: Person, days: Sequence[date]) -> Chart:
    rows = own_rows(person, Item.objects.all())
    series = Series("items", count_by_day(rows, "created_at", days))
    return Chart("Items added", [series], link=_list_of(Item, {}))


def _minutes(person: Person, days: Sequence[date]) -> Chart:
    rows = own_rows(person, Reservation.objects.filter(state=ReservationState.SETTLED))
    seconds = count_by_day(rows, "created_at", days, Sum("seconds"))
    minutes = {day: round(value / 60, 1) for day, value in seconds.items()}
    link = _list_of(Reservation, {"state": ReservationState.SETTLED})
    return Chart("Minutes transcribed", [Series("minutes", minutes)], link=link)


def _failure_chart(person: Person, days: Sequence[date], kinds: Sequence[Failure]) -> Chart:
    series = [
        Series(kind.name, count_by_day(_rows_of(person, kind), kind.failed_at, days), kind.shade)
        for kind in kinds
    ]
    return Chart("Failures", series)


def count_by_day(
    rows: QuerySet[Any], moment: str, days: Sequence[date], what: Any = None
) -> dict[date, float]:
    """How many of the rows, or how much of them, fall on each day."""
    recent = rows.filter(**{f"{moment}__gte": start_of(days[0])}).order_by()
    counted = recent.annotate(_day=TruncDate(moment)).values_list("_day")
    return by_day(days, dict(counted.annotate(_count=what or Count("pk"))))


def start_of(day: date) -> datetime:
    return make_aware(datetime.combine(day, time.min))
