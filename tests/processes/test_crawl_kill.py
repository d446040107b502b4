"""A crawl whose worker is killed goes on with the next one, and asks for nothing twice."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.crawling import documentation
from knowledge.models import Chunk, Item, Job, Source
from tests.support.crawling import paths
from tests.support.job_table import send_to_the_table
from tests.support.jobs import sql
from tests.support.shelves import Turnstile
from tests.support.site import DocSite, handbook
from tests.support.up import REPOSITORY
from tests.support.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)

COUNT = 48
DEADLINE = 600
GATE = 4_712
Start = Callable[[], AbstractContextManager[subprocess.Popen[str]]]

# Whoever keeps a page waits there for as long as the test holds the lock of that number.
_TRIGGER = f"""
CREATE FUNCTION wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared({GATE});
    RETURN NEW;
END $$;
CREATE TRIGGER gate BEFORE INSERT ON knowledge_chunk
FOR EACH ROW EXECUTE FUNCTION wait_at_the_gate();
"""


def test_a_crawl_killed_half_way_goes_on_without_asking_again_for_what_is_done(
    book: DocSite, turnstile: Turnstile, library: Access, start: Start
) -> None:
    source = documentation.add_source(
        library,
        name="Handbook",
        start_url=book.url(),
        max_pages=COUNT + 50,
        exclude=["/calendar/*"],
    )
    kills = [
        *(kill_over_http(start, turnstile, passes=passes) for passes in (1, COUNT // 3)),
        kill_in_the_database(start),
    ]
    before = Item.objects.count()
    assert COUNT // 4 < before < COUNT
    with start():
        eventually(lambda: Source.objects.get().state == "done")
        eventually(lambda: not Job.objects.exclude(state="dead").exists())
    asked_twice = {path: count for path, count in book.asked.items() if count > 1}
    assert sum(asked_twice.values()) - len(asked_twice) <= len(kills)
    assert not {"/", "/guide/topic-0"} & asked_twice.keys()
    assert_whole(book, source)
    assert not Job.objects.exists()


def assert_whole(book: DocSite, source: Source) -> None:
    assert paths(source, "kept") == book.real
    assert source.pages.filter(state="kept").values("item").distinct().count() == COUNT
    assert Item.objects.count() == COUNT
    assert set(Item.objects.values_list("index_status", flat=True)) == {"done"}
    assert Chunk.objects.values("item").distinct().count() == COUNT


# Ways to die ------------------------------------------------------------------------------


def kill_over_http(start: Start, turnstile: Turnstile, *, passes: int) -> int:
    """While the site has been asked, and has not answered yet."""
    with turnstile.closed("page", passes), start() as worker:
        assert turnstile.reached.wait(DEADLINE)
        return killed(worker)


def kill_in_the_database(start: Start) -> int:
    """In the midst of the transaction that keeps a page, which then never was."""
    waiting = (
        "FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
    )
    sql("SELECT pg_advisory_lock(%s)", GATE)
    try:
        with start() as worker:
            eventually(lambda: sql(f"SELECT 1 {waiting}"))
            pid = killed(worker)
            sql(f"SELECT pg_terminate_backend(pid) {waiting}")
            return pid
    finally:
        sql("SELECT pg_advisory_unlock(%s)", GATE)


def killed(worker: subprocess.Popen[str]) -> int:
    worker.kill()
    worker.wait(DEADLINE)
    return worker.pid


# Means ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def jobs_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process sends goes where worker processes look for it."""
    send_to_the_table(monkeypatch)


@pytest.fixture
def turnstile() -> Turnstile:
    return Turnstile()


@pytest.fixture
def book(httpserver: HTTPServer, settings: Settings, turnstile: Turnstile) -> DocSite:
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    book = handbook(httpserver, COUNT)
    book.before_answering = lambda path: (
        turnstile.pass_by("page") if path.startswith("/guide/") else None
    )
    return book


@pytest.fixture
def gate() -> Iterator[None]:
    sql(_TRIGGER)
    yield
    sql("DROP FUNCTION wait_at_the_gate CASCADE")


@pytest.fixture
def start(gate: None, book: DocSite, tmp_path: Path) -> Start:
    """Starts a worker, which is killed at the latest in the end."""
    connection.ensure_connection()
    info = connection.connection.info
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": make_conninfo(info.dsn, password=info.password or None),
        "QUARRY_BROKER_URL": "",
        "QUARRY_HOME": str(tmp_path / "home"),
        "QUARRY_ALLOWED_PRIVATE_HOSTS": book.host,
        "QUARRY_CRAWL_DELAY_SEC": "0",
    }

    @contextmanager
    def started() -> Iterator[subprocess.Popen[str]]:
        command = [sys.executable, "manage.py", "worker", "--queues", "default", "long"]
        with (
            (tmp_path / "log").open("a") as log,
            subprocess.Popen(
                command, cwd=REPOSITORY, env=env, stdout=subprocess.PIPE, stderr=log, text=True
            ) as process,
        ):
            try:
                assert process.stdout
                began = process.stdout.readline().startswith(f"Worker {process.pid} runs")
                assert began, (tmp_path / "log").read_text()[-2000:]
                yield process
            finally:
                process.kill()

    return started
