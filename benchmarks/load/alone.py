"""What the parts of an answer cost by themselves, without a server: ranking, and embedding."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks import harness
from benchmarks.load.filling import Loaded
from benchmarks.synthetic import Question

ROUNDS = 5
NOTES = 100


def rows(loaded: Loaded) -> Iterator[harness.Row]:
    """In a process of its own, as the server's clocks are to show nothing of it."""
    command = [sys.executable, "-m", "benchmarks.load.alone", str(loaded.home)]
    command.append(str(loaded.chunks))
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in said.splitlines():
        if line.startswith("{"):
            row: harness.Row = json.loads(line)
            print(row, flush=True)
            yield row


def _measure(loaded: Loaded) -> Iterator[harness.Row]:
    harness.start_product(loaded.home)
    from benchmarks.loading import product_ranking
    from knowledge.access import Access
    from knowledge.providers import live_embedder

    access = Access.whole_library(loaded.owners[0])
    questions = [Question(text, None) for text in loaded.questions]  # type: ignore[arg-type]
    for mode in ("semantic", "hybrid"):
        calls = [partial(product_ranking(access, mode), each) for each in questions]
        harness.timed(calls, harness.product_cpu)  # so that the questions have their vectors
        timings, _ = harness.timed(calls * ROUNDS, harness.product_cpu)
        count = len(timings.wall)
        yield {
            "who": f"Quarry, {mode} ranking alone",
            "chunks": loaded.chunks,
            "callers": 1,
            "p50 ms": timings.row["p50 ms"],
            "web, CPU ms": timings.cpu["client"] / count * 1000,
            "Postgres": timings.cpu["postgres"] / count * 1000,
        }
    embedder = live_embedder()
    texts = [f"Note {n}\nNote {n}: deploys of service {n} are on day 3." for n in range(NOTES)]
    embedder.embed_document(texts[:1])
    embeddings = [partial(embedder.embed_document, [text]) for text in texts]
    timings, _ = harness.timed(embeddings, harness.process_cpu)
    yield {
        "who": "Embedding a note",
        "chunks": loaded.chunks,
        "callers": 1,
        "p50 ms": timings.row["p50 ms"],
        "web, CPU ms": timings.cpu_each * 1000,
    }


if __name__ == "__main__":
    for measured in _measure(Loaded.read(Path(sys.argv[1]), int(sys.argv[2]))):
        print(json.dumps(measured))
