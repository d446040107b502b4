"""Writes a collection in BEIR's layout; what all the makers here share."""

import csv
import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.collections import SpanQuestion


class Pair(NamedTuple):
    """A question and the one document that is known to answer it."""

    question: str
    title: str
    text: str


def write_collection(folder: Path, pairs: Iterable[Pair], *, most_questions: int = 150) -> None:
    """Every pair's document, and the questions of as many, spread evenly over them."""
    listed = list(pairs)
    step = max(1, len(listed) // most_questions)
    asked = [number for number in range(len(listed)) if number % step == 0][:most_questions]
    documents = [(pair.title, pair.text) for pair in listed]
    write_judged(folder, documents, [(listed[number].question, number) for number in asked])


def write_judged(
    folder: Path, documents: Sequence[tuple[str, str]], asked: Iterable[tuple[str, int]]
) -> None:
    """Titles and texts of documents, and questions with the number of the one that answers."""
    numbered = list(enumerate(asked))
    write_collection_rows(
        folder,
        {f"d{number}": document for number, document in enumerate(documents)},
        {f"q{number}": question for number, (question, _) in numbered},
        {f"q{number}": [f"d{document}"] for number, (_, document) in numbered},
    )


def write_collection_rows(
    folder: Path,
    documents: Mapping[str, tuple[str, str]],
    questions: Mapping[str, str],
    answers: Mapping[str, Iterable[str]],
) -> None:
    """Titles and texts by document, questions, and the documents that answer each."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    corpus = [
        {"_id": number, "title": title, "text": text} for number, (title, text) in documents.items()
    ]
    queries = [{"_id": number, "text": text} for number, text in questions.items()]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    judged = [f"{number}\t{each}\t1\n" for number, of in answers.items() for each in of]
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{''.join(judged)}")


def write_spans(
    folder: Path, texts: Mapping[str, str], asked: Sequence[SpanQuestion], *, most: int = 200
) -> None:
    """Long texts, and questions with the characters that answer each: evenly, so many."""
    raw = folder / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (raw / f"{name}.md").write_text(text)
    with (raw / "questions_df.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "references", "corpus_id"])
        for one in asked[:: max(1, len(asked) // most)][:most]:
            spans = [{"start_index": start, "end_index": end} for start, end in one.spans]
            rows.writerow([one.text, json.dumps(spans), one.corpus])


def run(description: str | None, make: Callable[[Path], None]) -> None:
    """Make the collections of one source below the folder that the command line names."""
    options = ArgumentParser(description=description)
    options.add_argument("folder", type=Path)
    make(options.parse_args().folder)
