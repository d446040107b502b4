import os
import signal
import sys
import threading
from typing import Any

import dramatiq
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.utils.module_loading import autodiscover_modules
from dramatiq.worker import Worker

from knowledge.broker import PostgresBroker
from knowledge.models import Job

STOP_SEC = 20


class Command(BaseCommand):
    help = "Run jobs until told to stop; what cannot be finished by then goes back to the queue."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--threads", type=int, default=2, help="Jobs at a time (default: 2).")
        parser.add_argument("--queues", nargs="+", help="Only these queues (default: all).")

        parser.add_argument(
            "--with-parent", action="store_true", help="Stop when standard input closes."
        )

    def handle(
        self, *, threads: int, queues: list[str] | None, with_parent: bool, **options: Any
    ) -> None:
        if threads < 1:
            raise CommandError("--threads must be at least 1.")
        stopped = _stop_signal()
        if with_parent:
            threading.Thread(target=_stop_with_parent, args=[stopped], daemon=True).start()
        worker = _start_worker(threads, queues)
        names = ", ".join(sorted(worker.consumers))
        self.stdout.write(f"Worker {os.getpid()} runs {threads} at a time from: {names}")
        self.stdout.flush()
        while not stopped.wait(1):
            # A lost thread would keep its claim for as long as this process lives.
            if not all(thread.is_alive() for thread in worker.workers):
                raise CommandError("A worker thread died; start again.")
        _stop_worker(worker)


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


def _start_worker(threads: int, queues: list[str] | None) -> Worker:
    autodiscover_modules("tasks")
    broker = dramatiq.get_broker()
    _check(broker, queues)
    worker = Worker(broker, queues=set(queues or []), worker_threads=threads)
    # Two messages for each thread would leave one waiting behind a job of many minutes.
    worker.queue_prefetch = threads
    broker.emit_after("process_boot")
    worker.start()
    return worker


def _check(broker: dramatiq.Broker, queues: list[str] | None) -> None:
    declared = broker.get_declared_queues()
    if unknown := set(queues or []) - declared:
        raise CommandError(f"No such queue: {', '.join(sorted(unknown))}.")
    if not declared:
        raise CommandError("There are no jobs to run: no actor is declared.")
    try:
        Job.objects.exists()
    except DatabaseError as error:
        raise CommandError(f"The job table is out of reach: {error}") from error
    finally:
        connection.close()


def _stop_worker(worker: Worker) -> None:
    if isinstance(worker.broker, PostgresBroker):
        worker.broker.draining.set()
    worker.stop(timeout=STOP_SEC * 1000)
