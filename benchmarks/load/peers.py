"""What a user would pick instead, each as a server over HTTP, filled alike and asked alike."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from benchmarks.http import Server
from benchmarks.load.callers import Kind
from benchmarks.load.filling import DIMENSIONS, Loaded
from benchmarks.synthetic import Library

Asked = dict[str, list[Kind]]
Start = Callable[[Loaded], AbstractContextManager[tuple[Server, Asked]]]


@contextmanager
def floor(loaded: Loaded) -> Iterator[tuple[Server, list[Kind]]]:
    """The bare query on the same tables; its Postgres is the running server's."""
    where = f"host={_socket_of(loaded.home)} port=5432 user=quarry dbname=quarry"
    with _process([sys.executable, "-m", "benchmarks.load.peer_server", "pgvector", where]) as peer:
        server = Server(peer.host, peer.port, "", peer.web_pid, postmaster_of(loaded.home))
        yield server, [Kind("search", 1, _nearest(server, loaded))]


def installed() -> list[tuple[Start, str]]:
    """The peers that are there, with their names."""
    peers: list[tuple[str, Start, str]] = [
        ("chromadb", _chroma, "Chroma's server"),
        ("lancedb", _lance, "LanceDB behind ASGI"),
    ]
    return [(start, name) for module, start, name in peers if find_spec(module)]


def fill_all(loaded: Loaded) -> None:
    """Fill those that are installed, unless an earlier run did."""
    from benchmarks.stores import Chroma, LanceFlat

    for module, store in (("chromadb", Chroma), ("lancedb", LanceFlat)):
        folder = loaded.home / module
        if find_spec(module) and not folder.exists():
            _fill(store(folder, DIMENSIONS), loaded.chunks)


@contextmanager
def _chroma(loaded: Loaded) -> Iterator[tuple[Server, Asked]]:
    """Chroma's own server, filled by the library's owner, vectors and texts."""
    command = [str(Path(sys.executable).parent / "chroma"), "run", "--path"]
    with _process([*command, str(loaded.home / "chromadb")], "--port") as server:
        import chromadb

        client = chromadb.HttpClient("127.0.0.1", server.port)
        rows = client.get_collection("chunks", embedding_function=None)
        path = f"/api/v2/tenants/default_tenant/databases/default_database/collections/{rows.id}"

        def vector(caller: int, number: int) -> list[float]:
            return loaded.vectors[(caller + number) % len(loaded.vectors)]

        def query(caller: int, number: int) -> bytes:
            body = {
                "query_embeddings": [vector(caller, number)],
                "n_results": 10,
                "where": {"owner": caller % len(loaded.owners)},
                "include": ["documents", "distances"],
            }
            return server.request("", f"{path}/query", body).raw(number)

        def add(caller: int, number: int) -> bytes:
            body = {
                "ids": [str(uuid4())],
                "embeddings": [vector(caller, number)],
                "documents": [f"Note {number}: deploys of service {number} are on day 3."],
                "metadatas": [{"owner": caller % len(loaded.owners)}],
            }
            return server.request("", f"{path}/add", body, status=201).raw(number)

        yield server, {"search": [Kind("search", 1, query)], "additions": [Kind("add", 1, add)]}


@contextmanager
def _lance(loaded: Loaded) -> Iterator[tuple[Server, Asked]]:
    folder = loaded.home / "lancedb"
    command = [sys.executable, "-m", "benchmarks.load.peer_server", "lance", str(folder)]
    with _process(command) as server:
        yield server, {"search": [Kind("search", 1, _nearest(server, loaded, of_number=True))]}


def _fill(store: Any, chunks: int) -> None:
    library = Library(chunks, dimensions=DIMENSIONS)
    names = list(dict.fromkeys(block.owner for block in library.blocks))
    owners = np.zeros(chunks, np.int64)
    for block in library.blocks:
        owners[block.start : block.stop] = names.index(block.owner)
    for batch in library.batches():
        ids = range(batch.start, batch.stop)
        store.add(
            ids, owners[batch.start : batch.stop], library.vectors(batch), library.texts(batch)
        )
    store.finish()


def _nearest(
    server: Server, loaded: Loaded, *, of_number: bool = False
) -> Callable[[int, int], bytes]:
    def write(caller: int, number: int) -> bytes:
        at = caller % len(loaded.owners)
        body = {
            "vector": loaded.vectors[(caller + number) % len(loaded.vectors)],
            "owner": at if of_number else loaded.owners[at],
        }
        return server.request("", "/", body).raw(number)

    return write


@contextmanager
def _process(command: list[str], *before_port: str) -> Iterator[Server]:
    """A peer on a free port, until this ends."""
    port = free_port()
    process = subprocess.Popen([*command, *before_port, str(port)], stdout=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield Server("127.0.0.1", port, "", process.pid)
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with closing(socket.socket()) as caller:
            if caller.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    sys.exit("A peer's server does not answer.")


def postmaster_of(home: Path) -> int:
    return int((home / "postgres" / "data" / "postmaster.pid").read_text().split()[0])


def _socket_of(home: Path) -> str:
    return (home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[4]
