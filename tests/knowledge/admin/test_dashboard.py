from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from knowledge.access import Access
from knowledge.ledger.webhooks import create_webhook
from knowledge.models import (
    Content,
    Delivery,
    Item,
    Job,
    Quarantine,
    Reservation,
    Source,
    Transform,
)
from knowledge.models.job import JobState
from tests.support.library import Add, Mint
from tokens.activity import record
from tokens.models import Event

Make = Callable[[User, Item], object]


def _delivery(owner: User, item: Item) -> None:
    hook = create_webhook(Access.whole_library(owner.pk), "https://hooks.example/")
    Delivery.objects.create(webhook=hook, event="item.ready", payload={}, state="failed")


FAILURES: dict[str, Make] = {
    "Contents": lambda owner, item: Content.objects.update(state="failed"),
    "Indexing": lambda owner, item: Item.objects.update(index_status="failed"),
    "Summaries": lambda owner, item: Transform.objects.create(item=item, state="failed"),
    "Crawls": lambda owner, item: Source.objects.create(
        owner=owner, name="Docs", start_url="https://x.example/", state="failed"
    ),
    "Webhooks": _delivery,
    "Jobs": lambda owner, item: Job.objects.create(
        queue="q", actor="a", message=b"{}", state=JobState.DEAD
    ),
}


def first_page(client: Client) -> Any:
    cache.clear()
    return client.get(reverse("admin:index"))


@pytest.mark.parametrize("kind", FAILURES)
def test_every_kind_of_failure_is_counted_and_leads_to_its_list(
    admin_client: Client, owner: User, add: Add, kind: str
) -> None:
    FAILURES[kind](owner, add("Consent"))
    page = first_page(admin_client).context
    counted = {figure.name: figure for figure in page["failures"]}
    assert {name: figure.count for name, figure in counted.items() if figure.is_bad} == {kind: "1"}
    assert admin_client.get(counted[kind].link).context["cl"].result_count == 1
    chart = next(chart for chart in page["charts"] if chart.title == "Failures")
    assert {series.name: series.total for series in chart.series}[kind] == 1


def test_searches_and_their_latency_are_drawn_by_day(admin_client: Client, mint: Mint) -> None:
    token = mint().row
    for latency in (10, 20, 30, 400):
        record(token, edge="mcp", action="search", outcome="ok", latency_ms=latency)
    record(token, edge="mcp", action="get_item", outcome="ok", latency_ms=9_000)
    yesterday = timezone.now() - timedelta(days=1)
    Event.objects.filter(latency_ms=400).update(at=yesterday)
    answer = first_page(admin_client)
    charts = {chart.title: chart for chart in answer.context["charts"]}
    today = timezone.localdate()
    assert charts["Searches"].series[0].values[today] == 3
    median, slow = charts["Search latency"].series
    assert (median.values[today], slow.values[today]) == (20, 30)
    assert slow.values[yesterday.date()] == 400
    page = answer.content.decode()
    assert f'<th scope="row">{today:%Y-%m-%d}</th><td>20 ms</td><td>30 ms</td>' in page


def test_additions_and_minutes_are_drawn_by_day(
    admin_client: Client, owner: User, add: Add
) -> None:
    item = add("Consent")
    month = timezone.localdate().replace(day=1)
    for state in ("settled", "returned"):
        Reservation.objects.create(
            owner=owner, content_id=item.content_id, month=month, seconds=90, state=state
        )
    charts = {chart.title: chart for chart in first_page(admin_client).context["charts"]}
    assert charts["Items added"].series[0].total == 1
    assert charts["Minutes transcribed"].series[0].total == 1.5


def test_an_empty_library_says_so_in_words(admin_client: Client) -> None:
    page = first_page(admin_client).content.decode()
    assert page.count("None in the last 14 days.") == 5
    assert "<svg" not in page.partition("The last 14 days")[2].partition("</section>")[0]


def test_counting_is_done_once_a_minute(
    admin_client: Client, add: Add, django_assert_max_num_queries: Any
) -> None:
    first_page(admin_client)
    add("Later")
    with django_assert_max_num_queries(12):
        figures = admin_client.get(reverse("admin:index")).context["figures"]
    assert figures[0].count == "0"


def test_what_waits_for_a_verdict_is_counted(admin_client: Client, add: Add) -> None:
    Quarantine.objects.create(item=add("Consent"), reason="reports")
    figures = {figure.name: figure for figure in first_page(admin_client).context["figures"]}
    assert figures["Waiting for a verdict"].count == "1"
    assert figures["Chunks"].count == "1"
