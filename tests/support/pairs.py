"""Two writes at once: the second comes while the first has not been committed."""

import json
import threading
import time
from dataclasses import dataclass
from typing import Any

from django.db import Error, connection, transaction

from tests.support.library import Minted

Call = tuple[str, str, dict[str, Any]]
"""A method, a path below `/api/v1/`, and a body."""

POLL_SEC = 0.005
LONGEST_SEC = 30.0


@dataclass(frozen=True)
class Outcome:
    """How a write ended: its status, or the database's error when it was committed."""

    status: int
    problem: str = ""

    @property
    def is_broken(self) -> bool:
        return self.status >= 500


def run_pair(first: tuple[Minted, Call], second: tuple[Minted, Call]) -> tuple[Outcome, Outcome]:
    """Run the first, and the second before the first commits; whoever must wait may."""
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(_send_alone(*second)))
    try:
        with transaction.atomic():
            before = _send(*first)
            thread.start()
            _wait_until_done_or_blocked(thread)
    except Error as error:
        before = Outcome(500, f"{type(error).__name__} at its commit: {error}")
    thread.join(LONGEST_SEC)
    assert not thread.is_alive(), f"{second[1][:2]} does not end"
    return before, outcomes[0]


def _send_alone(token: Minted, call: Call) -> Outcome:
    try:
        return _send(token, call)
    finally:
        connection.close()


def _send(token: Minted, call: Call) -> Outcome:
    method, path, body = call
    client = token.client
    client.raise_request_exception = False
    sent = json.dumps(body)
    answer = client.generic(method, f"/api/v1/{path}", sent, content_type="application/json")
    problem = answer.content.decode()[:300] if answer.status_code >= 500 else ""
    return Outcome(answer.status_code, problem)


def _wait_until_done_or_blocked(thread: threading.Thread) -> None:
    deadline = time.monotonic() + LONGEST_SEC
    while thread.is_alive() and not _blocks_anyone():
        assert time.monotonic() < deadline, "The second neither ends nor waits for the first."
        time.sleep(POLL_SEC)


def _blocks_anyone() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() "
            "AND wait_event_type = 'Lock' AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])
