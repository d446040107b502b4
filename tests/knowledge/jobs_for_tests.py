"""Jobs for the broker's tests, and a worker process that runs them."""

import os
import sys
from typing import Any

import dramatiq
from django.db import connection, transaction

GATE = 4711


def declare_jobs(broker: dramatiq.Broker) -> None:
    """Give the broker one actor for each way a job can go."""
    dramatiq.actor(broker=broker)(note)
    dramatiq.actor(broker=broker)(hold)
    dramatiq.actor(broker=broker, max_retries=2, min_backoff=50, max_backoff=100)(fail)
    dramatiq.actor(broker=broker, min_backoff=50, max_backoff=100)(cut_off)
    dramatiq.actor(broker=broker, max_retries=0)(leave_transaction_open)


def note(name: str) -> None:
    _finish(_start(name))


def hold(name: str) -> None:
    """Run until the test opens the gate."""
    run = _start(name)
    _execute("SELECT pg_advisory_lock_shared(%s), pg_advisory_unlock_shared(%s)", GATE, GATE)
    _finish(run)


def fail(name: str) -> None:
    _start(name)
    raise RuntimeError(f"no luck with {name}")


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
    sql = "INSERT INTO job_run (name, pid) VALUES (%s, %s) RETURNING id"
    return _execute(sql, name, os.getpid())


def _finish(run: int) -> None:
    _execute("UPDATE job_run SET finished = clock_timestamp() WHERE id = %s RETURNING id", run)


def _execute(sql: str, *values: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.fetchone()[0] or 0)


def main() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    declare_jobs(dramatiq.get_broker())
    call_command("worker", *sys.argv[1:])


if __name__ == "__main__":
    main()
