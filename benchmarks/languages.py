"""Questions about paragraphs in many languages: by word, by meaning, both; and across languages.

Takes collections in BEIR's layout, such as `benchmarks.collections.squad` makes. Those named with
`--parallel` are the same paragraphs and questions in several languages, as XQuAD's are: the
questions of each are also asked in the English one.
"""

from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import harness
from benchmarks.collections import Collection, read_collection
from benchmarks.metrics import ndcg
from benchmarks.quality import MODES, Shelf, add_collection, find_collection, remember_embeddings

HITS = 20


def main() -> None:
    options = _options()
    is_new = not options.loaded
    home = options.home / f"languages-{options.embedder}"
    harness.start_product(home, embedder=options.embedder, fresh=is_new)
    remember_embeddings(options.embedder, options.home / "embeddings.sqlite", fresh=False)
    folders = [*options.data, *options.parallel]
    collections = [read_collection(folder) for folder in folders]
    shelves = [(add_collection if is_new else find_collection)(one) for one in collections]
    harness.settle()
    weights = [float(weight) for weight in options.weights.split(",") if weight]
    rows = [measure(*pair, weights) for pair in zip(collections, shelves, strict=True)]
    harness.show(f"nDCG@10 with {options.embedder}", rows)
    across = measure_across(
        collections[len(options.data) :], shelves[len(options.data) :], options.pivot
    )
    if across:
        harness.show(f"Questions of other languages in {options.pivot}", across)
    harness.write_json(options, {"languages": rows, "across": across})


def _options() -> Any:
    options = harness.parser(__doc__)
    options.add_argument("--data", type=Path, nargs="*", default=[], metavar="FOLDER")
    options.add_argument("--parallel", type=Path, nargs="*", default=[], metavar="FOLDER")
    options.add_argument("--pivot", default="xquad.en", help="the parallel one that is asked")
    options.add_argument("--embedder", default="granite")
    options.add_argument("--weights", default="", help="of meaning, to try instead of our own")
    options.add_argument("--loaded", action="store_true", help="search what the last run added")
    return options.parse_args()


def measure(collection: Collection, shelf: Shelf, weights: list[float]) -> harness.Row:
    """The three modes, and hybrid with other weights."""
    row: harness.Row = {"collection": collection.name}
    row |= {mode: score(collection, shelf, mode) for mode in MODES}
    for weight in weights:
        with _weight_of_meaning(weight):
            row[f"{weight:g}"] = score(collection, shelf, "hybrid")
    return row


def measure_across(
    collections: list[Collection], shelves: list[Shelf], pivot: str
) -> list[harness.Row]:
    """The questions of every other language, asked in one."""
    named = {one.name: (one, shelf) for one, shelf in zip(collections, shelves, strict=True)}
    if pivot not in named:
        return []
    _, shelf = named[pivot]
    return [
        {"questions": name} | {mode: score(one, shelf, mode) for mode in MODES}
        for name, (one, _) in named.items()
        if name != pivot
    ]


def score(collection: Collection, shelf: Shelf, mode: str) -> float:
    from knowledge.access import Access
    from knowledge.retrieval.search import LibrarySearchRequest, search

    access = Access.whole_library(shelf.owner_id)
    found = []
    for query, text in collection.queries.items():
        hits = search(access, LibrarySearchRequest(query=text, mode=mode, limit=HITS)).hits
        ranking = list(dict.fromkeys(shelf.documents[hit.item.pk] for hit in hits))
        found.append(ndcg(ranking, collection.gains[query]))
    return 100 * fmean(found)


def _weight_of_meaning(weight: float) -> Any:
    from unittest.mock import patch

    return patch("knowledge.retrieval.search.weight_of_meaning", lambda *_: (weight, None))


if __name__ == "__main__":
    main()
