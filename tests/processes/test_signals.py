"""Quarry as people and service managers run it: real processes, stopped and killed."""

import http.client
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from config.watcher import command_line
from tests.support.running import Quarry, manage, prose, rows, running
from tests.support.up import copied_home, temporary_home, wait_until_stopped
from tests.support.waiting import eventually

ONE, SEVERAL = {"QUARRY_WEB_PROCESSES": "1"}, {"QUARRY_WEB_PROCESSES": "2"}
STANDUP = "Decisions: ship the API docs. The folder rename is deferred to June."


# Starting and stopping -------------------------------------------------------------------


def test_the_first_start_tells_its_secrets_once_and_the_next_finds_what_was_added(
    empty_home: Path,
) -> None:
    with running(empty_home) as first:
        assert re.search(r"^  admin password  \S{12,}$", first.said, re.MULTILINE)
        token = first.token
        assert first.get("/readyz") == (200, {"status": "ok"})
        added = first.add(token, "Standup", STANDUP)
        assert added["index_status"] == "done"
        assert first.search(token, "folder rename") == [added["user_item_id"]]
        worker = first.worker_pid()
        first.stop(signal.SIGINT)
        assert_all_ended(first, worker)
    with running(empty_home, **SEVERAL) as second:
        assert not re.search("password|qry_", second.said)
        assert second.search(token, "folder rename") == [added["user_item_id"]]
        worker = second.worker_pid()
        second.stop(signal.SIGTERM)
        assert_all_ended(second, worker)


def assert_all_ended(quarry: "Quarry", worker: int) -> None:
    assert quarry.process.returncode == 0
    assert quarry.said.endswith("Stopped.\n")
    assert quarry.complained == ""
    assert command_line(worker) == b""
    wait_until_stopped(quarry.home)


def test_an_interrupt_while_it_prepares_is_no_error(empty_home: Path) -> None:
    quarry = Quarry(empty_home)
    quarry.wait_for("Preparing the database…")
    quarry.stop(signal.SIGINT)
    assert quarry.process.returncode == 0
    assert (quarry.said.endswith("Stopped.\n"), quarry.complained) == (True, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_from_its_first_line_on_also_where_a_script_had_interrupts_ignored(
    empty_home: Path, number: int
) -> None:
    quarry = Quarry(empty_home, ignores_interrupts=True)
    # A process that the shell is not in yet has no command line and ignores nothing.
    eventually(lambda: command_line(quarry.process.pid).startswith(os.fsencode(sys.executable)))
    eventually(lambda: not ignores_interrupts(quarry.process.pid))
    assert not (empty_home / "secret_key").exists(), "Settings were read before."
    quarry.stop(number)
    assert quarry.process.returncode in (130, -signal.SIGTERM)
    assert (quarry.said, quarry.complained) == ("", "")


def ignores_interrupts(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    [mask] = re.findall(r"^SigIgn:\s+(\w+)$", status, re.MULTILINE)
    return bool(int(mask, 16) & 1 << (signal.SIGINT - 1))


@pytest.mark.parametrize("port", ["taken", "99999"])
def test_a_port_that_cannot_be_used_is_told_in_a_line_before_anything_is_set_up(
    empty_home: Path, port: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = port if port.isdigit() else str(taken.getsockname()[1])
        ended = manage(empty_home, "up", "--port", number)
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line.startswith(f"CommandError: Port {number} on 127.0.0.1 cannot be used (")
    assert not (empty_home / "postgres").exists()


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("QUARRY_EMBEDDER", "abacus", "There is no embedder 'abacus'; there are: fake,"),
        ("QUARRY_PRODUCTION", "1", "Set QUARRY_SECRET_KEY to a long random string"),
        ("QUARRY_BROKER_URL", "kafka://host", "QUARRY_BROKER_URL: there are no jobs over 'kafka'"),
        ("QUARRY_HOME", "/proc/nowhere", "The data folder /proc/nowhere cannot be used: "),
    ],
)
def test_a_wrong_setting_is_told_in_a_line(
    empty_home: Path, setting: str, value: str, told: str
) -> None:
    ended = manage(empty_home, "up", "--port", "0", **{setting: value})
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line.startswith(f"Quarry cannot start: {told}")


def test_mcp_over_stdio_without_a_token_says_what_to_do_and_ends(empty_home: Path) -> None:
    ended = manage(empty_home, "mcp_server", "--transport", "stdio")
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line == "CommandError: Set QUARRY_TOKEN to a token; `manage.py mint_token` makes one."


# Being killed ----------------------------------------------------------------------------


def test_a_killed_quarry_takes_its_processes_along_and_what_it_added_is_whole_or_not_there(
    home: Path, token: str
) -> None:
    promised: list[str] = []
    for settings, count in ((ONE, 1), (SEVERAL, 3)):
        with running(home, **settings) as killed, ThreadPoolExecutor() as pool:
            assert_whole(killed, promised)
            processes = [killed.worker_pid(), *killed.web_pids()]
            assert len(processes) == count
            for client in range(4):
                pool.submit(keep_adding, killed, token, client, promised)
            wait_for_more(promised, 8)
            killed.kill()
            wait_until_gone(processes)
    with running(home) as again:
        assert_whole(again, promised)
        assert again.search(token, "a sentence about a subject")


def assert_whole(quarry: "Quarry", promised: list[str]) -> None:
    """Right now, when jobs may be waiting, and when they are done."""
    with quarry.database() as database:
        assert set(promised) <= {str(row[0]) for row in rows(database, ITEMS)}
        assert rows(database, BROKEN) == []
        eventually(lambda: rows(database, NOT_EMBEDDED) == [])
        assert rows(database, BROKEN) == []


def wait_until_gone(processes: list[int]) -> None:
    eventually(lambda: not any(map(command_line, processes)))


def wait_for_more(promised: list[str], count: int) -> None:
    enough = len(promised) + count
    eventually(lambda: len(promised) >= enough)


def keep_adding(quarry: "Quarry", token: str, client: int, promised: list[str]) -> None:
    """Add short texts, which are embedded at once, and long ones, which are left to a job."""
    sizes = [40, 60_000, 500_000, 4_000, 20_000]
    try:
        while True:
            title = f"{client}: {len(promised)}"
            size = sizes[(client + len(promised)) % len(sizes)]
            promised.append(quarry.add(token, title, prose(size))["user_item_id"])
    except (OSError, http.client.HTTPException):
        return


def test_a_killed_workers_embeddings_are_finished_by_another_and_none_is_made_twice(
    home: Path, token: str
) -> None:
    with running(home) as quarry, quarry.database() as database:
        database.execute(GATE_AFTER_THE_FIRST_VECTORS)
        with quarry.database() as gate:
            gate.execute("SELECT pg_advisory_lock(1)")
            item = quarry.add(token, "Long", prose(500_000))
            assert item["index_status"] == "keyword"
            eventually(
                lambda: rows(database, "SELECT count(*) FROM knowledge_chunkembedding")[0][0]
            )
            worker = quarry.worker_pid()
            os.kill(worker, signal.SIGKILL)
        eventually(lambda: rows(database, "SELECT 1 FROM knowledge_job") == [])
        assert quarry.worker_pid() != worker
        [(status, chunks)] = rows(database, "SELECT index_status, chunk_count FROM knowledge_item")
        assert (status, chunks > 512) == ("done", True)
        embedded = "SELECT count(*), count(DISTINCT chunk_id) FROM knowledge_chunkembedding"
        assert rows(database, embedded) == [(chunks, chunks)]
        assert rows(database, BROKEN) == []


# Whoever wants to write a vector behind those that are written first waits for the gate to open.
GATE_AFTER_THE_FIRST_VECTORS = """
CREATE FUNCTION wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT position FROM knowledge_chunk WHERE id = NEW.chunk_id) >= 512 THEN
        PERFORM pg_advisory_xact_lock_shared(1);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER gate BEFORE INSERT ON knowledge_chunkembedding
    FOR EACH ROW EXECUTE FUNCTION wait_at_the_gate();
"""
ITEMS = "SELECT id FROM knowledge_item"
NOT_EMBEDDED = "SELECT id FROM knowledge_item WHERE index_status <> 'done'"
BROKEN = """
SELECT 'item', item.id::text FROM knowledge_item AS item,
    LATERAL (SELECT count(*) AS chunks FROM knowledge_chunk WHERE item_id = item.id) AS c,
    LATERAL (SELECT count(*) AS texts FROM knowledge_chunktext WHERE item_id = item.id) AS t,
    LATERAL (SELECT count(*) AS vectors, count(DISTINCT chunk_id) AS embedded
        FROM knowledge_chunkembedding WHERE item_id = item.id) AS v,
    LATERAL (SELECT count(*) AS jobs FROM knowledge_job
        WHERE convert_from(message, 'UTF8') LIKE '%' || item.id || '%' AND state <> 'dead') AS j
WHERE chunk_count = 0 OR chunk_count <> chunks OR chunk_count <> texts OR vectors <> embedded
    OR CASE index_status WHEN 'done' THEN vectors <> chunks WHEN 'keyword' THEN jobs = 0
        ELSE true END
UNION ALL
SELECT 'content', id::text FROM knowledge_content
WHERE id NOT IN (SELECT content_id FROM knowledge_item)
UNION ALL
SELECT 'chunk', id::text FROM knowledge_chunk WHERE item_id NOT IN (SELECT id FROM knowledge_item)
UNION ALL
SELECT 'text', chunk_id::text FROM knowledge_chunktext
WHERE chunk_id NOT IN (SELECT id FROM knowledge_chunk)
UNION ALL
SELECT 'vector', chunk_id::text FROM knowledge_chunkembedding
WHERE chunk_id NOT IN (SELECT id FROM knowledge_chunk)
"""


# Means -----------------------------------------------------------------------------------


@pytest.fixture
def empty_home() -> Iterator[Path]:
    with temporary_home() as home:
        yield home


@dataclass(frozen=True)
class UsedBefore:
    home: Path
    token: str


@pytest.fixture(scope="module")
def used_before(migrated_home: Path) -> Iterator[UsedBefore]:
    with copied_home(migrated_home) as home:
        with running(home) as quarry:
            token = quarry.token
            quarry.stop(signal.SIGTERM)
        wait_until_stopped(home)
        yield UsedBefore(home, token)


@pytest.fixture
def home(used_before: UsedBefore) -> Iterator[Path]:
    """A data folder of its own that is set up and empty."""
    with copied_home(used_before.home) as home:
        yield home


@pytest.fixture
def token(used_before: UsedBefore) -> str:
    return used_before.token
