"""Paragraphs and the questions about them, from files in SQuAD's layout: XQuAD, DRCD, TQuad, …

Each file becomes a collection of its name. Paragraphs have no titles, and of the questions about
one up to five are asked. Of a file that says where in a paragraph an answer stands, a second
collection asks for the characters of its sentence in the whole article.
"""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.collections import SpanQuestion
from benchmarks.collections.writing import write_judged, write_spans
from knowledge.text.sentences import sentence_spans

MOST_PARAGRAPHS = 240
MOST_QUESTIONS = 200


def make(folder: Path, file: Path) -> None:
    paragraphs: dict[str, list[str]] = {}
    for text, question in _pairs(file):
        if text in paragraphs or len(paragraphs) < MOST_PARAGRAPHS:
            paragraphs.setdefault(text, []).append(question)
    asked = [
        (question, number)
        for number, questions in enumerate(paragraphs.values())
        for question in dict.fromkeys(questions[:5])
    ]
    step = max(1, len(asked) // MOST_QUESTIONS)
    documents = [("", text) for text in paragraphs]
    write_judged(folder / file.stem, documents, asked[::step][:MOST_QUESTIONS])


def make_spans(folder: Path, file: Path) -> None:
    texts: dict[str, str] = {}
    asked: list[SpanQuestion] = []
    for article in json.loads(file.read_text())["data"]:
        name = article["title"]
        texts[name] = "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])
        start = 0
        for paragraph in article["paragraphs"]:
            sentences = sentence_spans(paragraph["context"])
            for each in paragraph["qas"]:
                at = each["answers"][0]["answer_start"]
                spans = [(start + a, start + b) for a, b in sentences if a <= at < b]
                asked.append(SpanQuestion(each["question"], name, spans))
            start += len(paragraph["context"]) + 2
    write_spans(folder / f"{file.stem}-spans", texts, asked)


def _pairs(file: Path) -> Iterator[tuple[str, str]]:
    """Each question with its paragraph."""
    if file.suffix == ".jsonl":
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        yield from ((row["context"], row["question"]) for row in rows)
        return
    told: dict[str, Any] = json.loads(file.read_text())
    for article in told["data"]:
        for paragraph in article["paragraphs"]:
            for each in paragraph["qas"]:
                yield paragraph["context"].strip(), each["question"].strip()


def main() -> None:
    options = ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("file", type=Path, nargs="+")
    given = options.parse_args()
    for file in given.file:
        make(given.folder, file)
        if file.suffix == ".json" and '"answer_start"' in file.read_text():
            make_spans(given.folder, file)


if __name__ == "__main__":
    main()
