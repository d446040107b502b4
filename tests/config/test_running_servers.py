"""Commands typed beside a server of the same checkout."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env, running_servers
from config.running_servers import RunningServer, home_of_running_server, register_server
from tests.support.up import REPOSITORY

SERVER = """
import sys
from pathlib import Path
from config.running_servers import RunningServer, register_server
import os
with register_server(Path(sys.argv[1]), RunningServer(os.getpid(), sys.argv[2], sys.argv[3:])):
    print("up", flush=True)
    sys.stdin.read()
"""


@contextmanager
def server(folder: Path, home: str, *settings: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder), home, *settings],
        cwd=REPOSITORY,
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["manage.py", "search", "x"])


def test_a_command_uses_the_library_of_the_running_server_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(tmp_path, "/data/kb"):
        assert env.home_beside(tmp_path, Path("/checkout/var")) == "/data/kb"
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "Using the library of the running server: /data/kb\n")


def test_a_server_that_uses_the_usual_folder_is_not_worth_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(tmp_path, "/checkout/var"):
        assert env.home_beside(tmp_path, Path("/checkout/var")) == "/checkout/var"
    assert capsys.readouterr().err == ""


def test_a_killed_server_is_not_running_and_the_next_removes_its_note(tmp_path: Path) -> None:
    with server(tmp_path, "/data/kb"):
        pass
    assert len(list(tmp_path.iterdir())) == 1
    assert home_of_running_server(tmp_path, ()) == ""
    with register_server(tmp_path, RunningServer(os.getpid(), "/data/other", [])):
        assert [path.name for path in tmp_path.iterdir()] == [f"{os.getpid()}.json"]
    assert list(tmp_path.iterdir()) == []


def test_of_two_servers_with_different_libraries_the_person_must_choose(tmp_path: Path) -> None:
    with (
        server(tmp_path, "/data/one"),
        server(tmp_path, "/data/two"),
        pytest.raises(
            ImproperlyConfigured, match=r"QUARRY_HOME to one of .*: /data/one, /data/two"
        ),
    ):
        home_of_running_server(tmp_path, ())


def test_a_command_that_would_act_on_another_database_stops_and_names_the_setting(
    tmp_path: Path,
) -> None:
    with server(tmp_path, "/data/kb", "DATABASE_URL"):
        with pytest.raises(ImproperlyConfigured, match="has DATABASE_URL, which this shell lacks"):
            home_of_running_server(tmp_path, ())
        assert home_of_running_server(tmp_path, {"DATABASE_URL"}) == "/data/kb"


@pytest.mark.parametrize(
    "argv", [["manage.py", "up"], ["manage.py", "worker", "--with-parent"], ["pytest"], []]
)
def test_servers_and_other_programs_follow_nobody(
    tmp_path: Path, argv: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    with server(tmp_path, "/data/kb"):
        assert home_of_running_server(tmp_path, ()) == ""


def test_a_command_knows_where_the_server_of_its_own_library_listens(tmp_path: Path) -> None:
    here = RunningServer(os.getpid(), "/data/kb", [], "http://localhost:8123")
    with register_server(tmp_path, here):
        assert env.address_beside(tmp_path, Path("/data/kb")) == "http://localhost:8123"
        assert env.address_beside(tmp_path, Path("/data/other")) == ""
    assert env.address_beside(tmp_path, Path("/data/kb")) == ""


def test_a_checkout_that_cannot_be_written_to_serves_without_a_note() -> None:
    with register_server(Path("/proc/nowhere"), RunningServer(1, "/data/kb", [])):
        assert list(running_servers._live_servers(Path("/proc/nowhere"))) == []
