"""The web process's CPU and memory for each request, as each of its fields grows to four times.

Grows every field of every route and tool against a `manage.py up` of its own, on the clock that
the kernel keeps for the web process alone: what its readers and Postgres do is theirs. No worker
runs: it would embed what is added for hours, on the same cores.
"""

import http.client
import json
import sys
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import harness
from benchmarks.fuzz import growing, library
from benchmarks.fuzz.growing import Growth, Json
from benchmarks.fuzz.texts import SECOND_LOOK
from benchmarks.http import Server, clock_of, own_server
from knowledge.budgets import WEB_CPU_MS, WEB_MEGABYTES

GROWTH = 5
"""How many times as much CPU four times as much may take."""
FLOOR_MS = 25
"""Below this a request is cheap, however much it grew."""
UNREAD_MS = 12
"""Where none of the first texts costs more, nothing reads the field, and no other text is sent."""
IDLE_MS = 2.6
"""A second, of timers: a request that waits for a reader did not ask for them."""
REFUSED = (400, 413, 422)
QUARTERINGS = 3
"""How often what is refused is sent again at a quarter of its size, to find what is taken."""
MOST_MS, MOST_MB = WEB_CPU_MS.most, WEB_MEGABYTES.most
SHOWN = 25
OF_PEOPLE = ("/api/v1/tokens", "/api/v1/connections")
"""By session alone: a token is refused before anything is read."""
EXPORT = "/api/v1/export"
"""Of a small library alone."""


@dataclass
class Cost:
    """What one request took of the web process, and what it answered."""

    cpu_ms: float
    megabytes: float
    status: int
    seconds: float


@dataclass
class Web:
    """The server, and its web process's clock and memory."""

    server: Server
    home: Path
    person: dict[str, str] = field(default_factory=dict)
    """The headers of somebody who is signed in."""
    other: str = ""
    """The token of somebody whose library is small enough to be exported at once."""

    @property
    def pid(self) -> int:
        return self.server.web_pid

    def sign_in(self, session: str) -> None:
        token = "a" * 32
        cookie = f"sessionid={session}; csrftoken={token}"
        self.person = {"Cookie": cookie, "X-CSRFToken": token}

    def ask(
        self, method: str, path: str, body: bytes = b"", *, token: str = ""
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=300)
        small = self.other if path.partition("?")[0] == EXPORT and method == "GET" else ""
        agent = {"Authorization": f"Bearer {token or small or self.server.token}"}
        headers = {
            **(self.person if path.startswith(OF_PEOPLE) else agent),
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (ConnectionError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def measure(self, method: str, path: str, body: bytes) -> Cost:
        self._settle()
        with suppress(PermissionError):
            Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        before, memory, began = self._cpu(), self._memory("VmRSS"), time.monotonic()
        status, _ = self.ask(method, path, body)
        seconds = time.monotonic() - began
        self._settle()
        grown = self._memory("VmHWM") - memory
        spent = (self._cpu() - before) * 1000 - IDLE_MS * seconds
        return Cost(spent, grown / 1024, status, seconds)

    def _settle(self) -> None:
        """Wait until the web process rests: what outlives its answer counts too."""
        last, still = self._cpu(), 0
        while still < 2:
            time.sleep(0.005)
            now = self._cpu()
            still, last = still + 1 if now - last < 0.001 else 0, now

    def _cpu(self) -> float:
        return time.clock_gettime(clock_of(self.pid))

    def _memory(self, name: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name))


def main() -> None:
    options = harness.parser(__doc__)
    options.add_argument("--only", default="", help="requests whose name or field has this")
    options.add_argument("--all", action="store_true", help="every text, which takes hours")
    options.add_argument(
        "--minutes", type=float, help="stop after so many; the same --json goes on from there"
    )
    given = options.parse_args()
    rows = _rows_before(given.json)
    with own_server(given.home / "fuzz", "--no-worker", QUARRY_LIMITS=_no_limits()) as server:
        try:
            is_whole = _measure(Web(server, given.home / "fuzz"), given, rows)
        finally:
            harness.write_json(given, {"fuzz": rows})
    _tell(rows)
    print("A whole pass." if is_whole else "Not at its end yet: call it again.")
    sys.exit(any(row["fault"] for row in rows))


def _rows_before(results: Path | None) -> list[harness.Row]:
    """What an earlier part of the same pass has measured."""
    if results is None or not results.exists():
        return []
    rows: list[harness.Row] = json.loads(results.read_text())["tables"]["fuzz"]
    return rows


def _measure(web: Web, given: Namespace, rows: list[harness.Row]) -> bool:
    """Add a row for each growth that has none; whether all are there."""
    until = time.monotonic() + 60 * (given.minutes or 1e6)
    dearest: dict[str, float] = defaultdict(float)
    for row in rows:
        _note(dearest, row)
    done = {(row["request"], row["field"]) for row in rows}
    for growth in _growths(web, every=given.all):
        field, _, text = growth.what.rpartition(": ")
        unread = text in SECOND_LOOK and dearest[f"{growth.name} {field}"] < UNREAD_MS
        if (growth.name, growth.what) in done or (unread and not given.all):
            continue
        if given.only not in f"{growth.name} {growth.what}":
            continue
        if time.monotonic() > until or (given.small and len(rows) >= 200):
            return False
        row = _row(web, growth)
        rows.append(row)
        _note(dearest, row)
        if row["fault"] or _cpu_of(row) > MOST_MS / 2:
            print(json.dumps(row), flush=True)
    return True


def _note(dearest: dict[str, float], row: harness.Row) -> None:
    field = f"{row['request']} {row['field'].rpartition(': ')[0]}"
    dearest[field] = max(dearest[field], _cpu_of(row))


def _cpu_of(row: harness.Row) -> float:
    spent: float = max(row["CPU ms at n"], row["CPU ms at 4n"], row["CPU ms refused"])
    return spent


def _no_limits() -> str:
    """Every ask as often as one likes."""
    from knowledge.asks import Ask

    return ", ".join(f"{ask}=1000000" for ask in Ask)


def _growths(web: Web, *, every: bool) -> Iterator[Growth]:
    """All there are; what deletes comes last, so that all else is still there."""
    ids = library.make(web.ask, web.home)
    document = json.loads(web.ask("GET", "/api/v1/openapi.json")[1])
    values = {**ids, **library.examples(document)}
    web.sign_in(ids["session"])
    web.other = ids["other"]
    yield from growing.of_routes(document, ids, every=every)
    yield from growing.of_tools(_tools(web), values, every=every)
    yield from growing.of_routes(document, ids, every=every, methods=("delete",))


def _row(web: Web, growth: Growth) -> harness.Row:
    quarter = max(1, growth.most // 4)
    large, refusal = _cost(web, growth, 4 * quarter), 0.0
    for _ in range(QUARTERINGS):
        if large.status not in REFUSED or quarter == 1:
            break
        refusal = max(refusal, large.cpu_ms)
        large, quarter = _cost(web, growth, quarter), max(1, quarter // 4)
    # Where even four times as much is cheap, nothing grows.
    small = _cost(web, growth, quarter) if large.cpu_ms > FLOOR_MS else large
    if _is_steep(small, large):  # unless it was somebody else's fault
        large = min(large, _cost(web, growth, 4 * quarter), key=lambda each: each.cpu_ms)
    return {
        "request": growth.name,
        "field": growth.what,
        "n": quarter,
        "status": large.status,
        "CPU ms at n": round(small.cpu_ms, 1),
        "CPU ms at 4n": round(large.cpu_ms, 1),
        "CPU ms refused": round(refusal, 1),
        "MB at 4n": round(max(small.megabytes, large.megabytes), 1),
        "seconds at 4n": round(large.seconds, 2),
        "fault": _fault(small, large, refusal),
    }


def _cost(web: Web, growth: Growth, size: int) -> Cost:
    """Once or twice more if it is dear, a character less: the machine has others, caches fill."""
    cost = web.measure(growth.method, *growth.make(size))
    for less in (1, 2):
        if cost.cpu_ms <= MOST_MS and cost.megabytes <= MOST_MB:
            break
        again = web.measure(growth.method, *growth.make(max(1, size - less)))
        cost = min(cost, again, key=lambda each: (each.cpu_ms, each.megabytes))
    return cost


def _fault(small: Cost, large: Cost, refusal: float) -> str:
    if large.status in (0, 500):
        return f"status {large.status}"
    if max(small.cpu_ms, large.cpu_ms, refusal) > MOST_MS:
        return "CPU"
    if max(small.megabytes, large.megabytes) > MOST_MB:
        return "memory"
    return "grows" if _is_steep(small, large) else ""


def _is_steep(small: Cost, large: Cost) -> bool:
    is_steep = large.cpu_ms > GROWTH * max(small.cpu_ms, 1) and large.cpu_ms > FLOOR_MS
    # Of a small one that was refused, or cut short by a cap, nothing can be told.
    return is_steep and small.status == large.status


def _tell(rows: list[harness.Row]) -> None:
    by_cpu = sorted(rows, key=lambda row: -_cpu_of(row))
    by_memory = sorted(rows, key=lambda row: -row["MB at 4n"])
    harness.show(f"The dearest of {len(rows)} requests by CPU", by_cpu[:SHOWN])
    harness.show("By memory", by_memory[:SHOWN])
    harness.show("At fault", [row for row in rows if row["fault"]])
    harness.show("Never taken: nothing is known but what refusing costs", _refused(rows))


def _refused(rows: list[harness.Row]) -> list[harness.Row]:
    """Requests that were refused whatever grew, and how."""
    answers: dict[str, Counter[int]] = {}
    for row in rows:
        answers.setdefault(row["request"], Counter())[row["status"]] += 1
    return [
        {"request": name, "status": ", ".join(map(str, sorted(found)))}
        for name, found in answers.items()
        if min(found) >= 300
    ]


def _tools(web: Web) -> list[Json]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = web.ask("POST", "/mcp", json.dumps(call).encode())[1].decode()
    line = next(line for line in answer.splitlines() if "jsonrpc" in line)
    tools: list[Json] = json.loads(line.removeprefix("data: "))["result"]["tools"]
    return tools


if __name__ == "__main__":
    main()
