"""Many callers for minutes: what fails, what memory does, and whether additions are all there."""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import harness
from benchmarks.http import Server, answer_of
from benchmarks.load.callers import Kind, call_for
from benchmarks.load.filling import Loaded

CALLERS = 64
EVERY_SEC = 10.0
_PSS = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


def memory_mb(server: Server) -> float:
    """Of the web processes together, each page counted once."""
    maps = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in server.web_pids]
    return sum(int(size) for each in maps for size in _PSS.findall(each)) / 1024


def soak(
    minutes: float, server: Server, kinds: Sequence[Kind], loaded: Loaded
) -> Iterator[harness.Row]:
    """One row: errors, CPU of a call, memory over time, additions answered and those there."""
    before, spent = _items(server, loaded), server.cpu()
    with _memory_over_time(server) as seen:
        answers = call_for(minutes * 60, CALLERS, kinds, (server.host, server.port))
    web, others, postgres = (server.cpu() - spent) / max(1, answers.count) * 1000
    added = len(answers.seconds["add"])
    found = _items(server, loaded)
    row = {"chunks": loaded.chunks, "callers": CALLERS, "minutes": minutes, **answers.row()}
    row |= {"web, CPU ms": float(web), "Postgres": float(postgres), "others": float(others)}
    row |= {"web MB after a minute": seen[min(len(seen) - 1, int(60 / EVERY_SEC))]}
    row |= {"at the end": seen[-1], "most": max(seen)}
    row |= {"additions answered": added, "items more": (found - before).total()}
    print(row, answers.errors.most_common(3), [round(each) for each in seen], flush=True)
    yield row


def _items(server: Server, loaded: Loaded) -> Counter[str]:
    """How many items each owner has, by a token of theirs."""
    counts: Counter[str] = Counter()
    with server.connection as connection:
        for token in loaded.tokens[: len(loaded.owners)]:
            ask = server.request("items", "/api/v1/items?per_page=1", token=token)
            body = answer_of(connection, ask, 0)[0].partition(b"\r\n\r\n")[2]
            counts[token] = json.loads(body)["total"]
    return counts


@contextmanager
def _memory_over_time(server: Server) -> Iterator[list[float]]:
    seen = [memory_mb(server)]
    over = threading.Event()

    def look() -> None:
        while not over.wait(EVERY_SEC):
            seen.append(memory_mb(server))

    watch = threading.Thread(target=look)
    watch.start()
    try:
        yield seen
    finally:
        over.set()
        watch.join()
        seen.append(memory_mb(server))
