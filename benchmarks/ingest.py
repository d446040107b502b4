"""How fast chunks become searchable: through the product, and beside Chroma with given vectors."""

import os
import shutil
import time
from collections.abc import Sequence
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.collections import Document, read_collection
from benchmarks.loading import load
from benchmarks.quality import add
from benchmarks.stores import Chroma, Store
from benchmarks.synthetic import DIMENSIONS, Array, Library

GIVEN_CHUNKS = 100_000
SMALL_GIVEN_CHUNKS = 2_000
MOST_DOCUMENTS = 400
SMALL_DOCUMENTS = 40
SHAPES = {"notes": 1, "articles": 10, "books": 300}
"""Kinds of documents, by how many passages of 150 to 200 words each has."""
ONE_BY_ONE = {"notes": 2_000, "articles": 10_000, "books": 20_000}
"""How many chunks of each kind one process adds: enough to tell the rate."""
SIDE_BY_SIDE = ("books",)
WORKERS = os.cpu_count() or 1


def main() -> None:
    options = _options()
    harness.require("chromadb")
    harness.start_product(options.home / "ingest", embedder="fake", fresh=True)
    chunks = SMALL_GIVEN_CHUNKS if options.small else GIVEN_CHUNKS
    given = [
        _measure_product("given", shape, _made_up(min(chunks, most), SHAPES[shape]))
        for shape, most in ONE_BY_ONE.items()
    ]
    given += [
        _measure_side_by_side(options.home / "ingest", shape, chunks) for shape in SIDE_BY_SIDE
    ]
    given += [_measure_bulk(chunks), _measure_chroma(chunks, options.home / "ingest-chroma")]
    for row in given:
        row["over Chroma"] = row["chunks/s"] / given[-1]["chunks/s"]
    harness.show(f"Ingest with given vectors of {DIMENSIONS} dimensions", given)
    real = _real(options) if options.data else []
    if real:
        harness.show("Ingest with an embedder", real)
    harness.write_json(options, {"given": given, "embedded": real})


def _options() -> Any:
    options = harness.parser(__doc__)
    options.add_argument("--data", type=Path, metavar="FOLDER", help="real texts to embed")
    options.add_argument("--embedder", action="append", help="instead of fake and granite")
    return options.parse_args()


def _made_up(chunks: int, passages: int) -> list[Document]:
    """Documents of so many passages each, about as many chunks in all."""
    library = Library(max(chunks, 1000))
    texts = [text for batch in library.batches() for text in library.texts(batch)][:chunks]
    parts = [texts[at : at + passages] for at in range(0, len(texts), passages)]
    return [Document(str(at), f"Item {at}", "\n\n".join(part)) for at, part in enumerate(parts)]


def _real(options: Any) -> list[harness.Row]:
    documents = read_collection(options.data).documents
    documents = documents[: SMALL_DOCUMENTS if options.small else MOST_DOCUMENTS]
    names = options.embedder or ["fake", "granite"]
    return [_measure_product(name, options.data.name, documents) for name in names]


def _measure_product(embedder: str, what: str, documents: Sequence[Document]) -> harness.Row:
    """Every document added as a user would, its job done at once, one after the other."""
    from django.db.models import Sum

    from knowledge.access import Access
    from knowledge.models import Item

    clock = _use(embedder)
    owner_id = harness.new_owner(f"{embedder} {what}")
    access = Access.whole_library(owner_id)
    add(access, "Warm", "The first of all, which loads the model.")
    clock.seconds = 0.0
    start, before = time.perf_counter(), sum(harness.product_cpu().values())
    for document in documents:
        add(access, document.title, document.text)
    seconds = time.perf_counter() - start
    cpu = sum(harness.product_cpu().values()) - before
    chunks = Item.objects.filter(owner_id=owner_id).aggregate(n=Sum("chunk_count"))["n"] - 1
    by = f"Quarry, {embedder}"
    return _row(by, what, chunks, seconds, embedding=clock.seconds, cpu=cpu)


def _measure_side_by_side(home: Path, shape: str, chunks: int) -> harness.Row:
    """The same by as many processes as there are cores, as web and workers are in service."""
    _use("given")
    spawn = get_context("spawn")
    ready, done = spawn.Barrier(WORKERS + 1), spawn.Barrier(WORKERS + 1)
    processes = [
        spawn.Process(target=_add_share, args=(home, shape, chunks, at, ready, done))
        for at in range(WORKERS)
    ]
    for process in processes:
        process.start()
    ready.wait()
    start = time.perf_counter()
    done.wait()
    seconds = time.perf_counter() - start
    for process in processes:
        process.join()
    return _row(f"Quarry, given, {WORKERS} processes", shape, chunks, seconds)


def _add_share(home: Path, shape: str, chunks: int, at: int, ready: Any, done: Any) -> None:
    """One process's share of the documents, once all are ready to begin."""
    harness.start_product(home, embedder="given")
    from knowledge.access import Access

    _clocked("given")
    owner_id = harness.new_owner(f"{shape} {at} side by side")
    access = Access.whole_library(owner_id)
    documents = _made_up(chunks, SHAPES[shape])[at::WORKERS]
    add(access, "Warm", "The first of all, which loads the model.")
    ready.wait()
    for document in documents:
        add(access, document.title, document.text)
    done.wait()


def _measure_bulk(chunks: int) -> harness.Row:
    """A whole library into empty tables by the benchmarks' own loader, all indexes built."""
    library = Library(chunks)
    _use("given")
    harness.execute(
        "TRUNCATE knowledge_content, knowledge_chunktext, knowledge_chunkembedding CASCADE"
    )
    start = time.perf_counter()
    load(library)
    return _row("Quarry, given", "in bulk", chunks, time.perf_counter() - start)


def _measure_chroma(chunks: int, folder: Path) -> harness.Row:
    """The same passages and vectors, in batches as large as it takes."""
    library = Library(chunks)
    batches = [(batch, library.vectors(batch), library.texts(batch)) for batch in library.batches()]
    shutil.rmtree(folder, ignore_errors=True)
    store: Store = Chroma(folder, DIMENSIONS)
    start, before = time.perf_counter(), time.process_time()
    for batch, vectors, texts in batches:
        store.add(batch, [0] * len(batch), vectors, texts)
    store.finish()
    seconds, cpu = time.perf_counter() - start, time.process_time() - before
    return _row("Chroma, given", "passages", chunks, seconds, cpu=cpu)


def _row(
    by: str,
    what: str,
    chunks: int,
    seconds: float,
    *,
    embedding: float = 0.0,
    cpu: float | None = None,
) -> harness.Row:
    return {
        "by": by,
        "documents": what,
        "chunks": chunks,
        "chunks/s": chunks / seconds,
        "chunks/s without embedding": chunks / (seconds - embedding),
        "CPU ms a chunk": None if cpu is None else cpu / chunks * 1000,
    }


# Embedders on the clock -----------------------------------------------------------------------


class Clocked:
    """An embedder, and the seconds it has taken so far."""

    def __init__(self, embedder: Any) -> None:
        self.embedder = embedder
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.embedder, name)

    def embed_document(self, chunks: Sequence[str]) -> Array:
        start = time.perf_counter()
        vectors: Array = self.embedder.embed_document(chunks)
        self.seconds += time.perf_counter() - start
        return vectors


class GivenVectors:
    """Vectors made beforehand: an embedder that takes no time."""

    name = "given"
    dimensions = DIMENSIONS
    background = 0.0
    languages: frozenset[str] | None = None
    reads_neighbours = False

    def __init__(self) -> None:
        library = Library(5_000)
        self._vectors = np.concatenate([library.vectors(batch) for batch in library.batches()])
        self._vectors = self._vectors.astype(np.float32)
        self._at = 0

    def embed_document(self, chunks: Sequence[str]) -> Array:
        places = np.arange(self._at, self._at + len(chunks)) % len(self._vectors)
        self._at = int(places[-1]) + 1 if len(chunks) else self._at
        return self._vectors[places]


@cache
def _clocked(name: str) -> Clocked:
    from knowledge import providers

    make = GivenVectors if name == "given" else providers._EMBEDDERS[name]
    clocked = Clocked(make())
    harness.register_embedder(name, lambda: clocked)
    return clocked


def _use(name: str) -> Clocked:
    """Start the index anew with this embedder, and a clock on it."""
    from django.conf import settings

    clocked = _clocked(name)
    settings.QUARRY_EMBEDDER = name
    harness.execute("TRUNCATE knowledge_generation, knowledge_chunkembedding")
    return clocked


if __name__ == "__main__":
    main()
