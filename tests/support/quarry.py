"""A whole Quarry without a key for the walk, and what people type and send beside it."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.support.running import MANAGE
from tests.support.waiting import DEADLINE, eventually
from tests.support.world import Product

READY = "Ctrl-C stops everything."


@dataclass
class Server(Product):
    """`manage.py up` as it comes, with commands, requests and tokens of its own."""

    def run(self, *command: str, stdin: str = "", cwd: Path | None = None) -> str:
        """What a command prints that is run beside the server and ends well."""
        return self.run_program([*MANAGE, *command], stdin=stdin, cwd=cwd)

    def run_program(
        self, program: list[str], *, stdin: str = "", cwd: Path | None = None, **settings: str
    ) -> str:
        ended = subprocess.run(
            program,
            env=self.environment | settings,
            input=stdin,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        told = f"{' '.join(program)}\n{ended.stdout}\n{ended.stderr}"
        assert ended.returncode == 0, told
        return ended.stdout

    @contextmanager
    def start(self, *command: str) -> Iterator[subprocess.Popen[str]]:
        """A command that serves until it is told to stop, which it does without an error."""
        with (self.home / f"err of {command[0]}").open("w+") as err:
            process = subprocess.Popen(
                [*MANAGE, *command],
                env=self.environment,
                stdin=subprocess.PIPE,
                stderr=err,
                text=True,
            )
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.terminate()
                process.communicate(timeout=DEADLINE)
            err.seek(0)
            assert "Traceback" not in err.read()

    def rest(self, method: str, route: str, token: str = "", **body: Any) -> Any:
        """The answer to a request that succeeds."""
        sent = json.dumps(body) if body else None
        status, answer = self.ask(method, f"/api/v1/{route}", token or self.token, sent)
        assert status < 300, answer
        return answer

    def mint(self, name: str, **fields: Any) -> str:
        """A token for the whole library with all tools, minted by the admin, signed in."""
        fields = {"is_unscoped": True, "can_write": True, "toolsets": TOOLSETS, **fields}
        with self.signed_in() as session:
            answer = session.post(
                f"{self.url}/api/v1/tokens",
                json={"name": name, **fields},
                headers={"X-CSRFToken": str(session.cookies["csrftoken"])},
                timeout=DEADLINE,
            )
        assert answer.status_code == 201, answer.text
        return str(answer.json()["token"])

    @contextmanager
    def signed_in(self) -> Iterator[requests.Session]:
        [password] = re.findall(r"admin password  (\S+)", self.said)
        login = f"{self.url}/accounts/login/"
        with requests.Session() as session:
            session.get(login, timeout=DEADLINE)
            form = {"login": "admin", "password": password}
            form |= {"csrfmiddlewaretoken": str(session.cookies["csrftoken"])}
            session.post(login, form, timeout=DEADLINE, allow_redirects=False)
            yield session

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def wait_for_jobs(self) -> None:
        with self.database() as database:
            working = "SELECT 1 FROM knowledge_job WHERE state <> 'dead' LIMIT 1"
            eventually(lambda: database.execute(working).fetchone() is None)


TOOLSETS = ["library", "memory", "registry"]


@contextmanager
def up(home: Path, may_fetch: str, *options: str, **settings: str) -> Iterator[Server]:
    """`manage.py up` with these options, until it is stopped as a service manager does."""
    settings = {"QUARRY_CRAWL_DELAY_SEC": "0", "QUARRY_WEB_PROCESSES": "2", **settings}
    server = Server(home, may_fetch=may_fetch, options=options, settings=settings)
    try:
        server.wait_for(READY)
        yield server
    finally:
        if server.process.poll() is None:
            server.stop(signal.SIGTERM)
