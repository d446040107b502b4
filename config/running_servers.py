"""Which servers of this checkout are running, so that a command uses the same library.

A server keeps a note of itself, locked (flock) for as long as it lives: when it ends, however it
ends, it no longer counts as running.
No setting's value is in it but the data folder, for others may be secret.
"""

import fcntl
import json
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.watcher import is_held, take

WHERE_THINGS_ARE = ("DATABASE_URL", "QUARRY_BROKER_URL", "QUARRY_S3_BUCKET")
"""A command that lacks one of these would act on another library than its server does."""

# A server, and the worker that a server starts in its own environment.
_LEFT_TO_THEMSELVES = frozenset({"up", "--with-parent", "help", "--help", "--version"})


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server's note of itself."""

    pid: int
    home: str
    settings: list[str]
    address: str = ""


@contextmanager
def register_server(folder: Path, server: RunningServer) -> Iterator[None]:
    """Keep a note of the server while it runs; where nothing can be written, go without."""
    path = folder / f"{server.pid}.json"
    lock = -1
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _remove_dead(folder)
        lock = take(path, fcntl.LOCK_EX)
        path.write_text(json.dumps(asdict(server)))
    try:
        yield
    finally:
        if lock >= 0:
            path.unlink(missing_ok=True)
            os.close(lock)


def home_of_running_server(folder: Path, given: Collection[str]) -> str:
    """The data folder of the server that runs beside this command; empty when there is none.

    `given` are the names of the settings that this process has.
    """
    if not _is_command(sys.argv):
        return ""
    servers = list(_live_servers(folder))
    homes = sorted({server.home for server in servers})
    if len(homes) > 1:
        raise ImproperlyConfigured(
            "several servers of this checkout run; set QUARRY_HOME to one of their data folders: "
            f"{', '.join(homes)}"
        )
    for server in servers:
        _require_settings(server, given)
    return homes[0] if homes else ""


def address_of_running_server(folder: Path, home: str) -> str:
    """Where a browser on this machine finds the server of this library; empty when none runs."""
    servers = [server for server in _live_servers(folder) if server.home == home]
    return next((server.address for server in servers if server.address), "")


def _is_command(argv: list[str]) -> bool:
    """Whether this process is `manage.py` with a command that is to use a library."""
    is_manage = Path(argv[0] if argv else "").name == "manage.py"
    return is_manage and len(argv) > 1 and _LEFT_TO_THEMSELVES.isdisjoint(argv[1:])


def _live_servers(folder: Path) -> Iterator[RunningServer]:
    for path in sorted(folder.glob("*.json")):
        with suppress(OSError, ValueError, TypeError):
            if is_held(path):
                yield RunningServer(**json.loads(path.read_text()))


def _require_settings(server: RunningServer, given: Collection[str]) -> None:
    lacking = [name for name in WHERE_THINGS_ARE if name in server.settings and name not in given]
    if lacking:
        raise ImproperlyConfigured(
            f"the server that runs in this checkout (process {server.pid}) has "
            f"{' and '.join(lacking)}, which this shell lacks. Set the same here, or set "
            "QUARRY_HOME to choose a library yourself."
        )


def _remove_dead(folder: Path) -> None:
    for path in folder.glob("*.json"):
        if not is_held(path):
            path.unlink(missing_ok=True)
