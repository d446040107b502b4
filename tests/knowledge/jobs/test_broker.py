import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dramatiq
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import transaction
from dramatiq.brokers.stub import StubBroker
from dramatiq.errors import ConnectionClosed, QueueNotFound
from pytest_django import Settings

from knowledge.jobs import consumer as consuming
from knowledge.jobs.broker import PostgresBroker, configure_broker, job_middleware
from knowledge.jobs.fairness import send_job
from knowledge.jobs.servers.rabbitmq import RabbitServer
from knowledge.jobs.servers.redis import RedisServer
from knowledge.models import Job
from tests.support.jobs import (
    closed_gate,
    declare_jobs,
    job_runs_table,
    open_gate,
    run_count,
    sql,
    working,
)
from tests.support.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def job_runs() -> Iterator[None]:
    with job_runs_table():
        yield


@pytest.fixture
def broker() -> PostgresBroker:
    return _new_broker()


# Enqueueing ------------------------------------------------------------------------------


def test_a_committed_transaction_wakes_an_idle_worker_at_once(
    broker: PostgresBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consuming, "POLL_SEC", 600)
    with working(broker):
        eventually(lambda: len(_consumer_pids()) == 1)
        with transaction.atomic():
            _send(broker, "note", "a")
            _send(broker, "note", "b")
        eventually(lambda: run_count("a") == run_count("b") == 1)
        monkeypatch.undo()
        _send(broker, "note", "c")  # or it would be waited for as long as it waits for jobs


def test_owners_take_turns_however_many_jobs_one_of_them_has(broker: PostgresBroker) -> None:
    for number in range(20):
        send_job(broker.get_actor("note"), f"ada's {number}", owner_id=1)
    for name in ("eve's first", "eve's second"):
        send_job(broker.get_actor("note"), name, owner_id=2)
    send_job(broker.get_actor("note"), "nobody's")
    with working(broker):
        eventually(lambda: sql("SELECT count(*) FROM job_run") == [(23,)])
    order = [name for (name,) in sql("SELECT name FROM job_run ORDER BY id")]
    assert {"ada's 0", "eve's first", "nobody's"} == set(order[:3])
    assert order.index("eve's second") < 6
    mine = [name for name in order if name.startswith("ada")]
    assert mine == [f"ada's {number}" for number in range(20)]


def test_a_job_that_a_job_sends_is_for_the_same_owner(broker: PostgresBroker) -> None:
    def send_another(name: str) -> None:
        send_job(broker.get_actor("note"), name, delay=60_000)

    actor = dramatiq.actor(broker=broker, actor_name="send_another")(send_another)
    send_job(actor, "a", owner_id=7)
    with working(broker):
        eventually(lambda: Job.objects.filter(actor="note", owner_id=7).exists())


def test_a_message_with_a_known_id_is_ignored(broker: PostgresBroker) -> None:
    message = broker.get_actor("note").message("a")
    broker.enqueue(message)
    broker.enqueue(message.copy(args=("b",)))
    assert '"a"' in Job.objects.get(pk=message.message_id).message_text


def test_a_message_to_an_undeclared_queue_is_refused(broker: PostgresBroker) -> None:
    with pytest.raises(QueueNotFound):
        broker.enqueue(broker.get_actor("note").message("a").copy(queue_name="nowhere"))


# Failing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "error"),
    [(b"not json", "Failed to decode"), (None, "ActorNotFound: unheard_of")],
)
def test_a_message_nobody_understands_is_dead_and_holds_up_no_other(
    broker: PostgresBroker, message: bytes | None, error: str
) -> None:
    stranger = dramatiq.Message("default", "unheard_of", (), {}, {}).encode()
    job = Job.objects.create(queue="default", actor="?", message=message or stranger)
    with working(broker):
        _send(broker, "note", "a")
        eventually(lambda: list(Job.objects.values_list("pk", "state")) == [(job.pk, "dead")])
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
    with working(broker):
        _send(broker, "leave_transaction_open", "lost")
        _send(broker, "note", "kept")
        eventually(lambda: not Job.objects.exists())
    assert sql("SELECT name FROM job_run") == [("kept",)]


# Dying -----------------------------------------------------------------------------------


def test_a_dead_consumers_claim_is_free_and_a_live_ones_is_not(broker: PostgresBroker) -> None:
    for name in "ab":
        _send(broker, "note", name)
    with _consuming(broker) as dying, _consuming(broker) as alive, _consuming(broker) as heir:
        lost, kept = _claimed(dying), _claimed(alive)
        _die(dying)
        assert _claimed(heir).message_id == lost.message_id
        assert Job.objects.get(pk=lost.message_id).crashes == 1
        assert Job.objects.get(pk=kept.message_id).worker == alive.key


def test_a_job_whose_workers_keep_dying_lets_others_go_first(broker: PostgresBroker) -> None:
    often, once = (_send(broker, "note", name) for name in "ab")
    Job.objects.update(state="claimed", worker=1)
    Job.objects.filter(pk=often.pk).update(crashes=10)
    with _consuming(broker) as consumer:
        assert _claimed(consumer).message_id == str(once.pk)
        [(crashes, waits)] = sql(
            "SELECT crashes, available_at > enqueued_at + interval '10 milliseconds' "
            "FROM knowledge_job WHERE id = %s",
            often.pk,
        )
    assert (crashes, waits) == (11, True)


def test_a_job_that_keeps_killing_its_workers_is_given_up(broker: PostgresBroker) -> None:
    job = _send(broker, "note", "a")
    Job.objects.update(state="claimed", worker=1, crashes=consuming.MAX_CRASHES - 1)
    with _consuming(broker) as consumer:
        eventually(lambda: next(consumer) is None and Job.objects.get().state == "dead")
    job.refresh_from_db()
    assert job.error == "The worker died while it held this job."


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
    with closed_gate(), working(broker), working(_new_broker()):
        job = _send(broker, "hold", "a")
        eventually(lambda: run_count("a") == 1)
        [(pid,)] = _lock_holders(job)
        sql("SELECT pg_terminate_backend(%s)", pid)
        # Long enough for the other worker to have looked for dead ones several times.
        _send(broker, "note", "b", delay=1500)
        eventually(lambda: run_count("b") == 1)
        assert _lock_holders(job) not in ([], [(pid,)])
        open_gate()
        eventually(lambda: not Job.objects.exists())
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


def test_a_job_that_fails_during_an_outage_is_retried(
    broker: PostgresBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dramatiq.worker.POST_PROCESS_MESSAGE_RETRY_DELAY_SECS", 0.1)
    with working(broker):
        _send(broker, "cut_off", "a")
        eventually(lambda: not Job.objects.exists())
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
        for url, kind in [
            ("", PostgresBroker),
            ("stub://", StubBroker),
            ("redis://host/1", RedisServer),
            ("rediss://:secret@host:6380/0", RedisServer),
            ("amqp://me:secret@host:5672/quarry", RabbitServer),
            ("amqps://me:secret@host?heartbeat=60", RabbitServer),
        ]:
            settings.QUARRY_BROKER_URL = url
            configure_broker()
            assert type(dramatiq.get_broker()) is kind
    finally:
        dramatiq.set_broker(before)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("kafka://me:secret@host", "no jobs over 'kafka'; give a redis:// or amqp:// URL"),
        ("redis://me:secret@host:port", "cannot be read; write redis://"),
        ("redis://me:secret@host:6379?socket_timeout=secret", "cannot be read; write redis://"),
        ("amqp://me:secret@host:port", "cannot be read; write redis://"),
        ("amqp://me:secret@host:5672?heartbeat=secret", "cannot be read; write redis://"),
    ],
)
def test_a_broker_that_cannot_be_used_stops_the_start_and_keeps_its_secret(
    settings: Settings, url: str, told: str
) -> None:
    settings.QUARRY_BROKER_URL = url
    with pytest.raises(ImproperlyConfigured, match=told) as refusal:
        configure_broker()
    assert "secret" not in str(refusal.value)


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
    """Until the server, too, has noticed, and has let go of what the consumer held."""
    assert consumer.session
    pid = consumer.session.info.backend_pid
    consumer.session.close()
    eventually(lambda: not sql("SELECT 1 FROM pg_stat_activity WHERE pid = %s", pid))


def _consumer_pids() -> list[tuple[Any, ...]]:
    return sql(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'quarry worker: default' AND state = 'idle'"
    )


def _lock_holders(job: Job) -> list[tuple[Any, ...]]:
    return sql(
        "SELECT pid FROM pg_locks JOIN knowledge_job AS job "
        "ON (classid::bigint << 32 | objid::bigint) = job.worker "
        "WHERE locktype = 'advisory' AND job.id = %s",
        job.pk,
    )
