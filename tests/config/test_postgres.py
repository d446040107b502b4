"""Django on the bundled Postgres, in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.up import REPOSITORY, folder_of

SETUP = """
import sys
from pathlib import Path
import django
from django.conf import settings
from django.core.management import call_command, execute_from_command_line
from config.watcher import ServerFolder, stop
from tests.support.up import kill

home, CHECKS = Path(sys.argv[1]), sys.argv[2] == "True"
settings.configure(
    USE_TZ=True,
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
    DATABASES={
        "default": {
            "ENGINE": "config.postgres",
            "NAME": "quarry",
            "EMBEDDED_HOME": home,
            "CONN_HEALTH_CHECKS": CHECKS,
            "OPTIONS": {"pool": {"min_size": 0, "max_size": 4, "timeout": 10}},
        }
    },
)
django.setup()
from django.db import connection

def answer(sql):
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0]
    finally:
        connection.close()
"""


def run(home: Path, script: str, *, pool_checks: bool = False) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SETUP + script, home, str(pool_checks)],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_commands_that_do_not_connect_start_no_server(empty_home: Path) -> None:
    run(empty_home, "call_command('check')")
    run(empty_home, "execute_from_command_line(['manage.py', 'migrate', '--help'])")
    assert not empty_home.exists()


def test_django_makes_and_drops_its_test_database_through_the_pool(home: Path) -> None:
    script = """
connection.creation.create_test_db(verbosity=0)
print(answer("SELECT current_database()"), answer("SELECT count(*) FROM auth_user"))
connection.creation.destroy_test_db("quarry", verbosity=0)
print(answer("SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database"))
"""
    assert run(home, script) == ["test_quarry 0", "postgres quarry template0 template1"]


@pytest.mark.parametrize("pool_checks", [False, True])
def test_a_pool_goes_on_after_its_server_was_killed_or_stopped(
    home: Path, *, pool_checks: bool
) -> None:
    script = """
answer("INSERT INTO note VALUES ('kept') RETURNING 1")
kill(ServerFolder(home / "postgres").server().pid)
print(answer("SELECT body FROM note"))
stop(ServerFolder(home / "postgres"))
print(answer("SELECT body FROM note"))
"""
    assert run(home, script, pool_checks=pool_checks) == ["kept", "kept"]


def test_a_server_that_cannot_start_is_a_database_error(home: Path) -> None:
    (folder_of(home).data / "PG_VERSION").write_text("16\n")
    script = """
from django.db import OperationalError
try:
    answer("SELECT 1")
except OperationalError as error:
    print(error)
"""
    assert "made by Postgres 16, and this is 18" in run(home, script)[0]


def test_the_database_shell_finds_the_server(home: Path) -> None:
    script = """
connection.client_class.executable_name = "/bin/echo"
call_command("dbshell")
"""
    assert run(home, script) == [f"-U quarry -h {home}/postgres/socket -p 5432 quarry"]
