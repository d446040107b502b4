"""How long short searches and /livez wait beside what is heavy: median, p99 and worst of each."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from urllib.parse import quote

import numpy as np

from benchmarks import harness
from benchmarks.http import Server
from benchmarks.load.__main__ import SMALL_SECONDS, loaded_server
from benchmarks.load.callers import Answers, Kind, call_until, read_answer
from benchmarks.load.filling import Loaded

SECONDS = 20.0
SEARCHERS = 3
PAUSE_SEC = 0.05
"""Between two calls of one searcher, who reads what was found."""
LONG = 500_000

Write = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Heavy:
    """What goes on beside the short searches: so many callers of one kind."""

    name: str
    callers: int
    write: Write


def main() -> None:
    options = harness.parser(__doc__)
    options.add_argument(
        "--chunks", type=int, default=2_000, help="a library that `load` has filled"
    )
    options.add_argument("--seconds", type=float, help="of each row")
    given = options.parse_args()
    home = given.home / f"load-{given.chunks}"
    loaded = Loaded.read(home, given.chunks)
    seconds = given.seconds or (SMALL_SECONDS if given.small else SECONDS)
    rows = []
    with loaded_server(loaded) as server:
        asyncio.run(_measure(2.0, server, loaded, Heavy("", 0, search_of(server, loaded))))
        for heavy in _heavy(server, loaded):
            rows.append(asyncio.run(_measure(seconds, server, loaded, heavy)))
            print(rows[-1], flush=True)
    harness.show(f"Short searches of {SEARCHERS} owners in {given.chunks} chunks", rows)
    harness.write_json(given, {"cliffs": rows})


def search_of(server: Server, loaded: Loaded) -> Write:
    """Hybrid searches over REST, of a caller by the number of its token."""

    def write(caller: int, number: int) -> bytes:
        question = loaded.questions[(caller + number) % len(loaded.questions)]
        path = f"/api/v1/search?limit=10&query={quote(question)}"
        token = loaded.tokens[caller % len(loaded.tokens)]
        return server.request("", path, token=token).raw(number)

    return write


def _heavy(server: Server, loaded: Loaded) -> list[Heavy]:
    others = len(loaded.owners) - SEARCHERS

    def token(caller: int) -> str:
        """Of an owner who does none of the short searches."""
        return loaded.tokens[SEARCHERS + caller % others]

    def search(caller: int, number: int) -> bytes:
        return search_of(server, loaded)(SEARCHERS + caller % others, number)

    def add_long(caller: int, number: int) -> bytes:
        body = {"kind": "text", "title": f"Long {time.time_ns()}", "text": _prose(LONG)}
        return server.request("", "/api/v1/ingest", body, token=token(caller)).raw(0)

    def add_many(caller: int, number: int) -> bytes:
        body = {"entries": [_note() for _ in range(100)]}
        return server.request("", "/api/v1/ingest/batch", body, token=token(caller)).raw(0)

    return [
        Heavy("nothing else", 0, search_of(server, loaded)),
        Heavy("200 callers who search", 200, search),
        Heavy(f"2 callers who add {LONG:,} characters", 2, add_long),
        Heavy("2 callers who add 100 notes at a time", 2, add_many),
    ]


def _prose(size: int) -> str:
    words = [f"word{random.randrange(20_000)}" for _ in range(size // 9)]
    return ". ".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12))[:size]


def _note() -> dict[str, str]:
    text = f"Note {time.time_ns()}: deploys of service {random.randrange(500)} are on Friday."
    return {"kind": "text", "title": f"Note {time.time_ns()}", "text": text}


async def _measure(seconds: float, server: Server, loaded: Loaded, heavy: Heavy) -> harness.Row:
    address, until = (server.host, server.port), time.perf_counter() + seconds
    beside = Answers()
    search = search_of(server, loaded)
    alive = server.request("", "/livez").raw
    short = [_paced(until, address, partial(search, each)) for each in range(SEARCHERS)]
    callers = range(heavy.callers)
    kinds = [Kind("heavy", 1, heavy.write)]
    waits, lives, _ = await asyncio.gather(
        asyncio.gather(*short),
        _paced(until, address, alive),
        asyncio.gather(*(call_until(until, each, kinds, address, beside) for each in callers)),
    )
    waited = np.array([wait for some in waits for wait in some]) * 1000
    lived = np.array(lives) * 1000
    return {
        "beside": heavy.name,
        "its calls/s": beside.count / seconds,
        "its errors": sum(beside.errors.values()),
        "searches": len(waited),
        "refused": int(np.isinf(waited).sum()),
        "p50 ms": float(np.median(waited)),
        "p99 ms": float(np.percentile(waited, 99)),
        "p99 / p50": float(np.percentile(waited, 99) / np.median(waited)),
        "/livez p99 ms": float(np.percentile(lived, 99)),
        "/livez worst ms": float(max(lived)),
    }


async def _paced(
    until: float, address: tuple[str, int], write: Callable[[int], bytes]
) -> list[float]:
    """How long each call of one caller took, with a pause after each."""
    reader, writer = await asyncio.open_connection(*address, limit=2**24)
    waits: list[float] = []
    while time.perf_counter() < until:
        sent = write(len(waits))
        began = time.perf_counter()
        writer.write(sent)
        head, _ = await read_answer(reader)
        is_answered = head.startswith(b"HTTP/1.1 200")
        waits.append(time.perf_counter() - began if is_answered else inf)
        await asyncio.sleep(PAUSE_SEC)
    writer.close()
    return waits


if __name__ == "__main__":
    main()
