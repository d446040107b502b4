"""What the processes of one run share, each thing made by the first that needs it."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection

from tests.support.up import memory_disk

TEMPLATE = "test_quarry_template"
_FOLDER = "QUARRY_TESTS_SHARED"
_CONNECTED = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"


def make_shared_folder() -> Callable[[], None]:
    """And say how it is taken away."""
    # Not pytest's own: that is closed to the account that a database server runs under for root.
    folder = tempfile.mkdtemp(prefix="quarry-shared-", dir=memory_disk())
    Path(folder).chmod(0o755)
    os.environ[_FOLDER] = folder
    return lambda: shutil.rmtree(folder)


def shared_folder() -> Path:
    return Path(os.environ[_FOLDER])


@contextmanager
def making(name: str) -> Iterator[bool]:
    """Whether this is made already; the others wait for whoever makes it."""
    mark = shared_folder() / f"{name}.made"
    with (shared_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield mark.exists()
        mark.touch()


def make_template_database() -> None:
    """A migrated database, which nobody is connected to in the end, else it cannot be copied."""
    names = connection.settings_dict["NAME"], connection.settings_dict["TEST"]["NAME"]
    connection.settings_dict["TEST"]["NAME"] = TEMPLATE
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    end_connections(TEMPLATE)
    connection.settings_dict["NAME"], connection.settings_dict["TEST"]["NAME"] = names
    settings.DATABASES[DEFAULT_DB_ALIAS]["NAME"] = names[0]


def end_connections(database: str) -> None:
    """Nobody is connected to it from here on, or can be: not a thread that connects again."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS false')
        while rows := cursor.execute(_CONNECTED, [database]).fetchall():
            time.sleep(0.05 * len(rows))
