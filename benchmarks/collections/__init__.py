"""Test collections in BEIR's layout, and their documents as a user of the product would add them.

The product wants a title and at least 20 characters. A document without a title gets a dash,
which neither search reads as a word; a short one is padded with blanks, or with its title when it
has no text at all; one that has neither is left out, for us and for every peer.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.metrics import Span

NO_TITLE = "-"
MIN_TEXT = 20


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it is added, and as a plain full-text index would read it."""

    id: str
    title: str
    text: str

    @property
    def words(self) -> str:
        return self.text if self.title == NO_TITLE else f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, questions, and how well which document answers which question."""

    name: str
    documents: list[Document]
    queries: dict[str, str]
    gains: dict[str, dict[str, int]]


def read_collection(folder: Path, *, most_queries: int | None = None) -> Collection:
    """Only questions that some document answers count."""
    gains = _gains(folder)
    texts = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    asked = [query for query in texts if any(gains.get(query, {}).values())][:most_queries]
    documents = [document for row in _rows(folder / "corpus.jsonl") if (document := _document(row))]
    return Collection(folder.name, documents, {query: texts[query] for query in asked}, gains)


def only_relevant(collection: Collection) -> Collection:
    """The few documents that answer the questions: enough to see that everything runs."""
    wanted = {doc for query in collection.queries for doc in collection.gains[query]}
    documents = [document for document in collection.documents if document.id in wanted]
    return Collection(collection.name, documents, collection.queries, collection.gains)


def _document(row: dict[str, str]) -> Document | None:
    title = " ".join((row.get("title") or "").split())
    text = row["text"] if row["text"].strip() else title
    if not text:
        return None
    return Document(row["_id"], title or NO_TITLE, text.ljust(MIN_TEXT))


def _gains(folder: Path) -> dict[str, dict[str, int]]:
    gains: dict[str, dict[str, int]] = defaultdict(dict)
    for path in sorted((folder / "qrels").glob("*.tsv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                gains[row["query-id"]][row["corpus-id"]] = int(row["score"])
    return gains


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open() as file:
        yield from map(json.loads, file)


# Questions with the very characters that answer them ------------------------------------------


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question, and where in which text its answer stands."""

    text: str
    corpus: str
    spans: list[Span]


def read_span_questions(folder: Path) -> list[SpanQuestion]:
    """The questions of Chroma's chunking evaluation."""
    with (folder / "questions_df.csv").open(newline="") as file:
        return [
            SpanQuestion(
                row["question"],
                row["corpus_id"],
                [(r["start_index"], r["end_index"]) for r in json.loads(row["references"])],
            )
            for row in csv.DictReader(file)
        ]


def parts_of(text: str, *, longest: int) -> Iterable[tuple[int, str]]:
    """The text in parts that the product takes, each with its offset, cut after a line's end."""
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > longest:
            end = text.rfind("\n", start, start + longest) + 1 or start + longest
        yield start, text[start:end]
        start = end
