"""/metrics for Prometheus: what was counted, and how queue, database and process are now."""

import json
import operator
from collections.abc import Iterable
from hmac import compare_digest
from ipaddress import ip_address

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.broker import queue_lengths
from knowledge.monitoring.metrics import collector, figures_of_others, leave_figures

_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")


def metrics(request: HttpRequest) -> HttpResponse:
    """Every metric, for callers that may read metrics."""
    if reason := _refusal(request):
        return HttpResponse(f"{reason}\n", status=403, content_type="text/plain; charset=utf-8")
    registry = CollectorRegistry()
    registry.register(collector())
    registry.register(Present())
    registry.register(WebProcesses())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _refusal(request: HttpRequest) -> str:
    """Why the caller may not read them; empty when it may."""
    if settings.QUARRY_METRICS_TOKEN:
        given = request.headers.get("Authorization", "").encode()
        is_right = compare_digest(given, f"Bearer {settings.QUARRY_METRICS_TOKEN}".encode())
        return "" if is_right else "Send the value of QUARRY_METRICS_TOKEN as a bearer token."
    if _is_local(request):
        return ""
    return "Metrics are for this machine alone; set QUARRY_METRICS_TOKEN to read them elsewhere."


def _is_local(request: HttpRequest) -> bool:
    """Whether the caller is on this machine and is not a proxy for another client."""
    if any(header in request.headers for header in _FORWARDED):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


class Present(Collector):
    """What holds for all processes, measured at the moment of the scrape."""

    def collect(self) -> Iterable[Metric]:
        yield InfoMetricFamily("quarry", "Which Quarry this is.", {"version": settings.VERSION})
        try:
            yield from _queues()
            is_up = 1
        except (DatabaseError, ProviderUnavailable):
            is_up = 0
        yield GaugeMetricFamily(
            "quarry_queue_up", "Whether the database or job server told of its queues.", is_up
        )


class WebProcesses(Collector):
    """What the web processes measure of themselves, added up: this one now, others a moment ago."""

    def collect(self) -> Iterable[Metric]:
        families = {family.name: family for family in own_figures()}
        for figures in figures_of_others():
            for name, labels, value in json.loads(figures):
                _add(families[name], labels, value)
        return families.values()


def publish_figures() -> None:
    """Leave what this process measures of itself to whichever is asked."""
    figures = [
        (family.name, sample.labels, sample.value)
        for family in own_figures()
        for sample in family.samples
    ]
    leave_figures(json.dumps(figures).encode())


def own_figures() -> Iterable[Metric]:
    """The pool of connections, memory, CPU and files of this process."""
    yield from ProcessCollector(registry=None).collect()
    yield from _pool()


def _add(family: Metric, labels: dict[str, str], value: float) -> None:
    add = min if family.name == "process_start_time_seconds" else operator.add
    family.samples = [
        each._replace(value=add(each.value, value)) if each.labels == labels else each
        for each in family.samples
    ]


def _queues() -> Iterable[Metric]:
    waiting = GaugeMetricFamily("quarry_queue_jobs", "Jobs that wait.", labels=["queue"])
    running = GaugeMetricFamily(
        "quarry_queue_running", "Jobs that a worker holds.", labels=["queue"]
    )
    oldest = GaugeMetricFamily(
        "quarry_queue_oldest_seconds",
        "How long the oldest job that is due waits.",
        labels=["queue"],
    )
    for queue, length in queue_lengths().items():
        waiting.add_metric([queue], length.waiting)
        if length.running is not None:
            running.add_metric([queue], length.running)
        if length.oldest_sec is not None:
            oldest.add_metric([queue], length.oldest_sec)
    return [waiting, running, oldest]


def _pool() -> Iterable[Metric]:
    """The connections of this process."""
    pool = getattr(connection, "pool", None)
    if pool is None:
        return
    stats = pool.get_stats()
    idle, size = stats.get("pool_available", 0), stats.get("pool_size", 0)
    held = GaugeMetricFamily(
        "quarry_database_connections", "Connections of the web processes.", labels=["state"]
    )
    held.add_metric(["idle"], idle)
    held.add_metric(["used"], size - idle)
    yield held
    yield GaugeMetricFamily(
        "quarry_database_connections_max", "As many as there may be.", stats.get("pool_max", 0)
    )
    yield GaugeMetricFamily(
        "quarry_database_waiting",
        "Calls that wait for a connection.",
        stats.get("requests_waiting", 0),
    )
    for name, about, key, scale in _POOL_COUNTERS:
        yield CounterMetricFamily(name, about, stats.get(key, 0) * scale)


_POOL_COUNTERS = (
    ("quarry_database_requests", "Connections asked for.", "requests_num", 1),
    ("quarry_database_queued", "Connections that had to be waited for.", "requests_queued", 1),
    ("quarry_database_wait_seconds", "Seconds waited for them.", "requests_wait_ms", 0.001),
    ("quarry_database_errors", "Connections asked for in vain.", "requests_errors", 1),
)
