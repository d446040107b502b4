"""What a reranker gains on each collection, and what a search waits for it.

Takes collections in BEIR's layout. A search that its reranker left within the budget unchanged
counts as it is; `late or failed` says how many did.
"""

import os
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import harness
from benchmarks.collections import Collection, read_collection
from benchmarks.metrics import ndcg
from benchmarks.quality import Shelf, add_collection, find_collection, remember_embeddings

HITS = 20


def main() -> None:
    options = _options()
    is_new = not options.loaded
    harness.start_product(options.home / "reranking", embedder=options.embedder, fresh=is_new)
    remember_embeddings(options.embedder, options.home / "embeddings.sqlite", fresh=False)
    collections = [read_collection(one, most_queries=options.questions) for one in options.data]
    shelves = [(add_collection if is_new else find_collection)(one) for one in collections]
    harness.settle()
    _choose(options.reranker, options.milliseconds)
    rows = [
        measure(collection, shelf, name)
        for collection, shelf in zip(collections, shelves, strict=True)
        for name in ("", options.reranker)
    ]
    harness.show("Reranking off and on", rows)
    harness.write_json(options, {"reranking": rows})


def _options() -> Any:
    options = harness.parser(__doc__)
    options.add_argument("--data", type=Path, nargs="+", required=True, metavar="FOLDER")
    options.add_argument("--embedder", default="granite")
    options.add_argument("--reranker", required=True, help="as QUARRY_RERANKER names it")
    options.add_argument("--milliseconds", type=int, default=0, help="instead of the usual budget")
    options.add_argument("--questions", type=int, help="so many of each at most")
    options.add_argument("--loaded", action="store_true", help="search what the last run added")
    return options.parse_args()


def _choose(reranker: str, milliseconds: int) -> None:
    """Have it loaded, as a server's is when somebody searches."""
    from django.conf import settings

    from knowledge.providers import load_reranker

    settings.QUARRY_RERANKER, settings.QUARRY_RERANK_MS = reranker, milliseconds
    load_reranker()


def measure(collection: Collection, shelf: Shelf, reranker: str) -> harness.Row:
    """Hybrid, with what comes from this reranker if one is named."""
    from django.conf import settings

    from knowledge.access import Access
    from knowledge.retrieval.search import LibrarySearchRequest, search

    settings.QUARRY_RERANKER = reranker
    access = Access.whole_library(shelf.owner_id)
    asks = [
        partial(search, access, LibrarySearchRequest(query=text, limit=HITS))
        for text in collection.queries.values()
    ]
    if not reranker:  # which comes first
        for ask in asks:
            ask()  # the questions' vectors are cached from now on, and the tables warm
    timings, answers = harness.timed(asks, _cpu)
    found = [
        list(dict.fromkeys(shelf.documents[hit.item.pk] for hit in answer.hits))
        for answer in answers
    ]
    points = [
        ndcg(ranking, collection.gains[query])
        for query, ranking in zip(collection.queries, found, strict=True)
    ]
    notes = sum("Not reranked" in (answer.degraded or "") for answer in answers)
    return {
        "collection": collection.name,
        "reranker": Path(reranker).name or "none",
        "nDCG@10": 100 * fmean(points),
        "late or failed": notes,
        **timings.row,
    }


def _cpu() -> dict[str, float]:
    """Of the product, and of the process that reranks."""
    ticks = 0
    for children in Path("/proc/self/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            if b"reader_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                ticks += sum(map(int, harness.process_stat(child)[11:13]))
    return {**harness.product_cpu(), "reranker": ticks / os.sysconf("SC_CLK_TCK")}


if __name__ == "__main__":
    main()
