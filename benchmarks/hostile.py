"""Five hostile owners on fifty connections, while one honest token searches and adds.

Prints how long the honest calls take, idle and under attack, how many fail, the memory of the web
process after two identical rounds, and the slowest health check.
"""

import io
import json
import multiprocessing
import os
import random
import socket
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from benchmarks import harness
from benchmarks.http import Server, own_server, run_in_product

OWNERS = 5
PER_OWNER = 10
MINUTES, SMALL_MINUTES = 5.0, 0.5
IDLE_SHARE = 0.2
"""Of a round: how long the honest calls are measured while nobody attacks."""
SETTLE_SEC = 20
HOLD_SEC = 15
"""How long an attacker keeps a connection on which nothing happens."""
PAUSE_SEC = 0.2
LIMITS = "add=1000000,search=1000000,export=1000000,import=1000000,contribute=1000000"
"""No hourly limit stops anybody: it would hide what a call does to the others."""


def main() -> None:
    options = harness.parser(__doc__)
    options.add_argument("--minutes", type=float, help=f"of each round (default: {MINUTES:g})")
    options.add_argument(
        "--attack", action="append", choices=ATTACKS, help="only this one (default: all)"
    )
    given = options.parse_args()
    minutes = given.minutes or (SMALL_MINUTES if given.small else MINUTES)
    attacks = given.attack or list(ATTACKS)
    with own_server(given.home / "hostile", QUARRY_LIMITS=LIMITS) as server:
        owners = _mint(given.home / "hostile", [f"hostile{n}" for n in range(OWNERS)])
        rows = list(_measure(server, owners, attacks, minutes * 60))
        title = f"{OWNERS * PER_OWNER} connections, rounds of {minutes:g} minutes"
        harness.show(title, rows)
        harness.write_json(given, {"hostile": rows})


def _measure(
    server: Server, tokens: list[str], attacks: list[str], seconds: float
) -> Iterator[harness.Row]:
    honest = Honest(server)
    honest.calls(10)  # what is loaded at the first call
    yield {"round": "idle", **honest.for_seconds(seconds * IDLE_SHARE), **_state(server)}
    for number in (1, 2):
        with _attackers(server, tokens, attacks) as answers:
            row = honest.for_seconds(seconds)
        time.sleep(SETTLE_SEC)
        said = Counter[str]()
        while not answers.empty():
            said.update(answers.get())
        told = ", ".join(f"{what} {count}" for what, count in said.most_common())
        yield {"round": f"attack {number}", **row, **_state(server), "attackers heard": told}


def _state(server: Server) -> harness.Row:
    return {"web PSS MB": _pss(server.web_pid), "load": os.getloadavg()[0]}


def _pss(pid: int) -> float:
    """The memory that is a process's own, and its share of what it has in common with others."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _mint(home: Path, names: list[str]) -> list[str]:
    """A new owner with a token of every toolset, for each name."""
    code = (
        "from django.contrib.auth.models import User\n"
        "from tokens.minting import TokenRequest, mint_token\n"
        f"for name in {names!r}:\n"
        "    owner = User.objects.create_user(name)\n"
        "    asked = TokenRequest(name=name, can_write=True, folder_ids=None,\n"
        "        toolsets=['library', 'memory', 'registry'])\n"
        "    print(mint_token(owner, asked)[1])\n"
    )
    return [line for line in run_in_product(home, code) if line.startswith("qry_")]


# The honest one ------------------------------------------------------------------------------


@dataclass
class Honest:
    """One token that searches and adds, one call after the other, and somebody who asks /livez."""

    server: Server
    added: int = 0
    times: dict[str, list[float]] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)

    def for_seconds(self, seconds: float) -> harness.Row:
        """Its calls for a while, and how they went."""
        self.times, self.failures = {"search": [], "add": [], "livez": []}, Counter()
        until = time.monotonic() + seconds
        watch = threading.Thread(target=self._watch, args=(until,))
        watch.start()
        while time.monotonic() < until:
            self.calls(1)
            time.sleep(PAUSE_SEC)
        watch.join()
        row: harness.Row = {}
        for name in ("search", "add"):
            times = np.array(self.times[name] or [float("nan")]) * 1000
            row |= {f"{name} p50 ms": float(np.percentile(times, 50))}
            row |= {f"{name} p99 ms": float(np.percentile(times, 99))}
        failed = ", ".join(f"{what} {count}" for what, count in self.failures.items())
        calls = sum(len(self.times[name]) for name in ("search", "add"))
        worst = max(self.times["livez"], default=float("nan")) * 1000
        return {**row, "calls": calls, "failed": failed or "none", "worst /livez ms": worst}

    def calls(self, count: int) -> None:
        for _ in range(count):
            self.added += 1
            day = self.added % 7
            text = f"Note {self.added}: deploys of service {self.added} are on day {day}."
            note = {"kind": "text", "title": f"Note {self.added}", "text": text}
            self._timed("add", "POST", "/api/v1/ingest", json.dumps(note))
            query = quote(f"deploys of service {self.added}")
            self._timed("search", "GET", f"/api/v1/search?query={query}")

    def _watch(self, until: float) -> None:
        while time.monotonic() < until:
            self._timed("livez", "GET", "/livez")
            time.sleep(0.5)

    def _timed(self, name: str, method: str, path: str, body: str | None = None) -> None:
        began = time.perf_counter()
        try:
            status, _ = _ask(self.server, self.server.token, method, path, body)
        except (OSError, HTTPException) as error:
            status = 0
            self.failures[f"{name}: {type(error).__name__}"] += 1
        self.times.setdefault(name, []).append(time.perf_counter() - began)
        if status >= 300:
            self.failures[f"{name}: {status}"] += 1


def _ask(
    server: Server, token: str, method: str, path: str, body: str | bytes | None = None, **more: str
) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json", **more}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    with closing(HTTPConnection(server.host, server.port, timeout=120)) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


# The hostile ones ----------------------------------------------------------------------------


@contextmanager
def _attackers(server: Server, tokens: list[str], attacks: list[str]) -> Iterator[Any]:
    """All connections at work, in a process of their own, for as long as this lasts."""
    answers: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=_attack, args=(server, tokens, attacks, answers))
    process.start()
    try:
        yield answers
    finally:
        process.terminate()
        process.join(30)


def _attack(server: Server, tokens: list[str], attacks: list[str], answers: Any) -> None:
    for number in range(len(tokens) * PER_OWNER):
        name = attacks[number % len(attacks)]
        token = tokens[number // PER_OWNER]
        args = (Server(server.host, server.port, token), name, answers)
        threading.Thread(target=_repeat, args=args, daemon=True).start()
    time.sleep(24 * 3600)


def _repeat(server: Server, name: str, answers: Any) -> None:
    while True:
        try:
            said = ATTACKS[name](server)
        except (OSError, HTTPException) as error:
            said = type(error).__name__
        answers.put([f"{name}: {said}"])
        time.sleep(0.05)


def _post(server: Server, path: str, body: Any) -> str:
    return str(_ask(server, server.token, "POST", path, json.dumps(body))[0])


def leave_export_unread(server: Server) -> str:
    """Row 1: ask for an export, and do not read it."""
    return _hold(server, f"GET /api/v1/export HTTP/1.1\r\nHost: localhost\r\n{_bearer(server)}\r\n")


def stop_in_a_body(server: Server) -> str:
    """Row 2: most of 8 MB to a route that wants a token, without one."""
    size = 8 * 1024 * 1024
    head = f"POST /api/v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"
    return _hold(server, head, b"x" * (size - 1))


def stop_in_a_header(server: Server) -> str:
    """Row 2: half a header."""
    return _hold(server, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: ")


def import_empty_lines(server: Server) -> str:
    """Row 3: an archive of 10 kB that unpacks to ten million lines with nothing in them."""
    kind = {"Content-Type": "application/zip"}
    return str(_ask(server, server.token, "POST", "/api/v1/import", _empty_lines(), **kind)[0])


@cache
def _empty_lines() -> bytes:
    """Made once, as attackers would: their own work is not what is measured."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        counts = {"folders": 0, "contents": 0, "items": 0}
        manifest = {"format": "quarry-export", "version": 1, "counts": counts}
        archive.writestr("manifest.json", json.dumps(manifest))
        for name in ("folders.jsonl", "items.jsonl"):
            archive.writestr(name, "")
        archive.writestr("contents.jsonl", b"\n" * 10_000_000)
    return out.getvalue()


def contribute_passwords(server: Server) -> str:
    """Row 4: a skill whose every line looks like a secret."""
    head = f"---\nname: skill-{random.random()}\ndescription: A skill to be screened.\n---\n"
    return _post(server, "/api/v1/skills", {"skill_md_content": head + _PASSWORDS})


_PASSWORDS = "".join(f"password{number}: \n" for number in range(20_000))


def add_long_text(server: Server) -> str:
    """Rows 5 and 7: a text as long as may be, of what screening has to look at."""
    text = f"{random.random()} " + "code is 1234 " * 38_000
    return _post(server, "/api/v1/ingest", {"kind": "text", "title": "Long", "text": text})


def add_nested_quotes(server: Server) -> str:
    """Row 8: quotes within quotes."""
    text = f"{random.random()} " + "> " * 200_000 + "end of it"
    return _post(server, "/api/v1/ingest", {"kind": "text", "title": "Nested", "text": text})


def contribute_over_mcp(server: Server) -> str:
    """Row 6: contributions over MCP, as many at once as there are connections."""
    body = "".join(f"## Step {number}\n\nDo it with care.\n\n" for number in range(20))
    head = f"---\nname: skill-{random.random()}\ndescription: A skill of many steps.\n---\n"
    params = {"name": "kp_contribute_skill", "arguments": {"skill_md_content": head + body}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accept = {"Accept": "application/json, text/event-stream"}
    status, said = _ask(server, server.token, "POST", "/mcp", json.dumps(call), **accept)
    return "busy" if b'"busy"' in said else str(status)


def search_without_end(server: Server) -> str:
    """The longest question there may be."""
    words = " ".join(f"service{random.randrange(10_000)}" for _ in range(800))
    return _post(server, "/api/v1/search", {"query": words[:10_000], "limit": 20})


def guess_tokens(server: Server) -> str:
    """Tokens that are none, with too many parameters."""
    many = "&".join(f"p{number}=1" for number in range(1_001))
    return str(_ask(server, "qry_" + "x" * 43, "GET", f"/api/v1/items?{many}")[0])


ATTACKS: dict[str, Callable[[Server], str]] = {
    attack.__name__: attack
    for attack in (
        leave_export_unread,
        stop_in_a_body,
        stop_in_a_header,
        import_empty_lines,
        contribute_passwords,
        add_long_text,
        add_nested_quotes,
        contribute_over_mcp,
        search_without_end,
        guess_tokens,
    )
}


def _bearer(server: Server) -> str:
    return f"Authorization: Bearer {server.token}\r\n"


def _hold(server: Server, said: str, more: bytes = b"") -> str:
    """Say something and then nothing, and read nothing, until the server hangs up or we tire."""
    with server.connection as connection:
        connection.settimeout(HOLD_SEC)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(said.encode())
        with suppress(TimeoutError):
            connection.sendall(more)
            time.sleep(HOLD_SEC)
        connection.setblocking(False)
        try:
            heard = connection.recv(100)
        except BlockingIOError:
            return "silence"
        return heard.decode(errors="replace").partition("\r\n")[0][9:12] or "closed"


if __name__ == "__main__":
    main()
