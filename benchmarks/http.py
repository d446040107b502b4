"""What a call costs over HTTP: first byte and whole body on one kept connection, and CPU."""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np

from benchmarks import harness
from knowledge.asks import Ask

CALLS, SMALL_CALLS, WARM = 200, 20, 10
NOTES = 10
GAP_MS = 5
"""The body of a small answer comes within this of its head: more is Nagle's algorithm at work."""
MANAGE = [sys.executable, str(Path(__file__).resolve().parent.parent / "manage.py")]


@dataclass(frozen=True)
class Request:
    """One call, as it goes over the wire; the n-th time it may say something else."""

    name: str
    raw: Callable[[int], bytes]
    status: int = 200


@dataclass(frozen=True)
class Server:
    """Where to call, with what token, and the processes whose CPU counts."""

    host: str
    port: int
    token: str
    web_pid: int = 0
    postgres_pid: int = 0

    @property
    def connection(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=60)

    def request(
        self, name: str, path: str, body: Any = None, *, status: int = 200, token: str = ""
    ) -> Request:
        """A call; of a body that is a function, each time another one."""

        def write(number: int) -> bytes:
            content = body(number) if callable(body) else body
            sent = b"" if content is None else json.dumps(content).encode()
            lines = [
                f"{'GET' if content is None else 'POST'} {path} HTTP/1.1",
                f"Host: {self.host}:{self.port}",
                f"Authorization: Bearer {token or self.token}",
                "Accept: application/json, text/event-stream",
                "Content-Type: application/json",
                f"Content-Length: {len(sent)}",
            ]
            return "\r\n".join([*lines, "", ""]).encode() + sent

        return Request(name, write, status)

    def tool(self, name: str, tool: str, arguments: Any) -> Request:
        """A call of a tool over MCP."""

        def call(number: int) -> Any:
            given = arguments(number) if callable(arguments) else arguments
            return _message("tools/call", {"name": tool, "arguments": given})

        return self.request(name, "/mcp", call)

    @property
    def web_pids(self) -> list[int]:
        """The web processes, of which the first has made the others."""
        children = _children(self.web_pid)
        return [self.web_pid, *(pid for pid in children if _command(pid) == _command(self.web_pid))]

    def cpu(self) -> np.ndarray[Any, Any]:
        """CPU seconds so far by their own clocks: of web processes, their children, Postgres."""
        web = self.web_pids
        others = {child for pid in web for child in _children(pid)}.difference(web)
        family = (
            web,
            others,
            [self.postgres_pid, *_children(self.postgres_pid)] if self.postgres_pid else [],
        )
        return np.array([sum(map(_cpu_of, pids)) for pids in family])


def main() -> None:
    options = harness.parser(__doc__)
    options.add_argument("--url", help="a server that runs (default: one of its own)")
    options.add_argument("--token", help="a token of that server's with write")
    options.add_argument("--pids", type=int, nargs=2, help="its web process and its postmaster")
    given = options.parse_args()
    calls = SMALL_CALLS if given.small else CALLS
    if given.url:
        address = urlsplit(given.url)
        port = address.port or 80
        server = Server(str(address.hostname), port, given.token or "", *(given.pids or ()))
        rows = _measure_all(server, calls)
    else:
        limits = ",".join(f"{ask}=1000000" for ask in Ask)
        with own_server(given.home / "http", QUARRY_LIMITS=limits) as server:
            rows = _measure_all(server, calls)
    harness.show(f"{calls} calls on one connection", rows)
    harness.write_json(given, {"http": rows})
    assert all(row["body after head, p50 ms"] < GAP_MS for row in rows)


def _measure_all(server: Server, calls: int) -> list[harness.Row]:
    added = server.request("add", "/api/v1/ingest", _note, status=201)
    with server.connection as connection:
        for number in range(NOTES):
            answer, _, _ = answer_of(connection, added, number)
    item_id = json.loads(answer.partition(b"\r\n\r\n")[2])["user_item_id"]
    return [_measure(server, request, calls) for request in _requests(server, item_id)]


def _note(number: int) -> Any:
    text = f"Note {number}: deploys of service {number} are on day {number % 7} of the week."
    return {"kind": "text", "title": f"Note {number}", "text": text}


_WORDS = (
    *("deploy", "service", "granite", "river", "market", "window", "paper", "quiet", "north"),
    *("release", "budget", "team", "lamp", "stone", "garden", "winter", "code", "review"),
)


def _sentence(words: int) -> str:
    """Another one each time; long numbers would be many tokens, which no note is made of."""
    return " ".join(random.choices(_WORDS, k=words)).capitalize() + "."


def _memory(number: int) -> Any:
    return {"title": _sentence(3), "content": _sentence(12)}


def _later_note(number: int) -> Any:
    return {"kind": "text", "title": _sentence(3), "text": _sentence(12)}


def _message(method: str, params: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _requests(server: Server, item_id: str) -> list[Request]:
    query = "deploys of service 3"
    unknown = f"{server.token[:10]}{'A' * 33}{server.token[43:]}"
    return [
        server.request("/livez", "/livez"),
        server.request("REST, a refused token", "/api/v1/whoami", status=401, token=unknown),
        server.request("REST whoami", "/api/v1/whoami"),
        server.request("REST folders", "/api/v1/folders"),
        server.request("REST search", f"/api/v1/search?query={quote(query)}"),
        server.request("MCP ping", "/mcp", _message("ping", {})),
        server.request("MCP tools/list", "/mcp", _message("tools/list", {})),
        server.tool("MCP whoami", "whoami", {}),
        server.tool("MCP search_knowledge_base", "search_knowledge_base", {"query": query}),
        server.tool("MCP search (memory)", "search", {"query": query}),
        server.tool("MCP get_item", "get_item", {"item_id": item_id}),
        server.request("REST, add a note", "/api/v1/ingest", _later_note, status=201),
        server.tool("MCP add (memory)", "add", _memory),
    ]


def _measure(server: Server, request: Request, calls: int) -> harness.Row:
    """The same call again and again on one connection, the first of them not counted."""
    with server.connection as connection:
        for number in range(WARM):
            answer_of(connection, request, number)
        before = server.cpu()
        answers = [answer_of(connection, request, WARM + number) for number in range(calls)]
        spent = (server.cpu() - before) / calls * 1000
    first, whole = np.array([times for _, *times in answers]).T * 1000
    row: harness.Row = {
        "call": request.name,
        "first byte, p50 ms": float(np.median(first)),
        "whole body, p50 ms": float(np.median(whole)),
        "whole body, p95 ms": float(np.percentile(whole, 95)),
        "body after head, p50 ms": float(np.median(whole - first)),
        "worst ms": float(max(whole - first)),
    }
    if not server.web_pid:
        return row
    web, worker, postgres = map(float, spent)
    return {**row, "web, CPU ms": web, "Postgres": postgres, "worker": worker}


def _cpu_of(pid: int) -> float:
    try:
        return time.clock_gettime(clock_of(pid))
    except OSError:  # it has ended meanwhile
        return 0.0


def answer_of(
    connection: socket.socket, request: Request, number: int
) -> tuple[bytes, float, float]:
    """The answer, the seconds until its first byte, and until its last."""
    raw = request.raw(number)
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
    is_meant = answer.startswith(f"HTTP/1.1 {request.status} ".encode())
    if not is_meant or b'"error":{"code"' in answer:
        raise RuntimeError(answer.decode(errors="replace")[:1000])
    return answer, first, whole


def _is_whole(answer: bytes) -> bool:
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    length = re.search(rb"(?i)^content-length: *(\d+)", head, re.MULTILINE)
    return len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n")


# A server of its own ------------------------------------------------------------------------


@contextmanager
def own_server(home: Path, *options: str, **settings: str) -> Iterator[Server]:
    """`manage.py up` on a free port and an empty library, with its worker and its Postgres."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    own = {"QUARRY_HOME": str(home.resolve()), "QUARRY_RUN_FOLDER": str(home / "running")}
    up = subprocess.Popen(
        [*MANAGE, "up", "--port", "0", *options],
        env={**os.environ, **own, **settings},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        said = said_until_up(up)
        token = re.search(r"qry_[\w-]+", said)
        port = re.search(r"http://localhost:(\d+)/mcp", said)
        if not token or not port:
            sys.exit("The server did not start; the lines above say why.")
        yield Server("127.0.0.1", int(port[1]), token[0], up.pid, _postmaster(home))
    finally:
        up.terminate()
        try:
            up.wait(60)
        except subprocess.TimeoutExpired:
            up.kill()


def run_in_product(home: Path, code: str) -> list[str]:
    """Run Python in the product of this home; the lines that it prints."""
    own = {"QUARRY_HOME": str(home.resolve()), "QUARRY_RUN_FOLDER": str(home / "running")}
    ended = subprocess.run(
        [*MANAGE, "shell", "-v", "0", "-c", code],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.splitlines()


def said_until_up(up: subprocess.Popen[str]) -> str:
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


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def clock_of(pid: int) -> int:
    """The id of another process's CPU clock, as clock_getcpuclockid(3) of Linux makes it."""
    return ~pid << 3 | 2


if __name__ == "__main__":
    main()
