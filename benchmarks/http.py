"""What a call costs over HTTP: first byte and whole body on one kept connection, and CPU."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np

from benchmarks import harness

CALLS, SMALL_CALLS = 200, 20
NOTES = 10
GAP_MS = 5
"""The body of a small answer comes within this of its head: more is Nagle's algorithm at work."""
MANAGE = [sys.executable, str(Path(__file__).resolve().parent.parent / "manage.py")]


@dataclass(frozen=True)
class Request:
    """One call, as it goes over the wire."""

    name: str
    raw: bytes


@dataclass(frozen=True)
class Server:
    """Where to call, with what token, and the processes whose CPU counts."""

    host: str
    port: int
    token: str
    pids: tuple[int, ...] = ()

    @property
    def connection(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=60)

    def request(self, name: str, path: str, body: Any = None) -> Request:
        sent = b"" if body is None else json.dumps(body).encode()
        lines = [
            f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            f"Authorization: Bearer {self.token}",
            "Accept: application/json, text/event-stream",
            "Content-Type: application/json",
            f"Content-Length: {len(sent)}",
        ]
        return Request(name, "\r\n".join([*lines, "", ""]).encode() + sent)

    def cpu(self) -> float:
        """CPU seconds so far of its processes and their children, by their own clocks."""
        family = [pid for parent in self.pids for pid in (parent, *_children(parent))]
        return sum(time.clock_gettime(clock_of(pid)) for pid in family)


def main() -> None:
    options = harness.parser(__doc__)
    options.add_argument("--url", help="a server that runs (default: one of its own)")
    options.add_argument("--token", help="a token of that server's with write")
    options.add_argument("--pid", type=int, action="append", help="its processes, for their CPU")
    given = options.parse_args()
    calls = SMALL_CALLS if given.small else CALLS
    if given.url:
        address = urlsplit(given.url)
        port = address.port or 80
        server = Server(str(address.hostname), port, given.token or "", tuple(given.pid or ()))
        rows = _measure_all(server, calls)
    else:
        with own_server(given.home / "http") as server:
            rows = _measure_all(server, calls)
    harness.show(f"{calls} calls on one connection", rows)
    harness.write_json(given, {"http": rows})
    assert all(row["body after head, p50 ms"] < GAP_MS for row in rows)


def _measure_all(server: Server, calls: int) -> list[harness.Row]:
    with server.connection as connection:
        for number in range(NOTES):
            _answer(connection, _note(server, number).raw)
    return [_measure(server, request, calls) for request in _requests(server)]


def _note(server: Server, number: int) -> Request:
    text = f"Note {number}: deploys of service {number} are on day {number % 7} of the week."
    body = {"kind": "text", "title": f"Note {number}", "text": text}
    return server.request("add", "/api/v1/ingest", body)


def _requests(server: Server) -> list[Request]:
    query = "deploys of service 3"
    arguments = {"query": query}
    params = {"name": "search_knowledge_base", "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    who = {**call, "params": {"name": "whoami", "arguments": {}}}
    return [
        server.request("/livez", "/livez"),
        server.request("REST whoami", "/api/v1/whoami"),
        server.request("REST search", f"/api/v1/search?query={quote(query)}"),
        server.request("MCP whoami", "/mcp", who),
        server.request("MCP search", "/mcp", call),
    ]


def _measure(server: Server, request: Request, calls: int) -> harness.Row:
    """The same call again and again on one connection, the first of them not counted."""
    with server.connection as connection:
        _answer(connection, request.raw)
        before = server.cpu()
        times = np.array([_answer(connection, request.raw) for _ in range(calls)]) * 1000
        spent = server.cpu() - before
    first, whole = times.T
    row: harness.Row = {
        "call": request.name,
        "first byte, p50 ms": float(np.median(first)),
        "whole body, p50 ms": float(np.median(whole)),
        "whole body, p95 ms": float(np.percentile(whole, 95)),
        "body after head, p50 ms": float(np.median(whole - first)),
        "worst ms": float(max(whole - first)),
    }
    return {**row, "CPU ms": spent / calls * 1000} if server.pids else row


def _answer(connection: socket.socket, raw: bytes) -> tuple[float, float]:
    """Seconds until the first byte of the answer, and until the last."""
    start = time.perf_counter()
    connection.sendall(raw)
    answer = connection.recv(65536)
    first = time.perf_counter() - start
    while not _is_whole(answer):
        more = connection.recv(65536)
        if not more:
            raise ConnectionError("The server hung up in the middle of an answer.")
        answer += more
    whole = time.perf_counter() - start
    if not re.match(rb"HTTP/1\.1 20\d ", answer):
        raise RuntimeError(answer.decode(errors="replace")[:1000])
    return first, whole


def _is_whole(answer: bytes) -> bool:
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    length = re.search(rb"(?i)^content-length: *(\d+)", head, re.MULTILINE)
    return len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n")


# A server of its own ------------------------------------------------------------------------


@contextmanager
def own_server(home: Path, **settings: str) -> Iterator[Server]:
    """`manage.py up` on a free port and an empty library, with its worker and its Postgres."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    own = {"QUARRY_HOME": str(home.resolve()), "QUARRY_RUN_FOLDER": str(home / "running")}
    up = subprocess.Popen(
        [*MANAGE, "up", "--port", "0"],
        env={**os.environ, **own, **settings},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        said = _said_until_up(up)
        token = re.search(r"qry_[\w-]+", said)
        port = re.search(r"http://localhost:(\d+)/mcp", said)
        if not token or not port:
            sys.exit("The server did not start; the lines above say why.")
        yield Server("127.0.0.1", int(port[1]), token[0], (up.pid, _postmaster(home)))
    finally:
        up.terminate()
        up.wait(60)


def _said_until_up(up: subprocess.Popen[str]) -> str:
    said = ""
    for line in up.stdout or ():
        said += line
        if "Ctrl-C" in line:
            break
    return said


def _postmaster(home: Path) -> int:
    first_line = (home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0]
    return int(first_line)


def _children(parent: int) -> list[int]:
    threads = Path(f"/proc/{parent}/task").iterdir()
    return [int(pid) for thread in threads for pid in (thread / "children").read_text().split()]


def clock_of(pid: int) -> int:
    """The id of another process's CPU clock, as clock_getcpuclockid(3) of Linux makes it."""
    return ~pid << 3 | 2


if __name__ == "__main__":
    main()
