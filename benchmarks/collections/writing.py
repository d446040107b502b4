"""Writes a collection in BEIR's layout; what all the makers here share."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple


class Pair(NamedTuple):
    """A question and the one document that is known to answer it."""

    question: str
    title: str
    text: str


def write_collection(folder: Path, pairs: Iterable[Pair], *, most_questions: int = 150) -> None:
    """Every pair's document, and the questions of as many, spread evenly over them."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    listed = list(pairs)
    step = max(1, len(listed) // most_questions)
    asked = [number for number in range(len(listed)) if number % step == 0][:most_questions]
    documents = [
        {"_id": f"d{number}", "title": pair.title, "text": pair.text}
        for number, pair in enumerate(listed)
    ]
    questions = [{"_id": f"q{number}", "text": listed[number].question} for number in asked]
    for name, rows in (("corpus", documents), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    judged = "".join(f"q{number}\td{number}\t1\n" for number in asked)
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")


def run(description: str | None, make: Callable[[Path], None]) -> None:
    """Make the collections of one source below the folder that the command line names."""
    options = ArgumentParser(description=description)
    options.add_argument("folder", type=Path)
    make(options.parse_args().folder)
