"""What a search costs by the size of its scope: one whale, many owners, 1024 dimensions."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import harness
from benchmarks.loading import LIMIT, product_search, start_loaded
from benchmarks.metrics import overlap
from benchmarks.synthetic import Block, Library, Question

SIZES = (10_000, 100_000, 1_000_000)
SMALL_SIZES = (10_000,)
MODES = ("semantic", "keyword", "hybrid")
QUESTIONS = 100
SMALL_QUESTIONS = 20
TS_RANK_QUESTIONS = 20


def main() -> None:
    options = _options()
    sizes = options.chunks or (SMALL_SIZES if options.small else SIZES)
    if len(sizes) == 1:
        rows = measure(Library(sizes[0]), options)
    else:
        rows = [row for size in sizes for row in _measure_apart(size, options)]
    harness.show("Latency", rows)
    harness.write_json(options, {"latency": rows})


def _options() -> Any:
    options = harness.parser(__doc__)
    options.add_argument("--chunks", type=int, nargs="+", help=f"instead of {SIZES}")
    options.add_argument("--questions", type=int, help="asked of each scope in each mode")
    options.add_argument("--fresh", action="store_true", help="load again what is there")
    return options.parse_args()


def _measure_apart(size: int, options: Any) -> list[harness.Row]:
    """Each size has a server of its own, and so a process of its own."""
    with TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "benchmarks.latency", "--chunks", str(size)]
        command += ["--json", str(result), "--home", str(options.home)]
        command += ["--small"] * options.small + ["--fresh"] * options.fresh
        command += ["--questions", str(options.questions)] if options.questions else []
        subprocess.run(command, check=True)
        rows: list[harness.Row] = json.loads(result.read_text())["tables"]["latency"]
        return rows


@dataclass(frozen=True, slots=True)
class Place:
    """A scope to search, how many chunks it holds, and what is asked there."""

    name: str
    access: Any
    chunks: int
    questions: list[Question]


def measure(library: Library, options: Any) -> list[harness.Row]:
    """One row for each scope and mode."""
    embedder = start_loaded(
        options.home / f"latency-{library.chunks}", library, fresh=options.fresh
    )
    count = options.questions or (SMALL_QUESTIONS if options.small else QUESTIONS)
    rows = []
    for place in places(library, count):
        embedder.learn(place.questions)
        for mode in MODES:
            cells = _measure_mode(place, mode)
            rows.append({"table": library.chunks, "scope": place.name, "n": place.chunks} | cells)
            print(rows[-1], flush=True)
    return rows


def places(library: Library, count: int) -> list[Place]:
    """The whale's folders, its whole library, and the library of a smaller owner."""
    from django.contrib.auth import get_user_model

    from knowledge.access import Access
    from knowledge.models import Folder

    owner_ids = dict(get_user_model().objects.values_list("username", "pk"))
    folder_ids = dict(Folder.objects.values_list("name", "pk"))
    whale = Access.whole_library(owner_ids["whale"])
    other = next(block for block in library.blocks if block.owner != "whale")
    runs = [
        (block.folder, replace(whale, folder_ids=frozenset({folder_ids[block.folder]})), block)
        for block in library.blocks
        if block.folder
    ]
    runs.append(("100 %", whale, Block("whale", "", 0, library.chunks // 2)))
    runs.append(("a small owner", Access.whole_library(owner_ids[other.owner]), other))
    return [
        Place(name, access, block.size, library.questions(block.start, block.stop, count))
        for name, access, block in runs
    ]


def _measure_mode(place: Place, mode: str) -> harness.Row:
    ask = product_search(place.access, mode)
    calls = [partial(ask, question) for question in place.questions]
    harness.timed(calls[:5], harness.product_cpu)  # warm
    timings, found = harness.timed(calls, harness.product_cpu)
    row = {"mode": mode, **timings.row}
    if mode == "keyword":
        return row | _against_ts_rank(place, timings.cpu_each)
    row["full"] = fmean(len(ids) == min(LIMIT, place.chunks) for ids in found)
    if mode == "semantic":
        exact = [exact_nearest(place, question) for question in place.questions]
        row["recall@10"] = fmean(map(overlap, found, exact))
    return row


# What the answers are compared with -----------------------------------------------------------


def scope_sql(place: Place) -> tuple[str, list[Any]]:
    """The scope in plain SQL, written here apart from the engine's."""
    if place.access.folder_ids is None:
        return "owner_id = %s", [place.access.owner_id]
    return (
        "owner_id = %s AND item_id = ANY(ARRAY("
        "SELECT item_id FROM knowledge_filing WHERE folder_id = ANY(%s)))",
        [place.access.owner_id, list(place.access.folder_ids)],
    )


def exact_nearest(place: Place, question: Question) -> list[int]:
    """The nearest by comparing every vector of the scope; the sum keeps indexes out."""
    scope, params = scope_sql(place)
    vector = "[" + ",".join(map(str, question.vector.tolist())) + "]"
    rows = harness.execute(
        f"SELECT chunk_id FROM knowledge_chunkembedding WHERE {scope} "
        "ORDER BY (vector <=> %s::halfvec) + 0, chunk_id LIMIT %s",
        [*params, vector, LIMIT],
    )
    return [chunk_id for (chunk_id,) in rows]


def _against_ts_rank(place: Place, ours: float) -> harness.Row:
    """The usual Postgres way: any of the words, ranked by ts_rank."""
    scope, params = scope_sql(place)
    statement = (
        "SELECT chunk_id FROM knowledge_chunktext, "
        "CAST(replace(plainto_tsquery('english', %s)::text, '&', '|') AS tsquery) AS query "
        f"WHERE {scope} AND tsv @@ query ORDER BY ts_rank(tsv, query) DESC LIMIT %s"
    )

    calls = [
        partial(harness.execute, statement, [question.text, *params, LIMIT])
        for question in place.questions[:TS_RANK_QUESTIONS]
    ]
    timings, _ = harness.timed(calls, harness.product_cpu)
    theirs = timings.cpu_each
    return {"ts_rank CPU ms": theirs * 1000, "ts_rank over ours": theirs / ours}


if __name__ == "__main__":
    main()
