"""The processes that `up` starts: the worker, and web processes where there are several.

Either is started again when it dies, and is gone when `up` is, however that ends.
"""

import ctypes
import logging
import multiprocessing
import os
import socket
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
from django.core.management import call_command
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
    """The worker beside the web process: forked from it, so that what both load is there once.

    What follows a dead one is a new program: by then this process has threads, and may not fork.
    """

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._process: _ForkedWorker | subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep_running, daemon=True)

    def fork(self, listener: socket.socket) -> None:
        """Start it, without the socket on which this process listens."""
        self._process = _ForkedWorker(listener)

    def keep_running(self) -> None:
        """Start another whenever it ends; by a thread, so first fork what is to be forked."""
        self._keeper.start()

    def stop(self) -> None:
        with self._starting:
            self._stopping.set()
        if self._process:
            self._process.terminate()
        if self._keeper.is_alive():
            self._keeper.join(timeout=STOP_SEC)

    def _keep_running(self) -> None:
        process = self._process
        while process:
            code = process.wait()
            if not self._stopping.wait(PAUSE_SEC):
                logger.warning("The worker ended with %s; starting another.", code)
            process = self._next_process()

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


class _ForkedWorker:
    """A worker that is a copy of this process."""

    def __init__(self, listener: socket.socket) -> None:
        theirs, self._ours = os.pipe()
        context = multiprocessing.get_context("fork")
        arguments = (theirs, self._ours, listener)
        self._process = context.Process(target=_work_in_child, args=arguments)
        self._process.start()
        os.close(theirs)

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()


def _work_in_child(until_closed: int, other_end: int, listener: socket.socket) -> None:
    os.close(other_end)  # so that only the parent holds it, and it closes with the parent
    listener.close()
    rename_process("quarry worker")
    sys.stdin = os.fdopen(until_closed)
    with open(os.devnull, "w") as nobody:
        try:
            call_command("worker", with_parent=True, stdout=nobody)
        except CommandError as error:
            sys.exit(str(error))


def rename_process(name: str) -> None:
    """Have `ps` show this name in place of the command line, where the system can do that."""
    with suppress(OSError, ValueError):
        fields = Path("/proc/self/stat").read_text().rpartition(") ")[2].split()
        start, end = int(fields[45]), int(fields[46])
        ctypes.memmove(
            start, name.encode()[: end - start - 1].ljust(end - start, b"\0"), end - start
        )
