import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import dramatiq
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from dramatiq.brokers.stub import StubBroker
from dramatiq.errors import ConnectionClosed, QueueNotFound
from dramatiq.worker import Worker
from psycopg.conninfo import make_conninfo
from pytest_django import Settings

from knowledge import consumer as consuming
from knowledge.broker import PostgresBroker, configure_broker, job_middleware
from knowledge.models import Job
from tests.knowledge.jobs_for_tests import GATE, declare_jobs, run_count

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def job_runs() -> Iterator[None]:
    _sql(
        "CREATE TABLE job_run (id serial, name text, pid int, "
        "started timestamptz DEFAULT clock_timestamp(), finished timestamptz)"
    )
    yield
    _sql("DROP TABLE job_run")


@pytest.fixture
def broker() -> PostgresBroker:
    return _new_broker()


# Enqueueing ------------------------------------------------------------------------------


def test_a_rolled_back_transaction_enqueues_nothing(broker: PostgresBroker) -> None:
    with transaction.atomic():
        _send(broker, "note", "a")
        transaction.set_rollback(True)
    assert not Job.objects.exists()


def test_a_committed_transaction_wakes_an_idle_worker_at_once(
    broker: PostgresBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consuming, "POLL_SEC", 5)
    with _working(broker):
        _eventually(lambda: len(_consumer_pids()) == 1)
        with transaction.atomic():
            _send(broker, "note", "a")
            _send(broker, "note", "b")
        _eventually(lambda: run_count("a") == run_count("b") == 1, seconds=3)


def test_a_message_with_a_known_id_is_ignored(broker: PostgresBroker) -> None:
    message = broker.get_actor("note").message("a")
    broker.enqueue(message)
    broker.enqueue(message.copy(args=("b",)))
    assert '"a"' in Job.objects.get(pk=message.message_id).message_text


def test_a_message_to_an_undeclared_queue_is_refused(broker: PostgresBroker) -> None:
    with pytest.raises(QueueNotFound):
        broker.enqueue(broker.get_actor("note").message("a").copy(queue_name="nowhere"))


def test_a_delayed_message_waits_for_its_time(broker: PostgresBroker) -> None:
    with _working(broker):
        job = _send(broker, "note", "late", delay=700)
        _send(broker, "note", "now")
        _eventually(lambda: run_count("late") == 1)
    assert _sql("SELECT name FROM job_run ORDER BY id") == [("now",), ("late",)]
    [(started,)] = _sql("SELECT started FROM job_run WHERE name = 'late'")
    assert started - job.enqueued_at >= timedelta(milliseconds=700)


# Failing ---------------------------------------------------------------------------------


def test_a_failing_job_is_retried_later_and_then_kept_as_dead(broker: PostgresBroker) -> None:
    with _working(broker):
        job = _send(broker, "fail", "a")
        _eventually(lambda: Job.objects.filter(state="dead").exists())
    job.refresh_from_db()
    assert "RuntimeError: no luck with a" in job.error
    [first, second, third] = [row[0] for row in _sql("SELECT started FROM job_run ORDER BY id")]
    assert second - first >= timedelta(milliseconds=50)
    assert third - second >= timedelta(milliseconds=50)


@pytest.mark.parametrize(
    ("message", "error"),
    [(b"not json", "Failed to decode"), (None, "ActorNotFound: unheard_of")],
)
def test_a_message_nobody_understands_is_dead_and_holds_up_no_other(
    broker: PostgresBroker, message: bytes | None, error: str
) -> None:
    stranger = dramatiq.Message("default", "unheard_of", (), {}, {}).encode()
    job = Job.objects.create(queue="default", actor="?", message=message or stranger)
    with _working(broker):
        _send(broker, "note", "a")
        _eventually(lambda: list(Job.objects.values_list("pk", "state")) == [(job.pk, "dead")])
    assert run_count("a") == 1
    job.refresh_from_db()
    assert error in job.error


def test_an_error_with_characters_postgres_refuses_is_kept_without_them(
    broker: PostgresBroker,
) -> None:
    job = _send(broker, "note", "a")
    with _consuming(broker) as consumer:
        message = _claimed(consumer)
        message.stuff_exception(RuntimeError("no\0 luck\udcff"))
        consumer.nack(message)
    job.refresh_from_db()
    assert (job.state, job.error) == ("dead", "RuntimeError: no luck?\n")


def test_a_transaction_left_open_by_one_job_does_not_swallow_the_next(
    broker: PostgresBroker,
) -> None:
    with _working(broker):
        _send(broker, "leave_transaction_open", "lost")
        _send(broker, "note", "kept")
        _eventually(lambda: not Job.objects.exists())
    assert _sql("SELECT name FROM job_run") == [("kept",)]


# Dying -----------------------------------------------------------------------------------


def test_a_killed_workers_job_is_finished_by_another(
    broker: PostgresBroker, tmp_path: Path
) -> None:
    with _closed_gate(), _worker_process(tmp_path) as first:
        _send(broker, "hold", "a")
        _eventually(lambda: run_count("a") == 1)
        with _worker_process(tmp_path):
            first.kill()
            _eventually(lambda: run_count("a") == 2)
            assert Job.objects.get().crashes == 1
            _open_gate()
            _eventually(lambda: not Job.objects.exists())
    runs = _sql("SELECT pid = %s, finished IS NOT NULL FROM job_run ORDER BY id", first.pid)
    assert runs == [(True, False), (False, True)]


def test_two_workers_never_run_the_same_message(broker: PostgresBroker, tmp_path: Path) -> None:
    names = {f"message {number}" for number in range(200)}
    with _worker_process(tmp_path) as first, _worker_process(tmp_path) as second:
        with transaction.atomic():
            for name in names:
                _send(broker, "note", name)
        _eventually(lambda: not Job.objects.exists())
    runs = _sql("SELECT name, pid FROM job_run")
    assert len(runs) == len(names)
    assert {name for name, _ in runs} == names
    assert {pid for _, pid in runs} == {first.pid, second.pid}


def test_a_dead_consumers_claim_is_free_and_a_live_ones_is_not(broker: PostgresBroker) -> None:
    for name in "ab":
        _send(broker, "note", name)
    with _consuming(broker) as dying, _consuming(broker) as alive, _consuming(broker) as heir:
        lost, kept = _claimed(dying), _claimed(alive)
        _die(dying)
        assert _claimed(heir).message_id == lost.message_id
        assert Job.objects.get(pk=kept.message_id).worker == alive.key


def test_a_job_that_keeps_killing_its_workers_is_given_up(broker: PostgresBroker) -> None:
    job = _send(broker, "note", "a")
    Job.objects.update(state="claimed", worker=1, crashes=consuming.MAX_CRASHES - 1)
    with _consuming(broker) as consumer:
        _eventually(lambda: next(consumer) is None and Job.objects.get().state == "dead")
    job.refresh_from_db()
    assert job.error == "The worker died while it held this job."


def test_a_worker_told_to_stop_finishes_its_job_and_takes_no_other(
    broker: PostgresBroker, tmp_path: Path
) -> None:
    with _closed_gate(), _worker_process(tmp_path, "--threads", "1") as worker:
        _send(broker, "hold", "a")
        _eventually(lambda: run_count("a") == 1)
        next_job = _send(broker, "note", "b")
        worker.send_signal(signal.SIGTERM)
        _open_gate()
        assert worker.wait(20) == 0
    assert _sql("SELECT name, finished IS NOT NULL FROM job_run") == [("a", True)]
    assert [(job.pk, job.state) for job in Job.objects.all()] == [(next_job.pk, "queued")]


def test_a_worker_that_is_stopping_claims_nothing(broker: PostgresBroker) -> None:
    job = _send(broker, "note", "a")
    broker.draining.set()
    with _consuming(broker) as consumer:
        assert next(consumer) is None
        job.refresh_from_db()
        assert job.state == "queued"


def test_a_closed_consumer_gives_back_what_it_holds(broker: PostgresBroker) -> None:
    job = _send(broker, "note", "a")
    with _consuming(broker) as consumer:
        _claimed(consumer)
    job.refresh_from_db()
    assert (job.state, job.worker, job.crashes) == ("queued", None, 0)


# Losing the database ---------------------------------------------------------------------


def test_a_worker_that_loses_its_connection_keeps_its_job_and_goes_on(
    broker: PostgresBroker,
) -> None:
    with _closed_gate(), _working(broker), _working(_new_broker()):
        job = _send(broker, "hold", "a")
        _eventually(lambda: run_count("a") == 1)
        [(pid,)] = _lock_holders(job)
        _sql("SELECT pg_terminate_backend(%s)", pid)
        # Long enough for the other worker to have looked for dead ones several times.
        _send(broker, "note", "b", delay=1500)
        _eventually(lambda: run_count("b") == 1)
        assert _lock_holders(job) not in ([], [(pid,)])
        _open_gate()
        _eventually(lambda: not Job.objects.exists())
    assert run_count("a") == 1


def test_a_worker_that_is_missed_once_has_a_moment_to_come_back(broker: PostgresBroker) -> None:
    _send(broker, "note", "a")
    with _consuming(broker) as cut_off, _consuming(broker) as watchful:
        _claimed(cut_off)
        _die(cut_off)
        assert next(watchful) is None
        assert watchful.suspects == [cut_off.key]
        assert [next(cut_off), next(cut_off)] == [None, None]
        assert [next(watchful), next(watchful)] == [None, None]
        assert Job.objects.get().worker == cut_off.key


def test_a_job_that_fails_during_an_outage_is_retried(broker: PostgresBroker) -> None:
    with _working(broker):
        _send(broker, "cut_off", "a")
        _eventually(lambda: not Job.objects.exists())
    assert run_count("a") == 2


def test_a_claim_whose_answer_was_lost_is_given_out_again(broker: PostgresBroker) -> None:
    _send(broker, "note", "a")
    with _consuming(broker) as consumer:
        lost = _claimed(consumer)
        consumer.held.clear()
        _die(consumer)
        assert _claimed(consumer).message_id == lost.message_id


def test_a_worker_whose_job_went_to_another_does_not_remove_it(broker: PostgresBroker) -> None:
    _send(broker, "note", "a")
    with _consuming(broker) as slow, _consuming(broker) as heir:
        message = _claimed(slow)
        _die(slow)
        _claimed(heir)
        with pytest.raises(ConnectionClosed):
            slow.ack(message)
        slow.ack(message)
        assert Job.objects.get().worker == heir.key


# Setting up ------------------------------------------------------------------------------


def test_the_setting_chooses_the_broker(settings: Settings) -> None:
    before = dramatiq.get_broker()
    try:
        for url, kind in [("", PostgresBroker), ("stub://", StubBroker)]:
            settings.QUARRY_BROKER_URL = url
            configure_broker()
            assert type(dramatiq.get_broker()) is kind
    finally:
        dramatiq.set_broker(before)


def test_a_broker_that_is_not_supported_stops_the_start(settings: Settings) -> None:
    settings.QUARRY_BROKER_URL = "redis://localhost/0"
    with pytest.raises(ImproperlyConfigured, match="over redis are not supported"):
        configure_broker()


@pytest.mark.parametrize(
    ("options", "error"),
    [({"threads": 0}, "at least 1"), ({"queues": ["nowhere"]}, "No such queue: nowhere")],
)
def test_a_worker_with_wrong_options_does_not_start(options: dict[str, object], error: str) -> None:
    with pytest.raises(CommandError, match=error):
        call_command("worker", **options)


# Means -----------------------------------------------------------------------------------


def _new_broker() -> PostgresBroker:
    broker = PostgresBroker(job_middleware())
    declare_jobs(broker)
    return broker


def _send(broker: PostgresBroker, actor: str, name: str, *, delay: int | None = None) -> Job:
    message = broker.enqueue(broker.get_actor(actor).message(name), delay=delay)
    return Job.objects.get(pk=message.message_id)


@contextmanager
def _working(broker: PostgresBroker) -> Iterator[None]:
    worker = Worker(broker, worker_threads=1, worker_timeout=50)
    worker.queue_prefetch = 1
    worker.start()
    try:
        yield
    finally:
        worker.stop()


@contextmanager
def _worker_process(home: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    info = connection.connection.info
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": make_conninfo(info.dsn, password=info.password or None),
        "QUARRY_BROKER_URL": "",
        "QUARRY_HOME": str(home),
    }
    command = [sys.executable, "-m", "tests.knowledge.jobs_for_tests", *options]
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline().startswith(f"Worker {process.pid} runs")
            yield process
        finally:
            process.kill()


@contextmanager
def _consuming(broker: PostgresBroker) -> Iterator[consuming.PostgresConsumer]:
    consumer = broker.consume("default")
    try:
        yield consumer
    finally:
        consumer.close()


def _claimed(consumer: consuming.PostgresConsumer) -> consuming.HeldMessage:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if message := next(consumer):
            return message
    raise AssertionError("There was nothing to claim.")


def _die(consumer: consuming.PostgresConsumer) -> None:
    assert consumer.session
    consumer.session.close()


@contextmanager
def _closed_gate() -> Iterator[None]:
    _sql("SELECT pg_advisory_lock(%s)", GATE)
    try:
        yield
    finally:
        _open_gate()


def _open_gate() -> None:
    _sql("SELECT pg_advisory_unlock_all()")


def _consumer_pids() -> list[tuple[Any, ...]]:
    return _sql(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'quarry worker: default' AND state = 'idle'"
    )


def _lock_holders(job: Job) -> list[tuple[Any, ...]]:
    return _sql(
        "SELECT pid FROM pg_locks JOIN knowledge_job AS job "
        "ON (classid::bigint << 32 | objid::bigint) = job.worker "
        "WHERE locktype = 'advisory' AND job.id = %s",
        job.pk,
    )


def _sql(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return list(cursor.fetchall()) if cursor.description else []


def _eventually(holds: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "It did not come to hold in time."
        time.sleep(0.02)
