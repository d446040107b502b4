"""The worker is killed at every step, over and over: nothing is lost, nothing is paid twice."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from math import ceil
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count
from psycopg.conninfo import make_conninfo
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from config.watcher import command_line
from knowledge.access import Access
from knowledge.models import Job, Reservation, Tier, Transform, Usage
from tests.support.job_table import send_to_the_table
from tests.support.jobs import sql
from tests.support.running import children
from tests.support.shelves import (
    RECORDING_COUNT,
    TRANSFORM_COUNT,
    Shelves,
    Turnstile,
    Vendor,
)
from tests.support.up import REPOSITORY
from tests.support.waiting import DEADLINE, eventually

pytestmark = pytest.mark.django_db(transaction=True)

PLACES = ("site", "upload", "submit", "list", "look")
"""In the order in which a recording comes by; the list is asked after a lost submission."""
SOME = 5
"""Asks, of anybody, that all queues' worker has made before it is killed."""


def test_a_worker_killed_at_every_step_leaves_each_item_ready_and_paid_for_once(
    shelves: Shelves, vendor: Vendor, turnstile: Turnstile, start: "Start", home: Path
) -> None:
    shelves.fill()
    documents, recordings = partial(start, "default"), partial(start, "transcription")
    summaries = partial(start, "default", "long")
    kills = [
        kill_while_a_file_is_read(documents),
        *(kill_in_the_database(documents, table) for table in ROWS_OF_CHUNKS),
        kill_in_the_database(summaries, "knowledge_transform"),
        kill_in_the_database(summaries, "knowledge_job"),
        *(kill_over_http(recordings, turnstile, place) for place in PLACES),
        kill_in_the_database(recordings, "knowledge_chunk"),
        kill_in_the_database(recordings, "knowledge_job"),
        kill_over_http(start, turnstile, "anywhere", passes=SOME),
    ]
    assert len(kills) == 13
    with start():
        eventually(lambda: not Job.objects.exclude(state="dead").exists())
    assert not Job.objects.exists()
    shelves.assert_ready_once()
    vendor.assert_paid_once()
    assert_minutes_are_settled(shelves)
    assert [path for path in (home / "work").rglob("*") if path.is_file()] == []


def assert_minutes_are_settled(shelves: Shelves) -> None:
    usage = Usage.objects.get()
    assert usage.transcription_sec_used == sum(ceil(each) for each in shelves.seconds)
    assert usage.transcription_sec_reserved == 0
    assert usage.transforms == Transform.objects.filter(state="done").count() == TRANSFORM_COUNT
    assert list(Reservation.objects.values_list("state").annotate(Count("pk"))) == [
        ("settled", RECORDING_COUNT)
    ]


# Ways to die -----------------------------------------------------------------------------


def kill_over_http(start: "Start", turnstile: Turnstile, place: str, *, passes: int = 0) -> int:
    """While a site or the vendor has done what it was asked, and has not answered yet."""
    with turnstile.closed(place, passes), start() as worker:
        assert turnstile.reached.wait(DEADLINE), place
        return killed(worker)


def kill_while_a_file_is_read(start: "Start") -> int:
    """By a child, which goes with its worker."""
    with start() as worker:
        eventually(lambda: any(b"parsers" in command_line(pid) for pid in children(worker.pid)))
        return killed(worker)


def kill_in_the_database(start: "Start", table: str) -> int:
    """In the midst of a transaction, which then never was."""
    key = list(GATES).index(table) + 1
    waiting = (
        "FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
    )
    sql("SELECT pg_advisory_lock(%s)", key)
    try:
        with start() as worker:
            eventually(lambda: sql(f"SELECT 1 {waiting}"))
            pid = killed(worker)
            sql(f"SELECT pg_terminate_backend(pid) {waiting}")
            return pid
    finally:
        sql("SELECT pg_advisory_unlock(%s)", key)


def killed(worker: subprocess.Popen[str]) -> int:
    worker.kill()
    worker.wait(DEADLINE)
    return worker.pid


# Means -----------------------------------------------------------------------------------

Start = Callable[..., AbstractContextManager[subprocess.Popen[str]]]

ROWS_OF_CHUNKS = ("knowledge_chunk", "knowledge_chunkembedding")

# Whoever writes here waits for as long as the test holds the lock of that number.
GATES = {
    "knowledge_chunk": "INSERT",
    "knowledge_chunkembedding": "INSERT",
    "knowledge_transform": "UPDATE",
    "knowledge_job": "DELETE",
}
GATE = """
CREATE FUNCTION wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(TG_ARGV[0]::bigint);
    RETURN COALESCE(NEW, OLD);
END $$;
"""


@pytest.fixture
def gates() -> Iterator[None]:
    sql(GATE)
    for key, (table, verb) in enumerate(GATES.items(), 1):
        sql(
            f"CREATE TRIGGER gate BEFORE {verb} ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION wait_at_the_gate({key})"
        )
    yield
    sql("DROP FUNCTION wait_at_the_gate CASCADE")


@pytest.fixture
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.QUARRY_HOME = tmp_path / "home"
    return tmp_path / "home"


@pytest.fixture
def turnstile() -> Turnstile:
    return Turnstile()


@pytest.fixture
def servers() -> Iterator[tuple[HTTPServer, HTTPServer]]:
    """The vendor's and the site's: one may be held up while the other answers."""
    with HTTPServer() as one, HTTPServer() as other:
        yield one, other


@pytest.fixture
def vendor(servers: tuple[HTTPServer, HTTPServer], turnstile: Turnstile) -> Vendor:
    return Vendor(servers[0], turnstile)


@pytest.fixture
def shelves(
    owner: User,
    servers: tuple[HTTPServer, HTTPServer],
    vendor: Vendor,
    turnstile: Turnstile,
    settings: Settings,
    tmp_path: Path,
) -> Shelves:
    site = servers[1]
    site.expect_request("/hook").respond_with_data("thanks")
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{site.host}:{site.port}"]
    Tier.objects.create(name="fifty", minutes_per_month=60, is_default=True)
    return Shelves(Access.whole_library(owner.pk), site, vendor, turnstile, tmp_path)


@pytest.fixture(autouse=True)
def jobs_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process sends goes where worker processes look for it."""
    send_to_the_table(monkeypatch)


@pytest.fixture
def start(gates: None, home: Path, vendor: Vendor, shelves: Shelves, tmp_path: Path) -> Start:
    """Starts a worker, which is killed at the latest in the end."""
    connection.ensure_connection()
    info = connection.connection.info
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": make_conninfo(info.dsn, password=info.password or None),
        "QUARRY_BROKER_URL": "",
        "QUARRY_HOME": str(home),
        "QUARRY_TRANSCRIBER": "assemblyai",
        "QUARRY_ALLOWED_PRIVATE_HOSTS": f"{shelves.site.host}:{shelves.site.port}",
        "ASSEMBLYAI_API_KEY": "a key",
        "ASSEMBLYAI_BASE_URL": vendor.url,
    }

    @contextmanager
    def started(*queues: str) -> Iterator[subprocess.Popen[str]]:
        command = [
            sys.executable,
            "manage.py",
            "worker",
            *(["--queues", *queues] if queues else []),
        ]
        with ExitStack() as stack:
            log = stack.enter_context((tmp_path / "log").open("a"))
            process = stack.enter_context(
                subprocess.Popen(
                    command, cwd=REPOSITORY, env=env, stdout=subprocess.PIPE, stderr=log, text=True
                )
            )
            stack.callback(process.kill)
            assert process.stdout
            began = process.stdout.readline().startswith(f"Worker {process.pid} runs")
            assert began, (tmp_path / "log").read_text()[-2000:]
            yield process

    return started
