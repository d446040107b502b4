import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dramatiq
import pytest
from django.utils import timezone

from knowledge.jobs import scheduling
from knowledge.jobs.broker import PostgresBroker, broker_for, job_middleware
from knowledge.jobs.scheduling import Sweep, due, every, run_scheduler
from knowledge.locks import Lock
from knowledge.models import Job, Schedule
from tests.support.job_servers import free_port
from tests.support.jobs import sql, worker_process
from tests.support.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = 3600
AGE = 10**9  # seconds: no test meets the end of such a slot
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def nothing_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "SWEEPS", {})
    monkeypatch.setattr(scheduling, "TICK_SEC", 0.05)


@pytest.fixture
def broker() -> PostgresBroker:
    return PostgresBroker(job_middleware())


# What is due -----------------------------------------------------------------------------


def test_a_sweep_is_due_until_its_slot_is_taken_and_again_in_the_next(
    broker: PostgresBroker,
) -> None:
    sweep = _sweep(broker, "tidy", HOUR)
    assert due(NOON) == [sweep]
    Schedule.objects.create(name="tidy", last_run_at=NOON)
    assert due(NOON + timedelta(minutes=59)) == []
    assert due(NOON + timedelta(minutes=60)) == [sweep]


def test_a_sweep_is_not_due_for_who_has_a_slower_clock(broker: PostgresBroker) -> None:
    _sweep(broker, "tidy", HOUR)
    Schedule.objects.create(name="tidy", last_run_at=NOON)
    assert due(NOON - timedelta(seconds=1)) == []


def test_a_slot_begins_at_the_same_moment_for_everybody(broker: PostgresBroker) -> None:
    sweep = _sweep(broker, "tidy", 600)
    assert sweep.slot(NOON + timedelta(minutes=13, seconds=7)) == NOON + timedelta(minutes=10)


# Sending ---------------------------------------------------------------------------------


def test_many_schedulers_send_each_slot_once(broker: PostgresBroker) -> None:
    _sweep(broker, "seldom", AGE)
    _sweep(broker, "often", 1)
    with _scheduling(), _scheduling(), _scheduling():
        eventually(lambda: Job.objects.filter(actor="often").count() >= 3)
        assert len(_lock_holders()) == 1
    assert Job.objects.filter(actor="seldom").count() == 1


def test_whoever_takes_over_does_not_repeat_a_slot(broker: PostgresBroker) -> None:
    _sweep(broker, "seldom", AGE)
    with _scheduling():
        eventually(lambda: Job.objects.filter(actor="seldom").exists())
    Job.objects.all().delete()
    _sweep(broker, "another", AGE)
    with _scheduling():
        eventually(lambda: Job.objects.filter(actor="another").exists())
    assert not Job.objects.filter(actor="seldom").exists()


def test_the_message_of_a_slot_has_the_same_id_whoever_sends_it(broker: PostgresBroker) -> None:
    sweep = _sweep(broker, "hourly", HOUR)
    ids = set()
    for _ in range(2):
        scheduling._send(sweep, NOON)
        ids.add(Job.objects.get().pk)
        Schedule.objects.all().delete()
    scheduling._send(sweep, NOON + timedelta(hours=1))
    ids.add(Job.objects.exclude(pk__in=ids).get().pk)
    assert len(ids) == 2


def test_a_slot_that_the_server_did_not_take_is_tried_again(
    broker: PostgresBroker, caplog: pytest.LogCaptureFixture
) -> None:
    _sweep(broker_for(f"redis://127.0.0.1:{free_port()}"), "tidy", HOUR)
    with _scheduling():
        eventually(lambda: "The scheduler pauses: Redis at 127.0.0.1" in caplog.text)
        assert not Schedule.objects.exists()
        tidy = _sweep(broker, "tidy", HOUR)
        eventually(lambda: Job.objects.filter(actor=tidy.name).exists())


# Taking over -----------------------------------------------------------------------------


def test_another_takes_over_from_a_killed_worker_within_seconds(
    broker: PostgresBroker, tmp_path: Path
) -> None:
    with worker_process(tmp_path) as worker:
        eventually(_lock_holders)
        [holder] = _lock_holders()
        _sweep(broker, "tidy", HOUR)
        with _scheduling():
            worker.kill()
            eventually(lambda: Job.objects.filter(actor="tidy").exists())
            assert _lock_holders() not in ([], [holder])


def test_a_scheduler_that_loses_its_connection_goes_on(broker: PostgresBroker) -> None:
    with _scheduling():
        eventually(_lock_holders)
        sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'quarry scheduler'"
        )
        _sweep(broker, "tidy", HOUR)
        eventually(lambda: Job.objects.filter(actor="tidy").exists())


def test_a_scheduler_that_stops_gives_its_turn_away(broker: PostgresBroker) -> None:
    with _scheduling():
        eventually(_lock_holders)
    assert due(timezone.now()) == []
    eventually(lambda: _lock_holders() == [])


# Means -----------------------------------------------------------------------------------


def _sweep(broker: dramatiq.Broker, name: str, seconds: int) -> Sweep:
    every(seconds)(dramatiq.actor(actor_name=name, broker=broker)(_nothing))
    return scheduling.SWEEPS[name]


def _nothing() -> None: ...


@contextmanager
def _scheduling() -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=run_scheduler, args=[stop])
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _lock_holders() -> list[tuple[int]]:
    return sql(
        "SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid) "
        "WHERE locktype = 'advisory' AND objid = %s AND granted AND datname = current_database()",
        Lock.SCHEDULER,
    )
