"""The same jobs on Postgres, on Redis and on RabbitMQ."""

import io
import json
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import dramatiq
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from dramatiq.broker import MessageProxy
from pytest_django import Settings

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.broker import broker_for, check_broker, without_message
from knowledge.jobs.fairness import send_job
from knowledge.jobs.servers.rabbitmq import RabbitServer
from knowledge.jobs.servers.redis import RedisServer
from knowledge.models import Job
from tests.support.job_servers import free_port, rabbitmq_server, redis_server
from tests.support.jobs import (
    closed_gate,
    declare_jobs,
    job_runs_table,
    open_gate,
    run_count,
    sql,
    worker_process,
    working,
)
from tests.support.waiting import eventually

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.brokers,
    pytest.mark.xdist_group("brokers"),
]


@pytest.fixture(scope="session", params=["postgres", "redis", "rabbitmq"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("broker")
    if request.param == "postgres":
        yield ""
    elif request.param == "redis":
        with redis_server(folder, free_port()) as url:
            yield url
    else:
        with rabbitmq_server(folder) as url:
            yield url


@dataclass(frozen=True)
class Jobs:
    """One process's view of a broker."""

    url: str
    broker: Any

    def send(self, actor: str, name: str, *, delay: int | None = None, owner_id: int = 0) -> None:
        send_job(self.broker.get_actor(actor), name, owner_id=owner_id, delay=delay)

    def counts(self) -> tuple[int, int]:
        """How many messages wait, and how many are dead."""
        broker = self.broker
        if isinstance(broker, RedisServer):
            lists = ["quarry:default", "quarry:default.DQ"]
            waiting = sum(broker.client.llen(name) for name in lists)
            return waiting, broker.client.zcard("quarry:default.XQ")
        if isinstance(broker, RabbitServer):
            queued, delayed, dead = broker.get_queue_message_counts("default")
            return queued + delayed, dead
        states = list(Job.objects.values_list("state", flat=True))
        return states.count("queued"), states.count("dead")


@pytest.fixture
def jobs(url: str) -> Iterator[Jobs]:
    with job_runs_table():
        jobs = _jobs_at(url)
        if url:
            jobs.broker.flush_all()
        yield jobs
        jobs.broker.close()


# Enqueueing ------------------------------------------------------------------------------


def test_only_what_is_committed_is_sent(jobs: Jobs) -> None:
    with transaction.atomic():
        jobs.send("note", "rolled back")
        transaction.set_rollback(True)
    assert jobs.counts() == (0, 0)
    with transaction.atomic():
        jobs.send("note", "committed")
        jobs.send("note", "committed", delay=1)
        with transaction.atomic():
            jobs.send("note", "rolled back")
            transaction.set_rollback(True)
    assert jobs.counts() == (2, 0)
    with working(jobs.broker):
        eventually(lambda: run_count("committed") == 2)
    assert run_count("rolled back") == 0


def test_a_server_hears_of_nothing_before_the_commit(jobs: Jobs) -> None:
    _needs_a_server(jobs)
    with transaction.atomic():
        jobs.send("note", "a")
        assert jobs.counts() == (0, 0)


def test_a_retry_does_not_wait_for_the_transaction_that_its_job_left_open(jobs: Jobs) -> None:
    _needs_a_server(jobs)
    with transaction.atomic():
        retried: Any = MessageProxy(jobs.broker.get_actor("note").message("a"))
        jobs.broker.enqueue(retried)
        assert jobs.counts() == (1, 0)


def test_a_delayed_message_waits_for_its_time(jobs: Jobs) -> None:
    [(sent,)] = sql("SELECT clock_timestamp()")
    with working(jobs.broker):
        jobs.send("note", "late", delay=700)
        jobs.send("note", "now")
        eventually(lambda: run_count("late") == 1)
    assert sql("SELECT name FROM job_run ORDER BY id") == [("now",), ("late",)]
    [(started,)] = sql("SELECT started FROM job_run WHERE name = 'late'")
    assert started - sent >= timedelta(milliseconds=700)


# Fairness --------------------------------------------------------------------------------


def test_ones_jobs_never_have_every_place_of_a_worker(jobs: Jobs, tmp_path: Path) -> None:
    with closed_gate(), worker_process(tmp_path, "--threads", "1", url=jobs.url):
        for number in range(5):
            jobs.send("hold", f"ada's {number}", owner_id=1)
        eventually(lambda: run_count("ada's 0") == 1)
        jobs.send("note", "eve's", owner_id=2)
        eventually(lambda: run_count("eve's") == 1)
        assert sql("SELECT count(*) FROM job_run WHERE name LIKE 'ada%%'") == [(1,)]
        open_gate()
        eventually(lambda: sql("SELECT count(finished) FROM job_run") == [(6,)])


def test_what_an_older_version_queued_is_worked_off(jobs: Jobs) -> None:
    # It knew of no owners, and had one queue for the long work of today too.
    old = jobs.broker.get_actor("note_long").message("old").copy(queue_name="default")
    assert "owner_id" not in old.options
    jobs.broker.enqueue(old)
    if not jobs.url:
        Job.objects.all().delete()
        sql(
            "INSERT INTO knowledge_job (id, queue, actor, message, state, crashes, error) "
            "VALUES (%s, 'default', 'note_long', %s, 'queued', 0, '')",
            old.message_id,
            old.encode(),
        )
    with working(jobs.broker):
        eventually(lambda: run_count("old") == 1)
    eventually(lambda: jobs.counts() == (0, 0))


# Failing ---------------------------------------------------------------------------------


def test_a_failing_job_is_retried_later_and_then_dead(jobs: Jobs) -> None:
    with working(jobs.broker):
        jobs.send("fail", "a")
        eventually(lambda: jobs.counts() == (0, 1))
    [first, second, third] = [row[0] for row in sql("SELECT started FROM job_run ORDER BY id")]
    assert second - first >= timedelta(milliseconds=50)
    assert third - second >= timedelta(milliseconds=50)


def test_a_message_to_nobody_is_dead_and_holds_up_no_other(jobs: Jobs) -> None:
    jobs.broker.enqueue(dramatiq.Message("default", "unheard_of", (), {}, {}))
    with working(jobs.broker):
        jobs.send("note", "a")
        eventually(lambda: run_count("a") == 1)
        eventually(lambda: jobs.counts() == (0, 1))


# Dying and stopping ----------------------------------------------------------------------


def test_a_killed_workers_job_is_finished_by_another_within_seconds(
    jobs: Jobs, tmp_path: Path
) -> None:
    with closed_gate(), worker_process(tmp_path, url=jobs.url) as first:
        jobs.send("hold", "a")
        eventually(lambda: run_count("a") == 1)
        with working(jobs.broker):
            killed_at = time.monotonic()
            first.kill()
            eventually(lambda: run_count("a") == 2)
            seconds = time.monotonic() - killed_at
            open_gate()
            eventually(lambda: sql("SELECT 1 FROM job_run WHERE finished IS NOT NULL"))
    runs = sql("SELECT pid = %s, finished IS NOT NULL FROM job_run ORDER BY id", first.pid)
    assert runs == [(True, False), (False, True)]
    assert seconds < (10 if "redis" in jobs.url else 5)


def test_two_workers_never_run_the_same_message(jobs: Jobs) -> None:
    names = {f"message {number}" for number in range(60)}
    both = {"one for each", "of the two"}
    with (
        closing(_jobs_at(jobs.url).broker) as another,
        working(jobs.broker),
        working(another),
    ):
        with closed_gate():
            for name in both:
                jobs.send("hold", name)
            eventually(lambda: all(run_count(name) for name in both))
        for name in names:
            jobs.send("note", name)
        eventually(lambda: sql("SELECT count(*) FROM job_run") >= [(len(names | both),)])
    runs = sql("SELECT name, thread FROM job_run")
    assert sorted(name for name, _ in runs if name not in both) == sorted(names)
    assert len({thread for _, thread in runs}) == 2
    assert jobs.counts() == (0, 0)


def test_a_long_job_holds_up_no_other_queue_and_a_worker_told_to_stop_finishes_it(
    jobs: Jobs, tmp_path: Path
) -> None:
    with closed_gate(), worker_process(tmp_path, "--threads", "1", url=jobs.url) as worker:
        jobs.send("hold_long", "long")
        eventually(lambda: run_count("long") == 1)
        jobs.send("hold", "short")
        eventually(lambda: run_count("short") == 1)
        jobs.send("note", "next")
        worker.send_signal(signal.SIGTERM)
        assert worker.stdout
        assert "stops when" in worker.stdout.readline()
        open_gate()
        assert worker.wait(20) == 0
    finished = sql("SELECT name, finished IS NOT NULL FROM job_run ORDER BY id")
    assert finished == [("long", True), ("short", True)]
    eventually(lambda: jobs.counts() == (1, 0))


def test_a_worker_outlives_a_restart_of_redis_and_its_job_is_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dramatiq.worker.CONSUMER_RESTART_DELAY_SECS", 0.1)
    monkeypatch.setattr("dramatiq.worker.POST_PROCESS_MESSAGE_RETRY_DELAY_SECS", 0.1)
    monkeypatch.setattr("knowledge.jobs.servers.base.RETRY_SEC", 0.1)
    port = free_port()
    with job_runs_table(), ExitStack() as at_the_end:
        with closed_gate(), redis_server(tmp_path, port) as url:
            jobs = _jobs_at(url)
            at_the_end.enter_context(working(jobs.broker))
            jobs.send("fail_once", "a")
            eventually(lambda: run_count("a") == 1)
        with redis_server(tmp_path, port):
            eventually(lambda: sql("SELECT 1 FROM job_run WHERE finished IS NOT NULL"))
            eventually(lambda: jobs.broker.do_qsize("default") == 0)
            at_the_end.close()
        assert run_count("a") == 2


def test_a_job_that_outlived_its_connection_to_rabbitmq_settles_no_other(jobs: Jobs) -> None:
    if "amqp" not in jobs.url:
        pytest.skip("Only RabbitMQ counts what it gives to a connection.")
    for name in "ab":
        jobs.send("note", name)
    lost, current = (jobs.broker.consume("default", timeout=5000) for _ in range(2))
    old = next(lost)
    lost.close()
    new = next(current)
    assert old._tag == new._tag == 1
    current.ack(old)
    current.close()
    assert jobs.counts() == (2, 0)


# Asking what is there --------------------------------------------------------------------


def test_a_row_is_without_a_message_only_when_none_waits_or_runs_for_it(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dramatiq.broker.global_broker", jobs.broker)
    waiting, delayed, running, lost = ids = [uuid4() for _ in range(4)]
    with working(jobs.broker), closed_gate():
        jobs.send("hold", str(running))
        eventually(lambda: run_count(str(running)) == 1)
        # Nobody looks into RabbitMQ: nothing there is called lost before all queues are empty.
        assert without_message([running]) == ([running] if "amqp" in jobs.url else [])
        jobs.send("note", str(waiting))
        jobs.send("note", str(delayed), delay=60_000)
        assert without_message(ids) == ([] if "amqp" in jobs.url else [lost])


# A server that is not there --------------------------------------------------------------


@pytest.fixture(params=["redis://:secret@127.0.0.1:{}/0", "amqp://me:secret@127.0.0.1:{}/%2F"])
def nowhere(request: pytest.FixtureRequest, settings: Settings) -> str:
    settings.QUARRY_BROKER_URL = request.param.format(free_port())
    return str(settings.QUARRY_BROKER_URL)


def test_a_server_that_is_not_there_is_told_without_its_password(nowhere: str) -> None:
    with pytest.raises(ProviderUnavailable, match=r"at 127.0.0.1:\d+ does not answer: ") as error:
        check_broker()
    assert "secret" not in error.value.message


def test_a_worker_does_not_start_without_its_server(nowhere: str) -> None:
    with pytest.raises(CommandError, match=r"does not answer.*; check QUARRY_BROKER_URL\.$"):
        call_command("worker")


def test_the_doctor_says_that_the_server_does_not_answer(nowhere: str) -> None:
    told = io.StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", "--json", stdout=told)
    [jobs] = [one for one in json.loads(told.getvalue()) if one["about"] == "jobs"]
    assert (jobs["state"], "does not answer" in jobs["seen"]) == ("fail", True)


def test_a_message_that_no_server_takes_is_refused_or_after_the_commit_left_to_the_sweep(
    nowhere: str, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = _jobs_at(nowhere)
    with pytest.raises(ProviderUnavailable, match="took no job: "):
        jobs.send("note", "a")
    with transaction.atomic():
        jobs.send("note", "b")
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("note('b') waits for the next sweep: ")


# Means -----------------------------------------------------------------------------------


def _jobs_at(url: str) -> Jobs:
    broker = broker_for(url)
    declare_jobs(broker)
    return Jobs(url, broker)


def _needs_a_server(jobs: Jobs) -> None:
    if not jobs.url:
        pytest.skip("To enqueue on Postgres is part of the transaction.")
