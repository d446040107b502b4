"""The same vectors, texts, owner filters and machine, in one run: Quarry beside its peers."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.loading import (
    LIMIT,
    KnownQuestions,
    product_ranking,
    product_search,
    start_loaded,
)
from benchmarks.metrics import overlap
from benchmarks.stores import STORES, Store
from benchmarks.synthetic import Array, Block, Library, Question

CHUNKS = 100_000
SMALL_CHUNKS = 10_000
QUESTIONS = 100
SMALL_QUESTIONS = 20
OURS = "Quarry"
OUR_RANKING = "Quarry, ranking alone"

Ask = Callable[[Question], list[int]]


def main() -> None:
    options = _options()
    harness.require("chromadb", "lancedb", "pysqlite3", "sqlite_vec", "tantivy")
    library = Library(options.chunks or (SMALL_CHUNKS if options.small else CHUNKS))
    filters = filters_of(library, SMALL_QUESTIONS if options.small else QUESTIONS)
    embedder = start_loaded(options.home / f"latency-{library.chunks}", library)
    rows = measure_product(filters, embedder)
    for kind in STORES:
        if not options.only or kind.name in options.only:
            rows += measure_peer(kind, library, filters, options.home / "peers")
    rows.sort(key=lambda row: (row["mode"], row["filter"]))
    harness.show("Peers", [with_ratio(row, rows) for row in rows])
    for kind in STORES:
        print(f"- {kind.name}: {kind.setup}")
    harness.write_json(options, {"peers": [with_ratio(row, rows) for row in rows]})


def _options() -> Any:
    options = harness.parser(__doc__)
    options.add_argument("--chunks", type=int)
    options.add_argument("--only", action="append", help="a peer's name; all if not given")
    return options.parse_args()


@dataclass(frozen=True, slots=True)
class Filter:
    """One owner's chunks, what is asked of them, and the true nearest."""

    block: Block
    owner: int
    questions: list[Question]
    nearest: list[list[int]]


def filters_of(library: Library, count: int) -> list[Filter]:
    """The whale, the largest of the other owners and the smallest."""
    others = [block for block in library.blocks if block.owner != "whale"]
    blocks = [
        Block("whale", "", 0, library.chunks // 2),
        max(others, key=lambda block: block.size),
        min(others, key=lambda block: block.size),
    ]
    owners = owner_numbers(library)
    filters = []
    for block in blocks:
        questions = library.questions(block.start, block.stop, count)
        nearest = exact_nearest(library, block, questions)
        filters.append(Filter(block, int(owners[block.start]), questions, nearest))
    return filters


def owner_numbers(library: Library) -> Array:
    """A number for the owner of each chunk; the whale's is 0."""
    names = list(dict.fromkeys(block.owner for block in library.blocks))
    sizes = [block.size for block in library.blocks]
    return np.repeat([names.index(block.owner) for block in library.blocks], sizes)


def exact_nearest(library: Library, block: Block, questions: list[Question]) -> list[list[int]]:
    """The nearest in the block by comparing everything, in numpy."""
    batches = [
        batch
        for batch in library.batches()
        if batch.start < block.stop and block.start < batch.stop
    ]
    vectors = np.concatenate([library.vectors(batch) for batch in batches]).astype(np.float32)
    vectors = vectors[block.start - batches[0].start :][: block.size]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = np.stack([question.vector for question in questions]) @ vectors.T
    best = np.argsort(-scores, axis=1, kind="stable")[:, :LIMIT]
    nearest: list[list[int]] = (best + block.start + 1).tolist()
    return nearest


# Quarry ---------------------------------------------------------------------------------------


def measure_product(filters: list[Filter], embedder: KnownQuestions) -> list[harness.Row]:
    from django.contrib.auth import get_user_model

    from knowledge.access import Access

    owner_ids = dict(get_user_model().objects.values_list("username", "pk"))
    rows: list[harness.Row] = []
    for one in filters:
        embedder.learn(one.questions)
        access = Access.whole_library(owner_ids[one.block.owner])
        rows += [
            _row(name, mode, one, way(access, mode), harness.product_cpu)
            for name, way in ((OURS, product_search), (OUR_RANKING, product_ranking))
            for mode in ("semantic", "keyword", "hybrid")
        ]
    return rows


# Peers ----------------------------------------------------------------------------------------


def measure_peer(
    kind: type[Store], library: Library, filters: list[Filter], home: Path
) -> list[harness.Row]:
    with harness.stopwatch(f"{kind.name} filled"):
        store = filled(kind, library, home / kind.__name__)
    return [
        _row(kind.name, kind.mode, one, _stored(store, one.owner), harness.process_cpu)
        for one in filters
    ]


def _stored(store: Store, owner: int) -> Ask:
    return lambda question: store.search(question, owner)


def filled(kind: type[Store], library: Library, folder: Path) -> Store:
    """A new store with the whole library in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    store = kind(folder, library.dimensions)
    owners = owner_numbers(library)
    for batch in library.batches():
        ids = range(batch.start + 1, batch.stop + 1)
        numbers = owners[batch.start : batch.stop].tolist()
        store.add(ids, numbers, library.vectors(batch), library.texts(batch))
    store.finish()
    return store


# Rows -----------------------------------------------------------------------------------------


def _row(
    name: str, mode: str, one: Filter, ask: Ask, cpu: Callable[[], dict[str, float]]
) -> harness.Row:
    calls = [partial(ask, question) for question in one.questions]
    harness.timed(calls[:5], cpu)  # warm
    timings, found = harness.timed(calls, cpu)
    row = {"mode": mode, "filter": one.block.size, "by": name, **timings.row}
    if mode == "semantic":
        row["recall@10"] = fmean(map(overlap, found, one.nearest))
    return row


def with_ratio(row: harness.Row, rows: list[harness.Row]) -> harness.Row:
    """The row, and its CPU over ours in the same mode behind the same filter.

    Ours is Python and Postgres together: the whole answer with items and passages, or only the
    ranking of ids and scores, which is what the peers give.
    """
    ours = {
        name: next(
            r
            for r in rows
            if (r["mode"], r["filter"], r["by"]) == (row["mode"], row["filter"], name)
        )
        for name in (OURS, OUR_RANKING)
    }
    if row["by"] in ours:
        return row
    return {
        **row,
        "CPU over our ranking": row["CPU ms"] / ours[OUR_RANKING]["CPU ms"],
        "CPU over our answer": row["CPU ms"] / ours[OURS]["CPU ms"],
    }


if __name__ == "__main__":
    main()
