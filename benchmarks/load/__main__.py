"""Calls/s, waiting times, CPU by process and memory of a real server, by size and callers."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from benchmarks import harness
from benchmarks.http import MANAGE, Server, said_until_up
from benchmarks.load import alone, peers
from benchmarks.load.callers import Answers, Kind, call_for
from benchmarks.load.filling import TOKENS, Loaded
from benchmarks.load.peers import free_port, postmaster_of
from benchmarks.load.soak import memory_mb, soak
from knowledge.asks import Ask

SIZES, SMALL_SIZES = (2_000, 10_000, 100_000), (2_000,)
CALLERS, SMALL_CALLERS = (1, 8, 64), (1, 8)
BATCH = 100
SECONDS, SMALL_SECONDS, WARM_SEC = 20.0, 4.0, 2.0
_Said = Callable[[int, int], Any]


def main() -> None:
    options = harness.parser(__doc__)
    options.add_argument("--chunks", type=int, nargs="+", help=f"instead of {SIZES}")
    options.add_argument("--callers", type=int, nargs="+", help=f"instead of {CALLERS}")
    options.add_argument("--seconds", type=float, help="of each measurement")
    options.add_argument("--no-peers", action="store_true", help="Quarry alone")
    options.add_argument("--fill", action="store_true", help="only fill, for a later run")
    options.add_argument("--soak", type=float, help="call for so many minutes, and count")
    given = options.parse_args()
    sizes = given.chunks or (SMALL_SIZES if given.small else SIZES)
    libraries = [_filled(given, chunks) for chunks in sizes]
    if given.fill:
        return
    measure = _soak if given.soak else _measure_size
    rows = [row for loaded in libraries for row in measure(given, loaded)]
    harness.show("Soak" if given.soak else "Load", rows)
    harness.write_json(given, {"soak" if given.soak else "load": rows})


def _filled(given: Any, chunks: int) -> Loaded:
    home = given.home / f"load-{chunks}"
    if not (home / "loaded.json").exists():
        # A process of its own, so that the library is nobody's when the server starts on it.
        command = [sys.executable, "-m", "benchmarks.load.filling", str(home), str(chunks)]
        subprocess.run(command, check=True)
    loaded = Loaded.read(home, chunks)
    if not (given.no_peers or given.soak):
        peers.fill_all(loaded)
    return loaded


def _measure_size(given: Any, loaded: Loaded) -> Iterator[harness.Row]:
    """Searches first, of Quarry and of its peers; then what makes the library grow."""
    with loaded_server(loaded) as server:
        yield from alone.rows(loaded)
        for name, kinds in _searches(server, loaded).items():
            yield from _measure(given, f"Quarry, {name}", loaded, kinds, server)
        if not given.no_peers:
            with peers.floor(loaded) as (floor, kinds):
                yield from _measure(given, "pgvector behind ASGI, search", loaded, kinds, floor)
        for name, kinds in _additions(server, loaded).items():
            yield from _measure(given, f"Quarry, {name}", loaded, kinds, server)
        for name, kinds in _batches(server, loaded).items():
            yield from _measure(given, f"Quarry, {name}", loaded, kinds, server, callers=[1])
    for start, name in () if given.no_peers else peers.installed():
        with start(loaded) as (peer, asked):
            for what, kinds in asked.items():
                yield from _measure(given, f"{name}, {what}", loaded, kinds, peer)


def _measure(
    given: Any,
    name: str,
    loaded: Loaded,
    kinds: list[Kind],
    server: Server,
    *,
    callers: Sequence[int] = (),
) -> Iterator[harness.Row]:
    seconds = given.seconds or (SMALL_SECONDS if given.small else SECONDS)
    address = (server.host, server.port)
    call_for(WARM_SEC, 2, kinds, address)
    for count in callers or given.callers or (SMALL_CALLERS if given.small else CALLERS):
        before, began = server.cpu(), memory_mb(server)
        answers: Answers = call_for(seconds, count, kinds, address)
        web, worker, postgres = map(float, (server.cpu() - before) / max(1, answers.count) * 1000)
        row = {"who": name, "chunks": loaded.chunks, "callers": count, **answers.row()}
        row |= {"web, CPU ms": web, "Postgres": postgres, "worker": worker}
        now = memory_mb(server)
        row |= {"web MB": now, "MB grown": now - began}
        print(row, *answers.errors.most_common(3), flush=True)
        yield row


def _soak(given: Any, loaded: Loaded) -> Iterator[harness.Row]:
    with loaded_server(loaded) as server:
        kinds = _additions(server, loaded)["mix over REST"]
        yield from soak(given.soak, server, kinds, loaded)


# What is asked of Quarry ----------------------------------------------------------------------


class _Asking:
    """Writes calls as the caller of that number, each with its own token."""

    def __init__(self, server: Server, loaded: Loaded) -> None:
        self._server, self._loaded = server, loaded

    def rest(self, path: _Said, body: Any = None) -> Callable[[int, int], bytes]:
        return lambda caller, number: (
            self._as(caller).request("", path(caller, number), body).raw(number)
        )

    def tool(self, name: str, arguments: _Said) -> Callable[[int, int], bytes]:
        return lambda caller, number: (
            self._as(caller).tool("", name, arguments(caller, number)).raw(number)
        )

    def search(self, mode: str) -> _Said:
        return lambda c, n: (
            f"/api/v1/search?mode={mode}&limit=10&query={quote(self.question(c, n))}"
        )

    def question(self, caller: int, number: int) -> str:
        return self._loaded.questions[(caller + number) % len(self._loaded.questions)]

    def item(self, caller: int, number: int) -> str:
        theirs = self._loaded.items[caller % TOKENS]
        return theirs[number % len(theirs)]

    def _as(self, caller: int) -> Server:
        return Server(self._server.host, self._server.port, self._loaded.tokens[caller % TOKENS])


def _searches(server: Server, loaded: Loaded) -> dict[str, list[Kind]]:
    """By meaning alone, which others answer too; then as agents ask, over each edge."""
    asking = _Asking(server, loaded)
    found = asking.tool(
        "search_knowledge_base", lambda c, n: {"query": asking.question(c, n), "limit": 10}
    )
    return {
        "semantic search over REST": [Kind("search", 1, asking.rest(asking.search("semantic")))],
        "hybrid search over REST": [Kind("search", 1, asking.rest(asking.search("hybrid")))],
        "hybrid search over MCP": [Kind("search", 1, found)],
    }


def _additions(server: Server, loaded: Loaded) -> dict[str, list[Kind]]:
    """Notes and memories one by one; then the mixes of what agents do, over each edge."""
    asking = _Asking(server, loaded)
    add = asking.rest(lambda c, n: "/api/v1/ingest", _note)
    remember = asking.rest(lambda c, n: "/api/v1/memory", _memory)
    query = asking.tool("search_knowledge_base", lambda c, n: {"query": asking.question(c, n)})
    read = asking.tool("get_item", lambda c, n: {"item_id": asking.item(c, n)})
    return {
        "notes over REST": [Kind("add", 1, add)],
        "memories over REST": [Kind("add", 1, remember)],
        "mix over REST": [
            Kind("search", 0.6, asking.rest(asking.search("hybrid"))),
            Kind("get_item", 0.3, asking.rest(lambda c, n: f"/api/v1/items/{asking.item(c, n)}")),
            Kind("add", 0.1, add),
        ],
        "mix over MCP": [
            Kind("search", 0.6, query),
            Kind("get_item", 0.3, read),
            Kind("add", 0.1, asking.tool("add_to_knowledge", lambda c, n: _note(n))),
        ],
    }


def _batches(server: Server, loaded: Loaded) -> dict[str, list[Kind]]:
    asking = _Asking(server, loaded)
    notes = asking.rest(lambda c, n: "/api/v1/ingest/batch", _batch)
    memories = asking.rest(lambda c, n: "/api/v1/memory/batch", _memories)
    return {
        f"batches of {BATCH} notes": [Kind("add", 1, notes)],
        f"batches of {BATCH} memories": [Kind("add", 1, memories)],
    }


def _note(number: int) -> Any:
    text = f"Note {time.time_ns()}: deploys of service {number} are on day {number % 7}."
    return {"kind": "text", "title": f"Note {number}", "text": text}


def _batch(number: int) -> Any:
    return {"entries": [_note(number * BATCH + n) for n in range(BATCH)]}


def _memory(number: int) -> Any:
    note = _note(number)
    return {"title": note["title"], "content": note["text"]}


def _memories(number: int) -> Any:
    return {"entries": [_memory(number * BATCH + n) for n in range(BATCH)]}


@contextmanager
def loaded_server(loaded: Loaded) -> Iterator[Server]:
    limits = ",".join(f"{ask}=1000000" for ask in Ask)
    own = {"QUARRY_HOME": str(loaded.home.resolve()), "QUARRY_LIMITS": limits}
    own |= {"QUARRY_RUN_FOLDER": str(loaded.home / "running"), "QUARRY_BUSY_WAIT_SEC": "60"}
    own |= {"QUARRY_CALLS_PER_OWNER": "64"}  # a small library has few owners for all callers
    command = [*MANAGE, "up", "--port", str(port := free_port())]
    up = subprocess.Popen(command, env={**os.environ, **own}, stdout=subprocess.PIPE, text=True)
    try:
        said_until_up(up)
        time.sleep(3)  # the model is loaded by a thread
        yield Server("127.0.0.1", port, loaded.tokens[0], up.pid, postmaster_of(loaded.home))
    finally:
        up.terminate()
        up.wait(60)


if __name__ == "__main__":
    main()
