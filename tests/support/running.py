"""Quarry as people and service managers run it: a real process with a data folder of its own."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from config.cluster import DATABASE, USER, socket_folder
from config.watcher import command_line
from tests.support.up import REPOSITORY, folder_of
from tests.support.waiting import DEADLINE, eventually

MANAGE = [sys.executable, str(REPOSITORY / "manage.py")]
STOP_SEC = 60
"""Seconds until a process that was told to stop is killed: many times what it needs."""
OURS = ("QUARRY_", "VOYAGE_", "DATABASE_URL", "REDIS_URL")


@dataclass
class Quarry:
    """`manage.py up` on some free port."""

    home: Path
    process: subprocess.Popen[str] = field(init=False)
    settings: dict[str, str] = field(default_factory=dict, kw_only=True)
    options: tuple[str, ...] = field(default=(), kw_only=True)
    ignores_interrupts: bool = field(default=False, kw_only=True)
    """Whether it starts as in the background of a script, with SIGINT ignored."""

    def __post_init__(self) -> None:
        self.home.mkdir(exist_ok=True)
        with (self.home / "out").open("w") as out, (self.home / "err").open("w") as err:
            command = [*MANAGE, "up", "--port", "0", *self.options]
            if self.ignores_interrupts:
                command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
            self.process = subprocess.Popen(
                command, env=self.environment, stdout=out, stderr=err, text=True
            )

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.home) | self.settings

    @property
    def said(self) -> str:
        return (self.home / "out").read_text()

    @property
    def complained(self) -> str:
        return (self.home / "err").read_text()

    @property
    def token(self) -> str:
        [token] = re.findall(r"qry_[\w-]+", self.said)
        return str(token)

    def wait_for(self, words: str) -> None:
        eventually(lambda: words in self.said or self.process.poll() is not None)
        assert self.process.poll() is None, self.complained

    def stop(self, number: int) -> None:
        self.process.send_signal(number)
        try:
            self.process.wait(STOP_SEC)
        except subprocess.TimeoutExpired:
            self.process.kill()  # or its Postgres, and whoever waits for that, would go on for ever
            self.process.wait(STOP_SEC)
            raise AssertionError(f"It did not stop at signal {number}.") from None

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def worker_pid(self) -> int:
        """The worker, once it waits for jobs."""
        listening = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'quarry worker%'"
        with self.database() as database:
            eventually(lambda: rows(database, listening))
        [pid] = [pid for pid in children(self.process.pid) if b"worker" in command_line(pid)]
        return pid

    def web_pids(self) -> list[int]:
        """The web processes where there are several: forked, so they are called as it is."""
        own = command_line(self.process.pid)
        return [pid for pid in children(self.process.pid) if command_line(pid) == own]

    def get(self, path: str, token: str = "") -> tuple[int, Any]:
        return self.ask("GET", path, token)

    def add(self, token: str, title: str, text: str) -> Any:
        body = json.dumps({"kind": "text", "title": title, "text": text})
        status, answer = self.ask("POST", "/api/v1/ingest", token, body)
        assert status == 201, answer
        return answer

    def search(self, token: str, query: str) -> list[str]:
        status, answer = self.get(f"/api/v1/search?query={quote(query)}", token)
        assert status == 200, answer
        return [hit["user_item_id"] for hit in answer["results"]]

    def ask(self, method: str, path: str, token: str, body: str | None = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    @property
    def port(self) -> int:
        [port] = re.findall(r"^  MCP    http://localhost:(\d+)/mcp$", self.said, re.MULTILINE)
        return int(port)

    @contextmanager
    def database(self) -> Iterator[psycopg.Connection[Any]]:
        """A look at the tables that does not keep the server alive."""
        host = str(socket_folder(folder_of(self.home)))
        with psycopg.connect(
            host=host, port=5432, user=USER, dbname=DATABASE, autocommit=True
        ) as connection:
            yield connection


@contextmanager
def running(home: Path, **settings: str) -> Iterator[Quarry]:
    quarry = Quarry(home, settings=settings)
    try:
        quarry.wait_for("Ctrl-C stops everything.")
        yield quarry
    finally:
        if quarry.process.poll() is None:
            quarry.stop(signal.SIGTERM)


def manage(home: Path, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MANAGE, *command],
        env={**environment(home), **settings},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def environment(home: Path) -> dict[str, str]:
    """Nobody's settings but the product's own, and an embedder that takes no time."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    own = {"QUARRY_HOME": str(home), "QUARRY_EMBEDDER": "fake"}
    own |= {"QUARRY_RUN_FOLDER": str(home / "running"), "QUARRY_WEB_PROCESSES": "1"}
    return {**kept, **own, "DJANGO_SETTINGS_MODULE": "config.settings"}


def children(parent: int) -> list[int]:
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [pid for pid in pids if parent_of(pid) == parent]


def parent_of(pid: int) -> int:
    try:
        after_the_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except OSError:
        return 0
    return int(after_the_name.split()[1])


def prose(size: int) -> str:
    """So many characters, in sentences and paragraphs that differ."""
    sentences = (
        f"Sentence {number} is about subject {number % 97}.{NEW_PARAGRAPH[number % 10]}"
        for number in range(size // 20)
    )
    return "".join(sentences)[: size - 1] + "."


NEW_PARAGRAPH = ["\n\n", *[" "] * 9]


def rows(database: psycopg.Connection[Any], sql: str) -> list[tuple[Any, ...]]:
    return list(database.execute(sql).fetchall())


def forget_peak(quarry: Quarry) -> None:
    Path(f"/proc/{quarry.process.pid}/clear_refs").write_text("5")


def memory(quarry: Quarry, name: str) -> int:
    """In kilobytes."""
    lines = Path(f"/proc/{quarry.process.pid}/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(name)]
    return int(line.split()[1])
