"""The processes that `up` starts: the worker, and web processes where there are several.

Either is started again when it dies, and is gone when `up` is, however that ends.
"""

import logging
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from knowledge.sources.parsers.parent_watch import die_with_parent

logger = logging.getLogger(__name__)

PAUSE_SEC = 2
"""Between a death and the next start."""
STOP_SEC = 30

Serve = Callable[[Callable[[], None]], None]
"""Serves until it is told to stop, and calls what it is given once it answers requests."""


class WebProcesses:
    """So many processes that accept connections from one socket, forked from this one.

    What this one has loaded, models above all, is in memory once. It must have no connection and no
    event loop when it forks, and only watches from then on.
    """

    def __init__(self, count: int, serve: Serve) -> None:
        self._count = count
        self._serve = serve
        self._running: list[ForkProcess] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """All answer requests; they end before whatever ends this block goes on."""
        try:
            for _ in range(self._count):
                if not self._start():
                    raise CommandError("The server did not start; the lines above say why.")
            yield
        finally:
            self._stop()

    def keep_running(self) -> None:
        """Replace those that die, until an interrupt."""
        while True:
            wait([process.sentinel for process in self._running])
            self._replace_dead()

    def _replace_dead(self) -> None:
        time.sleep(PAUSE_SEC)  # a signal for all of us ends this too
        for process in [each for each in self._running if not each.is_alive()]:
            logger.warning("A web process ended with %s; starting another.", process.exitcode)
            self._running.remove(process)
            self._start()

    def _start(self) -> bool:
        """Fork one, and wait until it answers requests; False if it ended before."""
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_serve_in_child, args=(os.getpid(), self._serve, there)
        )
        process.start()
        there.close()
        self._running.append(process)
        with here, suppress(EOFError):
            return bool(here.recv())
        return False

    def _stop(self) -> None:
        for process in self._running:
            process.terminate()
        for process in self._running:
            process.join(STOP_SEC)
            if process.is_alive():
                process.kill()


def _serve_in_child(parent: int, serve: Serve, there: Connection) -> None:
    die_with_parent(parent)
    with suppress(KeyboardInterrupt):
        serve(lambda: there.send(True))


class WorkerProcess:
    """The worker beside the web process."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep_running, daemon=True)

    def start(self) -> None:
        self._keeper.start()

    def stop(self) -> None:
        with self._starting:
            self._stopping.set()
        if self._process:
            self._process.terminate()
            self._keeper.join(timeout=STOP_SEC)

    def _keep_running(self) -> None:
        while process := self._next_process():
            code = process.wait()
            if not self._stopping.wait(PAUSE_SEC):
                logger.warning("The worker ended with %s; starting another.", code)

    def _next_process(self) -> subprocess.Popen[bytes] | None:
        with self._starting:
            if self._stopping.is_set():
                return None
            manage = Path(settings.BASE_DIR) / "manage.py"
            # Its end of the pipe closes when this process ends in any way, even by kill -9.
            self._process = subprocess.Popen(
                [sys.executable, str(manage), "worker", "--with-parent"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
            )
            return self._process
