"""The bundled Postgres with real servers: each user is a process that can be killed."""

import os
import signal
import stat
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from config.cluster import programs, server_account
from config.watcher import ServerFolder, is_held, try_lock
from tests.support.up import (
    REPOSITORY,
    User,
    as_nobody,
    cluster_state,
    failure,
    folder_of,
    kill,
    spawn,
    temporary_home,
    use,
    using,
    wait_until_stopped,
    watcher_pid,
)
from tests.support.waiting import DEADLINE, eventually

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def test_first_use_makes_a_database_that_knows_vectors(empty_home: Path) -> None:
    with using(empty_home) as user:
        user.sql("CREATE EXTENSION vector")
        assert user.sql("SELECT '[3,4]'::vector <-> '[0,0]'") == [[5.0]]
        assert user.sql("SHOW listen_addresses") == [[""]]
        assert user.sql("SHOW data_checksums") == [["on"]]


def test_full_text_search_knows_that_typographic_marks_are_no_letters(home: Path) -> None:
    with using(home) as user:
        words = user.sql("SELECT tsvector_to_array(to_tsvector('simple', '“Été” word—dash…'))")
    assert words == [[["dash", "word", "été"]]]


def test_processes_starting_at_once_on_an_empty_home_share_one_server(empty_home: Path) -> None:
    users = [User(process) for process in [spawn(empty_home) for _ in range(3)]]
    started = {str(user.sql("SELECT pg_postmaster_start_time()::text")) for user in users}
    assert len(started) == 1
    for user in users:
        user.leave()


def test_the_server_outlives_its_starter_and_stops_cleanly_after_the_last(home: Path) -> None:
    first = use(home)
    last = use(home)
    first.leave()
    assert last.sql("SELECT 1") == [[1]]
    last.leave()
    wait_until_stopped(home)
    assert cluster_state(home) == "shut down"
    assert folder_of(home).log.read_text().endswith("LOG:  database system is shut down\n")


def test_a_killed_user_loses_nothing_and_the_server_stops_after_it(home: Path) -> None:
    user = use(home)
    user.sql("INSERT INTO note VALUES ('kept')")
    user.kill()
    wait_until_stopped(home)
    assert cluster_state(home) == "shut down"
    with using(home) as user:
        assert user.sql("SELECT body FROM note") == [["kept"]]


def test_an_interrupt_at_the_terminal_of_the_starter_does_not_reach_the_server(home: Path) -> None:
    starter = use(home)
    with using(home) as user:
        started = user.sql("SELECT pg_postmaster_start_time()::text")
        os.killpg(starter.process.pid, signal.SIGINT)
        starter.leave()
        assert user.sql("SELECT pg_postmaster_start_time()::text") == started


def test_a_killed_watcher_is_replaced_at_the_next_connection(home: Path) -> None:
    with using(home) as user:
        kill(watcher_pid(home))
        eventually(lambda: not is_held(folder_of(home).watcher_lock))
        user.sql("INSERT INTO note VALUES ('kept')")
        assert is_held(folder_of(home).watcher_lock)
    wait_until_stopped(home)
    assert cluster_state(home) == "shut down"


def test_a_server_left_without_users_and_watcher_is_joined(home: Path) -> None:
    user = use(home)
    started = user.sql("SELECT pg_postmaster_start_time()::text")
    kill(watcher_pid(home))
    user.kill()
    with using(home) as user:
        assert user.sql("SELECT pg_postmaster_start_time()::text") == started


def test_a_killed_postmaster_is_replaced_under_a_living_process(home: Path) -> None:
    with using(home) as user:
        user.sql("INSERT INTO note VALUES ('kept')")
        kill(folder_of(home).server().pid)
        assert user.sql("SELECT body FROM note") == [["kept"]]


def test_a_query_that_outlives_a_killed_postmaster_does_not_block_the_next(home: Path) -> None:
    with using(home) as watching, ExitStack() as cleanup:
        busy = use(home)
        cleanup.callback(busy.leave)
        assert busy.process.stdin
        print("DO 'BEGIN LOOP END LOOP; END'", file=busy.process.stdin, flush=True)
        running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %'"
        eventually(lambda: watching.sql(running) == [[1]])
        kill(folder_of(home).server().pid)
        assert watching.sql("SELECT count(*) FROM note") == [[0]]


def test_a_process_number_in_use_by_another_program_is_not_taken_for_a_server(home: Path) -> None:
    user = use(home)
    kill(watcher_pid(home))
    kill(folder_of(home).server().pid)
    user.kill()
    # As after a power loss: the file is there, and its number is now a process of the same user.
    record = folder_of(home).data / "postmaster.pid"
    for_longer = str(2 * DEADLINE)  # than anybody here waits
    sleep = subprocess.Popen(["sleep", for_longer], **server_account().spawn_options())
    with sleep as other, ExitStack() as cleanup:
        cleanup.callback(other.kill)
        record.write_text(f"{other.pid}\n" + record.read_text().partition("\n")[2])
        with using(home) as user:
            assert user.sql("SELECT count(*) FROM note") == [[0]]


def test_a_process_killed_while_it_makes_the_database_leaves_no_half_of_one(
    empty_home: Path,
) -> None:
    first = spawn(empty_home)
    eventually((folder_of(empty_home).root / "data.draft" / "base").exists)
    first.kill()
    first.communicate()
    with using(empty_home) as user:
        assert user.sql("SELECT current_database()") == [["quarry"]]
    assert not (folder_of(empty_home).root / "data.draft").exists()


def test_a_forked_child_keeps_the_server_after_its_parent(home: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from config.embedded import ensure_running
ensure_running(Path(sys.argv[1]), grace=0)
if os.fork() == 0:
    sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", script, home], stdin=subprocess.PIPE, cwd=REPOSITORY
    )
    assert parent.wait() == 0
    assert not is_held(folder_of(home).users_lock)  # not exclusively, as by a stopping watcher
    with try_lock(folder_of(home).users_lock) as unused:
        assert unused is None
    assert folder_of(home).server().state == "ready"
    parent.communicate()
    wait_until_stopped(home)


def test_looking_for_orphans_leaves_a_living_server_alone(made_home: Path) -> None:
    with using(made_home) as user:
        assert user.sql("SELECT count(*) FROM note") == [[0]]
        ServerFolder(made_home.resolve() / "postgres").end_orphans()
        assert user.sql("SELECT count(*) FROM note") == [[0]]


@pytest.mark.parametrize("name", ["long" * 30, "with space", "comma,quote'dollar$\"\\"])
def test_any_name_of_a_home_works(made_home: Path, name: str) -> None:
    wait_until_stopped(made_home)
    with temporary_home() as parent:
        home = parent / name
        parent.mkdir()
        subprocess.run(["cp", "-a", made_home, home], check=True)
        with using(home) as user:
            assert user.sql("SELECT count(*) FROM note") == [[0]]
            sockets = Path(user.connection["host"])
            assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        wait_until_stopped(home)
        sockets.rmdir()


def test_a_home_that_cannot_be_written_is_named_with_what_to_do(empty_home: Path) -> None:
    empty_home.write_text("a file where a folder should be")
    assert f"cannot use {empty_home}/postgres: [Errno 20]" in (errors := failure(empty_home))
    assert "set QUARRY_HOME to another folder" in errors
    empty_home.unlink()


def test_data_of_another_version_of_postgres_is_left_alone(home: Path) -> None:
    (folder_of(home).data / "PG_VERSION").write_text("16\n")
    assert "made by Postgres 16, and this is 18" in failure(home)


def test_a_server_that_does_not_start_shows_the_end_of_its_log(home: Path) -> None:
    errors = failure(home, shared_buffers="plenty")
    assert "does not start" in errors
    assert 'invalid value for parameter "shared_buffers": "plenty"' in errors


@needs_root
def test_another_user_runs_a_server_of_its_own(empty_home: Path) -> None:
    empty_home.mkdir()
    os.chown(empty_home, 65534, 65534)
    with using(empty_home, prefix=as_nobody()) as user:
        user.sql("CREATE EXTENSION vector")
        assert folder_of(empty_home).data.stat().st_uid == 65534
        assert stat.S_IMODE(folder_of(empty_home).root.stat().st_mode) == 0o700
    wait_until_stopped(empty_home)
    assert "belongs to nobody. Run Quarry as that user" in failure(empty_home)


@needs_root
def test_the_home_of_root_is_refused_to_another_user(home: Path) -> None:
    assert "belongs to root. Run Quarry as that user" in failure(home, prefix=as_nobody())


@needs_root
def test_the_socket_of_root_is_out_of_reach_for_other_users(home: Path) -> None:
    with using(home) as user:
        look = ["ls", user.connection["host"]]
        assert subprocess.run(look, user=65534, capture_output=True).returncode != 0


@needs_root
def test_a_closed_folder_above_is_opened_only_for_passing_through(made_home: Path) -> None:
    wait_until_stopped(made_home)
    with temporary_home() as closed:
        closed.mkdir(mode=0o700)
        subprocess.run(["cp", "-a", made_home, closed / "home"], check=True)
        with using(closed / "home") as user:
            assert user.sql("SELECT 1") == [[1]]
        assert stat.S_IMODE(closed.stat().st_mode) == 0o701
        wait_until_stopped(closed / "home")


@needs_root
def test_programs_that_the_server_account_cannot_reach_are_copied(home: Path) -> None:
    closed = home.with_name("packages")
    closed.mkdir(mode=0o700)
    package = programs(folder_of(home), server_account()).parents[1]
    for source in (package, package.with_name(f"{package.name}.libs")):
        (closed / source.name).symlink_to(source)
    with using(home, path=closed) as user:
        user.sql("CREATE EXTENSION vector")
        settings = user.sql("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
        assert str(settings[0][0]).startswith(str(home))
