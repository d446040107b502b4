"""Jobs for the brokers' tests, a worker process that runs them, and what they left behind."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dramatiq
from django.db import connection, transaction
from dramatiq.worker import Worker
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).parent.parent.parent
GATE = 4711


@contextmanager
def job_runs_table() -> Iterator[None]:
    sql(
        "CREATE TABLE job_run (id serial, name text, pid int, thread bigint, "
        "started timestamptz DEFAULT clock_timestamp(), finished timestamptz)"
    )
    yield
    sql("DROP TABLE job_run")


def declare_jobs(broker: dramatiq.Broker) -> None:
    """Give the broker one actor for each way a job can go."""
    dramatiq.actor(broker=broker)(note)
    dramatiq.actor(broker=broker)(hold)
    dramatiq.actor(broker=broker, actor_name="hold_long", queue_name="long")(hold)
    dramatiq.actor(broker=broker, actor_name="note_long", queue_name="long")(note)
    dramatiq.actor(broker=broker, max_retries=2, min_backoff=50, max_backoff=100)(fail)
    dramatiq.actor(broker=broker, min_backoff=50, max_backoff=100)(fail_once)
    dramatiq.actor(broker=broker, min_backoff=50, max_backoff=100)(cut_off)
    dramatiq.actor(broker=broker, max_retries=0)(leave_transaction_open)


def note(name: str) -> None:
    _finish(_start(name))


def hold(name: str) -> None:
    """Run until the test opens the gate."""
    run = _start(name)
    _wait_at_the_gate()
    _finish(run)


def fail(name: str) -> None:
    _start(name)
    raise RuntimeError(f"no luck with {name}")


def fail_once(name: str) -> None:
    """Fail the first time, when the test opens the gate."""
    run = _start(name)
    _wait_at_the_gate()
    if run_count(name) == 1:
        raise RuntimeError("failed once")
    _finish(run)


def cut_off(name: str) -> None:
    """Lose every consumer's connection, and fail the first time."""
    run = _start(name)
    _execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name LIKE 'quarry worker%%'"
    )
    if run_count(name) == 1:
        raise RuntimeError("cut off")
    _finish(run)


def leave_transaction_open(name: str) -> None:
    transaction.atomic().__enter__()
    _start(name)


def run_count(name: str) -> int:
    return _execute("SELECT count(*) FROM job_run WHERE name = %s", name)


def _start(name: str) -> int:
    statement = "INSERT INTO job_run (name, pid, thread) VALUES (%s, %s, %s) RETURNING id"
    return _execute(statement, name, os.getpid(), threading.get_ident())


def _wait_at_the_gate() -> None:
    _execute("SELECT pg_advisory_lock_shared(%s), pg_advisory_unlock_shared(%s)", GATE, GATE)


def _finish(run: int) -> None:
    _execute("UPDATE job_run SET finished = clock_timestamp() WHERE id = %s RETURNING id", run)


def _execute(statement: str, *values: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.fetchone()[0] or 0)


@contextmanager
def working(broker: dramatiq.Broker) -> Iterator[None]:
    worker = Worker(broker, worker_threads=1, worker_timeout=50)
    worker.queue_prefetch = 1
    worker.start()
    try:
        yield
    finally:
        worker.stop(timeout=20_000)


@contextmanager
def worker_process(home: Path, *options: str, url: str = "") -> Iterator[subprocess.Popen[str]]:
    connection.ensure_connection()
    info = connection.connection.info
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": make_conninfo(info.dsn, password=info.password or None),
        "QUARRY_BROKER_URL": url,
        "QUARRY_HOME": str(home),
    }
    command = [sys.executable, "-m", "tests.support.jobs", *options]
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline().startswith(f"Worker {process.pid} runs")
            yield process
        finally:
            process.kill()


@contextmanager
def closed_gate() -> Iterator[None]:
    sql("SELECT pg_advisory_lock(%s)", GATE)
    try:
        yield
    finally:
        open_gate()


def open_gate() -> None:
    sql("SELECT pg_advisory_unlock_all()")


def sql(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return list(cursor.fetchall()) if cursor.description else []


def main() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    from knowledge.jobs import scheduling
    from knowledge.management.actors import import_actors

    import_actors()
    scheduling.SWEEPS.clear()  # the tests count jobs, and these would come between
    declare_jobs(dramatiq.get_broker())
    call_command("worker", *sys.argv[1:])


if __name__ == "__main__":
    main()
