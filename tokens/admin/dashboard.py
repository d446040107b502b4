"""The first page of the admin: figures, failures and charts of the last days."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Aggregate, Count, FloatField, QuerySet
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from knowledge.admin import dashboard
from knowledge.admin.base import Person
from knowledge.admin.charts import Chart, Series, by_day, last_days
from knowledge.asks import Ask
from tokens.models import Event

COUNTED_FOR_SEC = 60
"""Counting goes over whole tables, so one count serves every view of a minute."""


class Percentile(Aggregate):
    """The value that a share of all values does not exceed."""

    function = "percentile_disc"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def with_figures(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the first page what this person may look up."""
    key = f"admin-dashboard:{request.user.pk}:{request.user.is_superuser}"
    counted = cache.get(key)
    if counted is None:
        counted = _count(request)
        cache.set(key, counted, COUNTED_FOR_SEC)
    return {**context, "title": "Dashboard", **counted}


def _count(request: HttpRequest) -> dict[str, Any]:
    days = last_days(timezone.localdate())
    charts = list(dashboard.charts(request, days))
    if dashboard.may_view(request, Event):
        charts = [*_searches(request.user, days), *charts]
    return {
        "figures": dashboard.figures(request),
        "failures": dashboard.failures(request),
        "charts": charts,
        "days": len(days),
        "counted_at": timezone.now(),
        "is_own": not request.user.is_superuser,
    }


def _searches(person: Person, days: Sequence[date]) -> list[Chart]:
    counted = _by_day(_recent(person, days))
    link = f"{reverse('admin:tokens_event_changelist')}?action={Ask.SEARCH}"
    number, median, slow = (
        by_day(days, {row["day"]: row[name] for row in counted})
        for name in ("number", "median", "slow")
    )
    latency = [Series("median", median), Series("95th percentile", slow, 2)]
    return [
        Chart("Searches", [Series("searches", number)], link=link),
        Chart("Search latency", latency, unit="ms", is_nested=True, link=link),
    ]


def _recent(person: Person, days: Sequence[date]) -> QuerySet[Event]:
    """By owner and time, as the index is made; a superuser's are those of all owners."""
    owners = User.objects.values_list("pk", flat=True)
    asked: list[Any] = list(owners) if person.is_superuser else [person.pk]
    since = dashboard.start_of(days[0])
    return Event.objects.filter(owner__in=asked, at__gte=since, action=Ask.SEARCH, outcome="ok")


def _by_day(searches: QuerySet[Event]) -> list[dict[str, Any]]:
    found = searches.order_by().annotate(day=TruncDate("at")).values("day")
    return list(
        found.annotate(
            number=Count("pk"),
            median=Percentile("latency_ms", share=0.5),
            slow=Percentile("latency_ms", share=0.95),
        )
    )
