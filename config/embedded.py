"""The bundled Postgres: started by whichever process needs it, shared, stopped after the last.

Each process that uses the server holds a shared lock for as long as it lives;
the watcher waits for that
lock to be free and stops the server. See watcher.py for the locks, cluster.py for the files.
"""

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from config import machine, watcher
from config.cluster import (
    DATABASE,
    USER,
    Account,
    EmbeddedPostgresError,
    ensure_data,
    prepare_folder,
    prepare_socket_folder,
    programs,
    server_account,
    socket_folder,
)
from config.watcher import (
    POLL,
    ServerFolder,
    command_line,
    hold_file_lock,
    is_held,
    stop,
    take,
    try_lock,
)

__all__ = ["EmbeddedPostgresError", "ensure_running"]

PORT = "5432"  # only the socket's name: the server does not listen on the network
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
LOG_LIMIT = 10 * 1024 * 1024

# The locks that say this process uses a server; a forked child shares them, as it should.
_users: dict[ServerFolder, int] = {}
_starting = threading.Lock()


def ensure_running(
    home: Path, *, settings: Mapping[str, str] = NO_SETTINGS, grace: float = 2.0
) -> dict[str, str]:
    """Connection parameters of the server under `home`, which runs while this process lives.

    `settings` go before our own if this call starts the server; `grace` is how many seconds a
    server without users waits for the next one, so that one command after another is quick.
    """
    folder = _folder(home)
    try:
        if not _is_in_use_here(folder):
            with _starting:
                _join_or_start(folder, settings, grace)
        host = str(socket_folder(folder))
    except OSError as error:
        raise EmbeddedPostgresError(
            f"The bundled Postgres cannot use {folder.root}: {error}. Make it writable with room "
            "to spare, set QUARRY_HOME to another folder, or set DATABASE_URL."
        ) from error
    return {"host": host, "port": PORT, "user": USER, "dbname": DATABASE}


@cache
def _folder(home: Path) -> ServerFolder:
    return ServerFolder(home.resolve() / "postgres")


def _is_in_use_here(folder: ServerFolder) -> bool:
    return folder in _users and folder.server().state == "ready" and is_held(folder.watcher_lock)


def _join_or_start(folder: ServerFolder, settings: Mapping[str, str], grace: float) -> None:
    if not command_line(os.getpid()):
        raise EmbeddedPostgresError("The bundled Postgres needs /proc. Set DATABASE_URL instead.")
    account = server_account()
    prepare_folder(folder, account)
    with hold_file_lock(folder.start_lock):
        _become_user(folder)
        # The watcher comes first: should we be killed next, it stops what we started.
        _ensure_watcher(folder, grace)
        _ensure_server(folder, account, settings)


def _become_user(folder: ServerFolder) -> None:
    # Also when we are one: the folder may have been removed and made anew since.
    previous = _users.get(folder)
    _users[folder] = take(folder.users_lock, fcntl.LOCK_SH)
    if previous is not None:
        os.close(previous)


def _ensure_watcher(folder: ServerFolder, grace: float) -> None:
    with try_lock(folder.watcher_lock) as lock:
        if lock is not None:
            script = [sys.executable, "-I", "-S", str(Path(watcher.__file__).resolve())]
            arguments = [str(folder.root), str(grace), str(lock)]
            ours = Account(os.geteuid(), os.getegid())
            _spawn_detached([*script, *arguments], ours, lock, Path(os.devnull))


def _ensure_server(folder: ServerFolder, account: Account, settings: Mapping[str, str]) -> None:
    """Return when the server is ready, however long its recovery after a crash takes."""
    starts = 0
    while (state := folder.server().state) != "ready":
        with try_lock(folder.server_lock) as lock:
            if lock is not None:
                _refuse_a_third_start(folder, starts)
                _start(folder, account, settings, lock)
                starts += 1
            elif state == "stopping":  # by hand; it may be waiting for a connection of ours
                stop(folder)
            elif state == "":  # left of a killed server, or an initdb whose caller was killed
                folder.end_orphans()
        time.sleep(POLL)


def _refuse_a_third_start(folder: ServerFolder, starts: int) -> None:
    # Once may be chance: someone killed it while it started.
    if starts > 1:
        raise EmbeddedPostgresError(
            f"The bundled Postgres does not start. Its log is {folder.log} and ends:\n"
            + folder.log.read_text(errors="replace")[-2000:]
        )


def _start(folder: ServerFolder, account: Account, settings: Mapping[str, str], lock: int) -> None:
    bin_folder = programs(folder, account)
    ensure_data(folder, account, bin_folder, lock)
    sockets = socket_folder(folder)
    prepare_socket_folder(sockets, account)
    _forget_dead_server(folder, sockets)
    own = {**machine.server_settings(), **_server_settings(sockets)}
    config = _write_config(folder.root / "server.conf", {**own, **settings})
    command = [str(bin_folder / "postgres"), "-D", str(folder.data)]
    command += ["-c", f"config_file={config}", "-c", f"cluster_name={folder.tag}"]
    _spawn_detached(command, account, lock, _fresh_log(folder.log))


def _forget_dead_server(folder: ServerFolder, sockets: Path) -> None:
    """Postgres takes whatever process now has the dead server's number for a running one."""
    if b"postgres" not in command_line(folder.last_server().pid):
        (folder.data / "postmaster.pid").unlink(missing_ok=True)
    for left in sockets.glob(".s.PGSQL.*"):
        left.unlink()


def _server_settings(sockets: Path) -> dict[str, str]:
    return {
        "listen_addresses": "",
        "port": PORT,
        "unix_socket_directories": str(sockets),
        "random_page_cost": "1.1",
        "jit": "off",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "wal_compression": "on",
        "log_checkpoints": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "default_text_search_config": "pg_catalog.english",
    }


def _write_config(path: Path, settings: Mapping[str, str]) -> Path:
    lines = ["# Written at each start. To change a setting for good, use ALTER SYSTEM.\n"]
    for name, value in settings.items():
        quoted = value.replace("\\", "\\\\").replace("'", "''")
        lines.append(f"{name} = '{quoted}'\n")
    path.write_text("".join(lines))
    path.chmod(0o644)
    return path


def _fresh_log(path: Path) -> Path:
    if path.exists() and path.stat().st_size > LOG_LIMIT:
        path.replace(path.with_suffix(".log.old"))
    return path


def _spawn_detached(command: list[str], account: Account, lock: int, output: Path) -> None:
    """Start a program that outlives us and holds the lock for as long as it lives."""
    with output.open("ab") as out:
        subprocess.run(
            # The shell leaves at once, so the program is never a zombie of ours.
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            pass_fds=(lock,),
            check=True,
            **account.spawn_options(),
        )


# A process forked while another thread starts the server would hold the new locks for ever.
os.register_at_fork(
    before=_starting.acquire,
    after_in_parent=_starting.release,
    after_in_child=_starting.release,
)
