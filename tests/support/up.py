"""Processes that use a bundled Postgres of their own and can be killed."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.cluster import programs, server_account
from config.watcher import ServerFolder, command_line, is_held
from tests.support.waiting import DEADLINE, eventually

REPOSITORY = Path(__file__).resolve().parents[2]

USER = """
import json, sys
from pathlib import Path
import psycopg
from config.embedded import ensure_running

home, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
print(json.dumps(ensure_running(home, settings=settings, grace=0)), flush=True)
for line in sys.stdin:
    with psycopg.connect(**ensure_running(home, grace=0), autocommit=True) as connection:
        cursor = connection.execute(line)
        print(json.dumps(cursor.fetchall() if cursor.description else []), flush=True)
"""


class User:
    """A process that uses the server and runs the SQL it is told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.connection: dict[str, str] = json.loads(self._answer())

    def sql(self, statement: str) -> list[list[object]]:
        assert self.process.stdin
        print(statement, file=self.process.stdin, flush=True)
        rows: list[list[object]] = json.loads(self._answer())
        return rows

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def leave(self) -> None:
        self.process.communicate(timeout=DEADLINE)

    def _answer(self) -> str:
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], DEADLINE)[0]:
            self.process.kill()
        return self.process.stdout.readline() or pytest.fail(self.process.communicate()[1])


def spawn(
    home: Path, *, prefix: list[str] | None = None, path: Path = REPOSITORY, **settings: str
) -> subprocess.Popen[str]:
    # No test cuts the power, so none needs to wait for the disk.
    settings = {"fsync": "off", **settings}
    return subprocess.Popen(
        [*(prefix or []), sys.executable, "-c", USER, str(home), json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{path}:{REPOSITORY}"},
        cwd="/",
        start_new_session=True,
    )


def use(home: Path, **options: object) -> User:
    return User(spawn(home, **options))  # type: ignore[arg-type]


@contextmanager
def using(home: Path, **options: object) -> Iterator[User]:
    user = use(home, **options)
    try:
        yield user
    finally:
        user.leave()


def failure(home: Path, **options: object) -> str:
    """What a process that cannot get the server ends with."""
    process = spawn(home, **options)  # type: ignore[arg-type]
    errors = process.communicate(timeout=DEADLINE)[1]
    assert process.returncode == 1
    return errors


def kill(pid: int) -> None:
    """Kill -9 and wait until the process is gone."""
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: command_line(pid) == b"")


def folder_of(home: Path) -> ServerFolder:
    return ServerFolder(home / "postgres")


def wait_until_stopped(home: Path) -> None:
    folder = folder_of(home)
    eventually(lambda: not is_held(folder.server_lock) and not is_held(folder.watcher_lock))


def cluster_state(home: Path) -> str:
    account = server_account()
    control = programs(folder_of(home), account) / "pg_controldata"
    told = subprocess.run(
        [control, folder_of(home).data], stdout=subprocess.PIPE, **account.spawn_options()
    )
    lines = bytes(told.stdout).decode().splitlines()
    state = next(line for line in lines if line.startswith("Database cluster state:"))
    return state.partition(":")[2].strip()


def watcher_pid(home: Path) -> int:
    marks = (b"watcher.py", os.fsencode(home / "postgres"))
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return next(pid for pid in pids if all(mark in command_line(pid) for mark in marks))


def memory_disk() -> Path | None:
    """A file system in memory, where there is room: making a cluster syncs 1,300 files."""
    shared = Path("/dev/shm")
    if not shared.is_dir():
        return None
    disk = os.statvfs(shared)
    fits = disk.f_bavail * disk.f_frsize > 1024**3 and not disk.f_flag & os.ST_NOEXEC
    return shared if fits else None


@contextmanager
def temporary_home() -> Iterator[Path]:
    # Not tmp_path: that is closed to the account that the server runs under for root.
    base = Path(tempfile.mkdtemp(prefix="quarry-", dir=memory_disk()))
    base.chmod(0o755)
    try:
        yield base / "home"
        if (base / "home" / "postgres").exists():
            wait_until_stopped(base / "home")
    finally:
        shutil.rmtree(base)


@contextmanager
def copied_home(template: Path) -> Iterator[Path]:
    """A data folder of its own that begins as this one, whose server is stopped."""
    with temporary_home() as home:
        subprocess.run(["cp", "-a", template, home], check=True)
        yield home


def as_nobody() -> list[str]:
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try:
        subprocess.run([sys.executable, "-c", ""], user=65534, check=True, capture_output=True)
    except (PermissionError, subprocess.CalledProcessError):
        # This interpreter lies in a closed folder: let the process read it, and nothing more.
        command += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return command
