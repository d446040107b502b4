"""Two web processes behind one port: whichever answers, a caller sees one server."""

import os
import re
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from config.watcher import command_line
from tests.support.quarry import Server
from tests.support.waiting import DEADLINE, eventually

POOL = 20
"""The default of QUARRY_DB_POOL."""
SEARCHES = r'quarry_calls_total\{ask="search",edge="rest",.*\}'
TEXT = "Limestone of the second process is soft."


def test_what_a_token_does_through_either_counts_once(quarry: Server) -> None:
    token = quarry.mint("Twofold")
    before = counted(quarry, SEARCHES)
    left = []
    for web in quarry.web_pids() * 2:
        with alone(web, quarry):
            quarry.rest("GET", "search?query=limestone", token)
            left.append(quarry.rest("GET", "whoami", token)["limits"]["search"]["remaining"])
    assert left == [left[0] - number for number in range(4)]
    assert counted(quarry, SEARCHES) - before == 4
    eventually(lambda: searches_on_record(quarry, token) == 4)


def test_what_one_adds_the_other_finds(quarry: Server) -> None:
    first, second = quarry.web_pids()
    with alone(first, quarry):
        added = quarry.add(quarry.token, "Told to all", TEXT)["user_item_id"]
    with alone(second, quarry):
        assert added in quarry.search(quarry.token, "second process")


def test_the_pools_of_both_are_added_up_whichever_is_asked(quarry: Server) -> None:
    for web in quarry.web_pids():
        with alone(web, quarry):
            assert counted(quarry, "quarry_database_connections_max") == 2 * POOL


def test_a_token_that_is_revoked_is_refused_by_both(quarry: Server) -> None:
    token = quarry.mint("Revoked")
    first, second = quarry.web_pids()
    with alone(first, quarry):
        assert quarry.get("/api/v1/whoami", token)[0] == 200
    with quarry.database() as database:
        database.execute("UPDATE tokens_token SET revoked_at = now() WHERE name = 'Revoked'")
    for web in (first, second):
        with alone(web, quarry):
            assert quarry.get("/api/v1/whoami", token)[0] == 401


def test_one_that_is_killed_is_replaced_while_the_other_answers(quarry: Server) -> None:
    killed, left = quarry.web_pids()
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: command_line(killed) == b"")
    assert quarry.get("/livez") == (200, {"status": "ok"})
    eventually(lambda: len(quarry.web_pids()) == 2)
    [new] = set(quarry.web_pids()) - {left}
    with alone(new, quarry):
        assert quarry.get("/readyz") == (200, {"status": "ok"})


# Means --------------------------------------------------------------------------------------


@contextmanager
def alone(web: int, quarry: Server) -> Iterator[None]:
    """Only this one accepts connections."""
    others = [pid for pid in quarry.web_pids() if pid != web]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)


def counted(quarry: Server, sample: str) -> int:
    """The sum of what /metrics says of this sample."""
    with urllib.request.urlopen(f"{quarry.url}/metrics", timeout=DEADLINE) as answer:
        lines = answer.read().decode()
    return int(sum(map(float, re.findall(rf"^{sample} (\S+)$", lines, re.MULTILINE))))


def searches_on_record(quarry: Server, token: str) -> int:
    with quarry.database() as database:
        sql = (
            "SELECT count(*) FROM tokens_event JOIN tokens_token AS token ON token.id = token_id"
            " WHERE action = 'search' AND token.name = 'Twofold'"
        )
        [row] = database.execute(sql).fetchall()
    return int(row[0])
