"""The web process's CPU and memory for each request, as each of its fields grows to four times.

Grows every field of every route and tool against a `manage.py up` of its own, on the clock that
the kernel keeps for the web process alone: what its readers, its worker and Postgres do is theirs.
"""

import http.client
import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks import harness
from benchmarks.fuzz import growing
from benchmarks.fuzz.growing import Growth, Json
from benchmarks.fuzz.texts import SECOND_LOOK
from benchmarks.http import Server, clock_of, own_server

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
MOST_MS, MOST_MB = 100, 30
SHOWN = 25
NOTES, MEMORIES = 249, 400
"""What is there before: as much as is exported at once, and more than any page or graph shows."""
ADMIN = ("/tokens", "/connections")
"""By session alone: a token is refused before anything is read."""


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
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.headers = {
            "Authorization": f"Bearer {self.server.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }

    @property
    def pid(self) -> int:
        return self.server.web_pid

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=300)
        try:
            connection.request(method, path, body or None, self.headers)
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
    options.add_argument("--url", help="a server that runs (default: one of its own)")
    options.add_argument("--token", help="a token of that server's with write and no limits")
    options.add_argument("--pid", type=int, help="its web process")
    options.add_argument("--only", default="", help="requests whose name or field has this")
    options.add_argument("--all", action="store_true", help="every text, which takes an hour")
    given = options.parse_args()
    if given.url:
        address = urlsplit(given.url)
        server = Server(str(address.hostname), address.port or 80, given.token, given.pid)
        rows = _measure(Web(server), given)
    else:
        with own_server(given.home / "fuzz", QUARRY_LIMITS=_no_limits()) as server:
            rows = _measure(Web(server), given)
    _tell(rows)
    harness.write_json(given, {"fuzz": rows})
    sys.exit(any(row["fault"] for row in rows))


def _measure(web: Web, given: Any) -> list[harness.Row]:
    rows: list[harness.Row] = []
    dearest: dict[str, float] = {}
    for growth in _growths(web, every=given.all):
        named = f"{growth.name} {growth.what}"
        field, _, text = named.rpartition(": ")
        if given.only and given.only not in named:
            continue
        if not given.all and text in SECOND_LOOK and dearest.get(field, 0) < UNREAD_MS:
            continue
        row = _row(web, growth)
        rows.append(row)
        dearest[field] = max(dearest.get(field, 0), row["CPU ms at n"], row["CPU ms at 4n"])
        if row["fault"] or row["CPU ms at 4n"] > MOST_MS / 2 or row["CPU ms at n"] > MOST_MS / 2:
            print(json.dumps(row), flush=True)
        if given.small and len(rows) >= 200:
            break
    return rows


def _growths(web: Web, *, every: bool) -> Iterator[Growth]:
    ids = _make_rows(web)
    document = json.loads(web.ask("GET", "/api/v1/openapi.json")[1])
    _warm_up(web)
    yield from growing.of_routes(document, ids, every=every)
    yield from growing.of_tools(_tools(web), {**ids, **_whole_values(document)}, every=every)


def _row(web: Web, growth: Growth) -> harness.Row:
    quarter = max(1, growth.most // 4)
    large = _cost(web, growth, 4 * quarter)
    for _ in range(QUARTERINGS if large.status in REFUSED else 0):
        small = _cost(web, growth, quarter)
        if small.status not in REFUSED or large.cpu_ms > FLOOR_MS or quarter == 1:
            break
        large, quarter = small, max(1, quarter // 4)
    else:
        # Where even four times as much is cheap, nothing grows.
        small = _cost(web, growth, quarter) if large.cpu_ms > FLOOR_MS else large
    return {
        "request": growth.name,
        "field": growth.what,
        "n": quarter,
        "status": large.status,
        "CPU ms at n": round(small.cpu_ms, 1),
        "CPU ms at 4n": round(large.cpu_ms, 1),
        "MB at 4n": round(max(small.megabytes, large.megabytes), 1),
        "seconds at 4n": round(large.seconds, 2),
        "fault": _fault(small, large),
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


def _fault(small: Cost, large: Cost) -> str:
    if large.status in (0, 500):
        return f"status {large.status}"
    if max(small.cpu_ms, large.cpu_ms) > MOST_MS:
        return "CPU"
    if max(small.megabytes, large.megabytes) > MOST_MB:
        return "memory"
    is_steep = large.cpu_ms > GROWTH * max(small.cpu_ms, 1) and large.cpu_ms > FLOOR_MS
    # Of a small one that was refused, or cut short by a cap, nothing can be told.
    return "grows" if is_steep and small.status == large.status else ""


def _tell(rows: list[harness.Row]) -> None:
    by_cpu = sorted(rows, key=lambda row: -max(row["CPU ms at n"], row["CPU ms at 4n"]))
    by_memory = sorted(rows, key=lambda row: -row["MB at 4n"])
    harness.show(f"The dearest of {len(rows)} requests by CPU", by_cpu[:SHOWN])
    harness.show("By memory", by_memory[:SHOWN])
    harness.show("At fault", [row for row in rows if row["fault"]])


# What must be there ----------------------------------------------------------------------------


def _no_limits() -> str:
    """Every ask as often as one likes."""
    from knowledge.asks import Ask

    return ", ".join(f"{ask}=1000000" for ask in Ask)


def _make_rows(web: Web) -> dict[str, str]:
    """A library that fills every page, and the ids that requests name."""
    tags = [f"tag {number}" for number in range(50)]
    for number in range(NOTES):
        text = f"Granite {number} is cut along its seams. " * 200
        note = {"kind": "text", "title": f"Granite {number}", "text": text, "tags": tags}
        item = _made(web, "ingest", note)["user_item_id"]
    rule = {"title": "Granite", "content": "Granite is cut. " * 60, "tags": tags}
    hub = _made(web, "memory", rule)["id"]
    for batch in range(MEMORIES // 100):
        named = [{**rule, "title": f"Granite {batch}, {number}"} for number in range(100)]
        _made(web, "memory/batch", {"entries": [{**each, "related_to": [hub]} for each in named]})
    folder = _made(web, "folders", {"name": f"Quarry {time.time():.3f}"})["id"]
    return {"item_id": item, "entity_id": hub, "id": item, "folder_id": folder}


def _made(web: Web, path: str, body: Json) -> Json:
    status, answer = web.ask("POST", f"/api/v1/{path}", json.dumps(body).encode())
    if status >= 300:
        raise RuntimeError(answer.decode()[:500])
    made: Json = json.loads(answer)
    return made


def _whole_values(document: Json) -> dict[str, Any]:
    """What a tool takes that no plain word is: a skill and a unit, as the routes' examples."""
    found: dict[str, Any] = {}
    for route in ("skills", "knowledge"):
        body = document["paths"][f"/api/v1/{route}"]["post"]["requestBody"]["content"]
        found |= next(iter(body["application/json"]["examples"].values()))["value"]
    return {**found, "visibility": "private"}


def _warm_up(web: Web) -> None:
    """Load what is loaded once: the model, the readers, the dictionaries."""
    note = {"kind": "text", "title": "Warm", "text": "Granite is cut along its seams. " * 3000}
    for _ in range(2):
        web.ask("POST", "/api/v1/ingest", json.dumps(note).encode())
    web.ask("GET", "/api/v1/search?query=granite")


def _tools(web: Web) -> list[Json]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = web.ask("POST", "/mcp", json.dumps(call).encode())[1].decode()
    line = next(line for line in answer.splitlines() if "jsonrpc" in line)
    tools: list[Json] = json.loads(line.removeprefix("data: "))["result"]["tools"]
    return tools


if __name__ == "__main__":
    main()
