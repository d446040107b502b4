import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

import dramatiq
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from dramatiq.worker import Worker

from knowledge.errors import ProviderUnavailable
from knowledge.jobs.broker import PostgresBroker, check_broker
from knowledge.jobs.scheduling import run_scheduler
from knowledge.jobs.servers.base import JobServer
from knowledge.management.actors import import_actors
from knowledge.models import Job
from knowledge.monitoring.metrics import share_metrics

STOP_SEC = 20
NICENESS = 10
"""So that callers, who wait, come before jobs where both need the same cores."""


class Command(BaseCommand):
    help = "Run jobs until told to stop; what cannot be finished by then goes back to the queue."
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--threads",
            type=int,
            default=2,
            help="Jobs of one owner at a time in each queue (default: 2); one more is for others.",
        )
        parser.add_argument("--queues", nargs="+", help="Only these queues (default: all).")
        parser.add_argument(
            "--with-parent", action="store_true", help="Stop when standard input closes."
        )

    def handle(
        self, *, threads: int, queues: list[str] | None, with_parent: bool, **options: Any
    ) -> None:
        if threads < 1:
            raise CommandError("--threads must be at least 1.")
        os.nice(NICENESS)
        share_metrics(settings.QUARRY_HOME / "metrics")
        stopped = _stop_signal()
        if with_parent:
            threading.Thread(target=_stop_with_parent, args=[stopped], daemon=True).start()
        workers = _start_workers(threads, queues)
        scheduler = threading.Thread(target=run_scheduler, args=[stopped], daemon=True)
        scheduler.start()
        names = ", ".join(sorted(workers))
        self.stdout.write(_greeting(threads, names))
        self.stdout.flush()
        while not stopped.wait(1):
            # A lost thread would keep its claim for as long as this process lives.
            if not all(thread.is_alive() for one in workers.values() for thread in one.workers):
                raise CommandError("A worker thread died; start again.")
        _stop_taking_messages(list(workers.values()))
        # Nobody may be left to read it: the parent that this one stops with is gone by now.
        with suppress(BrokenPipeError):
            self.stdout.write(f"Worker {os.getpid()} stops when what it runs is finished")
            self.stdout.flush()
        _stop(list(workers.values()))
        scheduler.join(STOP_SEC)


def _greeting(threads: int, queues: str) -> str:
    return (
        f"Worker {os.getpid()} runs {threads} at a time of one owner, and one more for others, "
        f"from each of: {queues}"
    )


def _stop_signal() -> threading.Event:
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def _stop_with_parent(stopped: threading.Event) -> None:
    """The other end of the pipe closes however the parent ends, even by kill -9."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    stopped.set()


def _start_workers(threads: int, queues: list[str] | None) -> dict[str, Worker]:
    """One for each queue, so that recordings of hours hold up nothing but each other."""
    import_actors()
    broker = dramatiq.get_broker()
    _check(broker, queues)
    broker.emit_after("process_boot")
    names = queues or broker.get_declared_queues()
    return {name: _start_worker(broker, name, threads) for name in names}


def _check(broker: dramatiq.Broker, queues: list[str] | None) -> None:
    declared = broker.get_declared_queues()
    if unknown := set(queues or []) - declared:
        raise CommandError(f"No such queue: {', '.join(sorted(unknown))}.")
    if not declared:
        raise CommandError("There are no jobs to run: no actor is declared.")
    try:
        Job.objects.exists()
        check_broker()
    except DatabaseError as error:
        raise CommandError(f"The job table is out of reach: {error}") from error
    except ProviderUnavailable as error:
        raise CommandError(f"{error.message}; check QUARRY_BROKER_URL.") from error
    finally:
        connection.close()


def _start_worker(broker: dramatiq.Broker, queue: str, threads: int) -> Worker:
    """With one thread more than one owner may have, so that another's job need not wait."""
    worker = Worker(broker, queues={queue}, worker_threads=threads + 1)
    # Two messages for each thread would leave one waiting behind a job of many minutes.
    worker.queue_prefetch = threads + 1
    middleware = list(broker.middleware)
    worker.start()
    # It added itself, to hear of queues declared later. There are none, and Dramatiq warns of
    # the second who does so.
    broker.middleware = middleware
    return worker


def _stop_taking_messages(workers: list[Worker]) -> None:
    broker = dramatiq.get_broker()
    if isinstance(broker, PostgresBroker | JobServer):
        broker.draining.set()
    for worker in workers:
        for thread in worker.workers:
            thread.stop()


def _stop(workers: list[Worker]) -> None:
    """All at once, for each may take its time to finish what it runs."""
    stops = [
        threading.Thread(target=worker.stop, kwargs={"timeout": STOP_SEC * 1000})
        for worker in workers
    ]
    for stop in stops:
        stop.start()
    for stop in stops:
        stop.join()
    dramatiq.get_broker().close()
