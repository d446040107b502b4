"""/metrics: what it counts, who may read it, and that it never tells what is in a library."""

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import dramatiq
import httpx2
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from dramatiq.brokers.stub import StubBroker
from dramatiq.message import Message
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from config.asgi import application
from knowledge.errors import IngestFailed, ProviderUnavailable
from knowledge.jobs import broker
from knowledge.models import Job
from knowledge.providers.fake import FakeEmbedder
from knowledge.retrieval.caches import empty_caches
from tests.support.library import LONG_ENOUGH, Add, Mint
from tests.support.up import REPOSITORY
from tests.support.waiting import DEADLINE

pytestmark = pytest.mark.django_db


def scrape(**headers: str) -> dict[str, Metric]:
    answer = Client(headers=headers).get("/metrics")
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    return {one.name: one for one in text_string_to_metric_families(answer.content.decode())}


def value(name: str, **labels: str) -> float:
    samples = [one for family in scrape().values() for one in family.samples]
    found = [one.value for one in samples if one.name == name and one.labels == labels]
    return found[0] if found else 0.0


# What is counted ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_a_search_is_counted_by_its_mode_and_as_a_call(mint: Mint, add: Add, mode: str) -> None:
    add("Standup")
    counted = ("quarry_search_seconds_count", {"mode": mode, "outcome": "ok"})
    called = ("quarry_calls_total", {"edge": "rest", "ask": "search", "outcome": "ok"})
    before = [value(name, **labels) for name, labels in (counted, called)]
    mint().client.get("/api/v1/search", {"query": "standup", "mode": mode})
    after = [value(name, **labels) for name, labels in (counted, called)]
    assert after == [one + 1 for one in before]


def test_an_embedder_that_fails_is_counted_and_so_is_the_search_without_it(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Standup")

    def fail(self: FakeEmbedder, text: str) -> None:
        raise ProviderUnavailable("It does not answer.")

    monkeypatch.setattr(FakeEmbedder, "embed_query", fail)
    empty_caches()
    failed = {"provider": "fake", "call": "embed_query", "error": "ProviderUnavailable"}
    degraded = {"mode": "hybrid", "outcome": "degraded"}
    before = value("quarry_provider_errors_total", **failed)
    before_searches = value("quarry_search_seconds_count", **degraded)
    mint().client.get("/api/v1/search", {"query": "standup"})
    assert value("quarry_provider_errors_total", **failed) == before + 1
    assert value("quarry_search_seconds_count", **degraded) == before_searches + 1


def test_additions_are_counted_by_kind_and_outcome(
    mint: Mint, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ready, failed = {"kind": "text", "outcome": "ready"}, {"kind": "link", "outcome": "failed"}
    before = [value("quarry_ingested_total", **labels) for labels in (ready, failed)]
    client = mint().client
    note = {"kind": "text", "title": "Note", "text": LONG_ENOUGH}
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/api/v1/ingest", note, format="json")
    client.post("/api/v1/ingest", {"kind": "url", "url": "http://10.0.0.1/"}, format="json")
    after = [value("quarry_ingested_total", **labels) for labels in (ready, failed)]
    assert after == [one + 1 for one in before]


@pytest.mark.parametrize(
    ("header", "reason"),
    [(None, "missing"), ("Bearer qry_typo", "malformed"), ("Basic YTpi", "malformed")],
)
def test_a_refused_token_is_counted_by_reason(header: str | None, reason: str) -> None:
    before = value("quarry_tokens_refused_total", reason=reason)
    Client(headers={"Authorization": header} if header else {}).get("/api/v1/whoami")
    assert value("quarry_tokens_refused_total", reason=reason) == before + 1


def test_a_token_that_is_revoked_is_counted_as_such(mint: Mint) -> None:
    minted = mint()
    minted.row.revoked_at = timezone.now()
    minted.row.save()
    before = value("quarry_tokens_refused_total", reason="revoked")
    assert minted.client.get("/api/v1/whoami").status_code == 401
    assert value("quarry_tokens_refused_total", reason="revoked") == before + 1


@pytest.fixture
def jobs() -> Iterator[StubBroker]:
    """A broker of our own middleware with three jobs, of which one goes well."""
    stub = StubBroker(broker.job_middleware())
    stub.emit_after("process_boot")

    @dramatiq.actor(broker=stub, max_retries=0)
    def good() -> None:
        pass

    @dramatiq.actor(broker=stub, max_retries=0)
    def bad() -> None:
        raise IngestFailed("It cannot be read.")

    @dramatiq.actor(broker=stub, max_retries=1, min_backoff=1, max_backoff=1)
    def flaky() -> None:
        raise ProviderUnavailable("It does not answer.")

    yield stub
    stub.close()


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [("good", {"done": 1}), ("bad", {"dead": 1}), ("flaky", {"retried": 1, "dead": 1})],
)
@pytest.mark.django_db(transaction=True)
def test_jobs_are_counted_by_outcome(jobs: StubBroker, name: str, outcomes: dict[str, int]) -> None:
    labels = [{"actor": name, "queue": "default", "outcome": one} for one in outcomes]
    before = [value("quarry_jobs_total", **one) for one in labels]
    worker = dramatiq.Worker(jobs, worker_timeout=10, worker_threads=1)
    worker.start()
    jobs.get_actor(name).send()
    jobs.join("default", fail_fast=False)
    worker.join()
    worker.stop()
    after = [value("quarry_jobs_total", **one) for one in labels]
    assert [now - then for now, then in zip(after, before, strict=True)] == [*outcomes.values()]


def test_the_queue_tells_how_many_wait_and_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    own = broker.PostgresBroker([])
    own.declare_queue("default")
    own.declare_queue("transcription")
    monkeypatch.setattr(dramatiq, "get_broker", lambda: own)
    for _ in range(2):
        own.enqueue(Message("default", "embed_item", (), {}, {}))
    own.enqueue(Message("default", "embed_item", (), {}, {}), delay=60_000)
    Job.objects.filter(available_at__lt=timezone.now()).update(
        available_at=timezone.now() - timedelta(seconds=90)
    )
    assert value("quarry_queue_jobs", queue="default") == 3
    assert value("quarry_queue_jobs", queue="transcription") == 0
    assert 90 <= value("quarry_queue_oldest_seconds", queue="default") < 200
    assert value("quarry_queue_oldest_seconds", queue="transcription") == 0


def test_a_database_that_does_not_answer_leaves_the_rest_to_be_read() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE knowledge_job RENAME TO elsewhere")
    found = scrape()
    assert found["quarry_queue_up"].samples[0].value == 0
    assert "quarry_database_connections" in found


# By HTTP, with templates for addresses --------------------------------------------------------


def ask(path: str, **headers: str) -> httpx2.Response:
    """Over the whole ASGI application, as a client meets it."""

    async def over_asgi() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=application)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(over_asgi())


@pytest.mark.django_db(transaction=True)
def test_requests_are_counted_by_the_template_of_their_route_and_never_by_their_address(
    mint: Mint,
) -> None:
    bearer = {"Authorization": f"Bearer {mint().secret}"}
    item_id = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000"
    route = {"method": "GET", "route": "/api/v1/items/<str:item_id>", "status": "404"}
    before = value("quarry_http_requests_total", **route)
    assert ask(f"/api/v1/items/{item_id}", **bearer).status_code == 404
    assert ask("/static/no-such-file-of-mine").status_code == 404
    assert ask("/no/such/page/of/mine").status_code == 404
    assert value("quarry_http_requests_total", **route) == before + 1
    told = Client().get("/metrics").content.decode()
    assert item_id not in told
    assert "of/mine" not in told
    assert "of-mine" not in told


def test_an_answer_has_the_id_that_its_log_lines_have() -> None:
    answer = ask("/livez", **{"X-Request-ID": "call-0000001"})
    assert answer.headers["X-Request-ID"] == "call-0000001"
    assert re.fullmatch("[0-9a-f]{32}", ask("/livez").headers["X-Request-ID"])


# Who may read -----------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_without_a_token_metrics_are_for_this_machine_alone(header: str) -> None:
    assert scrape()
    assert Client(REMOTE_ADDR="192.0.2.7").get("/metrics").status_code == 403
    behind_a_proxy = Client(headers={header: "192.0.2.7"}).get("/metrics")
    assert behind_a_proxy.status_code == 403
    assert b"QUARRY_METRICS_TOKEN" in behind_a_proxy.content


def test_with_a_token_metrics_are_for_whoever_sends_it(settings: Settings) -> None:
    settings.QUARRY_METRICS_TOKEN = "s3cret"
    assert Client().get("/metrics").status_code == 403
    wrong = Client(headers={"Authorization": "Bearer other"}).get("/metrics")
    assert wrong.status_code == 403
    assert scrape(Authorization="Bearer s3cret")


@pytest.mark.django_db(transaction=True)
def test_readiness_is_told_while_metrics_wait_for_the_job_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_asked, answers = threading.Event(), threading.Event()

    def ask_job_server() -> dict[str, Any]:
        is_asked.set()
        answers.wait(DEADLINE)
        return {}

    async def ask_both() -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(app=application)
        async with httpx2.AsyncClient(transport=transport) as client:
            metrics = asyncio.ensure_future(client.get("http://localhost/metrics"))
            await asyncio.to_thread(is_asked.wait, DEADLINE)
            try:
                async with asyncio.timeout(10):
                    readiness = await client.get("http://localhost/readyz")
            finally:
                answers.set()
            return [readiness, await metrics]

    monkeypatch.setattr("config.metrics.queue_lengths", ask_job_server)
    assert [answer.status_code for answer in asyncio.run(ask_both())] == [200, 200]


# Several processes -----------------------------------------------------------------------------

COUNT = """
import sys
from pathlib import Path
from prometheus_client import generate_latest
from knowledge.monitoring import metrics
metrics.share_metrics(Path(sys.argv[1]), is_first=sys.argv[2] == "first")
metrics.JOBS.labels("default", "embed_item", "done").inc()
print(generate_latest(metrics.collector()).decode())
sys.stdout.flush()
sys.stdin.read()
"""


def start(folder: Path, role: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COUNT, str(folder), role]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=REPOSITORY, stdin=pipe, stdout=pipe, text=True)


def done_jobs(process: subprocess.Popen[str]) -> float:
    for line in process.stdout or ():
        if line.startswith("quarry_jobs_total{"):
            return float(line.split()[-1])
    raise AssertionError("It printed no count.")


def test_a_process_tells_what_all_have_counted_and_the_next_start_forgets_the_dead(
    tmp_path: Path,
) -> None:
    with start(tmp_path, "first") as web:
        assert done_jobs(web) == 1
        with start(tmp_path, "worker") as worker:
            assert done_jobs(worker) == 2
            worker.kill()
        with start(tmp_path, "worker") as worker:
            assert done_jobs(worker) == 3  # a count must not fall when a worker dies
            worker.kill()
        with start(tmp_path, "first") as second:
            assert done_jobs(second) == 2  # the living keep theirs
            second.kill()
        web.kill()
    assert len(list(tmp_path.glob("*.lock"))) == 2
