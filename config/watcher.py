"""Stops the bundled Postgres after its last user, and the locks by which processes agree on that.

Runs as a script, detached and without Django, one per data folder. All locks are flock: the
kernel gives them back however a process ends.
"""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

POLL = 0.02


class Server(NamedTuple):
    """A postmaster's process id and what it is at; no pid is no server."""

    pid: int = 0
    state: str = ""  # starting, ready or stopping


class ServerFolder:
    """One server's folder: its data, its log and the four locks."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = root / "data"
        self.log = root / "server.log"
        self.start_lock = root / "start.lock"  # whoever starts or stops the server
        self.users_lock = root / "users.lock"  # shared by every process that uses the server
        self.watcher_lock = root / "watcher.lock"  # the watcher, for as long as it lives
        self.server_lock = root / "server.lock"  # every Postgres process on this data

    @property
    def tag(self) -> str:
        """The cluster name, by which each Postgres process on this data can be told."""
        data = self.data.stat()
        return f"quarry-{data.st_dev}-{data.st_ino}"

    def server(self) -> Server:
        """Our server, if it is alive."""
        last = self.last_server()
        return last if last.pid and self._is_a_server(last.pid) else Server()

    def _is_a_server(self, pid: int) -> bool:
        return f"cluster_name={self.tag}\0".encode() in command_line(pid)

    def last_server(self) -> Server:
        """What the last server left on record; its number may be another program's by now."""
        try:
            lines = (self.data / "postmaster.pid").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return Server()
        pid, state = "".join(lines[:1]), "".join(lines[7:8])
        return Server(int(pid), state.strip()) if pid.isdecimal() else Server()

    def end_orphans(self) -> None:
        """End the processes that outlived a killed postmaster; they would block a new one."""
        if not self.data.exists():
            return
        title = f"postgres: {self.tag}: ".encode()
        for pid in [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]:
            # Not those of a server that has begun to start since anybody looked.
            if command_line(pid).startswith(title) and not self._is_a_server(parent_of(pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGQUIT)


def parent_of(pid: int) -> int:
    """The number of a process's parent; 0 for one that is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def command_line(pid: int) -> bytes:
    """A process's command line; empty for one that is gone, also when nobody reaped it."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def take(path: Path, how: int) -> int:
    """Wait for a lock; it is held until every copy of the returned descriptor is closed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def try_lock(path: Path) -> Iterator[int | None]:
    """An exclusive lock, or None if another process has the lock; child processes inherit it."""
    try:
        descriptor = take(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    try:
        os.close(take(path, fcntl.LOCK_SH | fcntl.LOCK_NB))
    except BlockingIOError:
        return True
    return False


@contextmanager
def hold_file_lock(path: Path) -> Iterator[None]:
    descriptor = take(path, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def watch(folder: ServerFolder, grace: float, own_lock: int) -> None:
    """Stop the server once nobody has used it for `grace` seconds, then return."""
    while True:
        os.close(take(folder.users_lock, fcntl.LOCK_EX))
        time.sleep(grace)
        with hold_file_lock(folder.start_lock), try_lock(folder.users_lock) as unused:
            if unused is not None:
                stop(folder)
                # Before the start lock, or the next starter would take this watcher for alive.
                os.close(own_lock)
                return


def stop(folder: ServerFolder) -> None:
    """Shut the server down and return when its last process is gone."""
    while is_held(folder.server_lock):
        if pid := folder.server().pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)  # to Postgres: a fast, clean shutdown
        else:
            folder.end_orphans()
        time.sleep(POLL)


if __name__ == "__main__":
    # The stop must still happen when a service manager signals the whole group at once.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watch(ServerFolder(Path(sys.argv[1])), grace=float(sys.argv[2]), own_lock=int(sys.argv[3]))
