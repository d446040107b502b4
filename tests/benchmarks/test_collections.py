"""Collections are read as they are, and made fit for the product where they are not."""

import json
from pathlib import Path

import pytest

from benchmarks.collections import (
    classic,
    only_relevant,
    parts_of,
    read_collection,
    read_span_questions,
    squad,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = [
        {"_id": "whole", "title": "A title", "text": "A text that is long enough."},
        {"_id": "untitled", "title": "", "text": "Another text that is long enough."},
        {"_id": "short", "title": "Short", "text": "Tiny"},
        {"_id": "only a title", "title": "Nothing else", "text": " "},
        {"_id": "empty", "title": "", "text": ""},
    ]
    questions = [{"_id": "q1", "text": "Which?"}, {"_id": "q2", "text": "Unanswered?"}]
    for name, records in (("corpus", documents), ("queries", questions)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "qrels").mkdir()
    rows = ["query-id\tcorpus-id\tscore", "q1\twhole\t3", "q1\tshort\t0", "q2\tshort\t0"]
    (tmp_path / "qrels" / "test.tsv").write_text("\n".join(rows))
    return tmp_path


def test_every_document_with_words_fits_the_product(folder: Path) -> None:
    documents = {one.id: one for one in read_collection(folder).documents}
    assert list(documents) == ["whole", "untitled", "short", "only a title"]
    assert all(one.title and len(one.text) >= 20 for one in documents.values())


def test_what_makes_a_document_fit_adds_no_words(folder: Path) -> None:
    words = {one.id: one.words.split() for one in read_collection(folder).documents}
    assert words["untitled"] == ["Another", "text", "that", "is", "long", "enough."]
    assert words["short"] == ["Short", "Tiny"]


def test_only_questions_with_an_answer_are_asked(folder: Path) -> None:
    collection = read_collection(folder)
    assert collection.queries == {"q1": "Which?"}
    assert collection.gains["q1"] == {"whole": 3, "short": 0}


def test_a_small_run_keeps_what_was_judged(folder: Path) -> None:
    small = only_relevant(read_collection(folder, most_queries=1))
    assert [one.id for one in small.documents] == ["whole", "short"]


def test_parts_are_within_the_limit_and_join_to_the_text() -> None:
    text = "one line\nanother line\n" * 5 + "x" * 60
    parts = list(parts_of(text, longest=25))
    assert "".join(part for _, part in parts) == text
    assert all(len(part) <= 25 and text[start:].startswith(part) for start, part in parts)
    assert parts[0] == (0, "one line\nanother line\n")


def test_an_answer_in_an_article_becomes_the_span_of_its_sentence(tmp_path: Path) -> None:
    def paragraph(text: str, question: str, answer: str) -> dict[str, object]:
        answers = [{"text": answer, "answer_start": text.index(answer)}]
        return {"context": text, "qas": [{"question": question, "answers": answers}]}

    hard = paragraph("It is old. Granite is hard. So is flint.", "What is hard?", "Granite")
    soft = paragraph("Chalk is soft. It is white.", "Which colour?", "white")
    told = {"data": [{"title": "Stones", "paragraphs": [hard, soft]}]}
    (tmp_path / "stones.json").write_text(json.dumps(told))

    squad.make_spans(tmp_path, tmp_path / "stones.json")

    raw = tmp_path / "stones-spans" / "raw"
    text = (raw / "Stones.md").read_text()
    questions = read_span_questions(raw)
    assert [one.text for one in questions] == ["What is hard?", "Which colour?"]
    spans = [[text[a:b].strip() for a, b in one.spans] for one in questions]
    assert spans == [["Granite is hard."], ["It is white."]]


def test_spans_are_read_with_their_questions(tmp_path: Path) -> None:
    spans = [{"content": "x", "start_index": 3, "end_index": 4}]
    quoted = json.dumps(spans).replace('"', '""')
    lines = ["question,references,corpus_id", f'"Who, and why?","{quoted}",tales']
    (tmp_path / "questions_df.csv").write_text("\n".join(lines))
    [question] = read_span_questions(tmp_path)
    assert (question.text, question.corpus, question.spans) == ("Who, and why?", "tales", [(3, 4)])


def test_paragraphs_become_documents_and_their_questions_lead_to_them(tmp_path: Path) -> None:
    def paragraph(text: str, *questions: str) -> dict[str, object]:
        return {"context": text, "qas": [{"question": question} for question in questions]}

    told = {"data": [{"paragraphs": [paragraph("Granite is hard.", "Hard?", "What?", "Hard?")]}]}
    told["data"].append({"paragraphs": [paragraph("Chalk is soft, and white.", "Soft?")]})
    (tmp_path / "stones.json").write_text(json.dumps(told))

    squad.make(tmp_path, tmp_path / "stones.json")

    made = read_collection(tmp_path / "stones")
    assert [one.words.strip() for one in made.documents] == [
        "Granite is hard.",
        "Chalk is soft, and white.",
    ]
    assert [(made.queries[query], gains) for query, gains in made.gains.items()] == [
        ("Hard?", {"d0": 1}),
        ("What?", {"d0": 1}),
        ("Soft?", {"d1": 1}),
    ]


CLASSICS = {
    "med/MED.ALL": ".I 1\n.W\ngranite in\nthe north\n.I 2\n.T\nBasalt\n.W\ndark and heavy stone\n",
    "med/MED.QRY": ".I 1\n.W\n which stone\nis dark?\n",
    "med/MED.REL": "1 0 2 1\n",
    "time/TIME.ALL": "*TEXT 017 01/04/63 PAGE 020\n\nGRANITE IN\n\nTHE NORTH\n\n"
    "*TEXT 018 01/04/63 PAGE 021\n\nBASALT IS DARK\n\n*STOP",
    "time/TIME.QUE": "*FIND      1\n\n WHICH STONE\n\nIS DARK ?\n\n*STOP",
    "time/TIME.REL": "1  2\n",
    "lisa/LISA0.001": "Document    1\nGRANITE\nSTUDIES.\n\nGRANITE IN THE NORTH.\n"
    f"{'*' * 44}\nDocument    2\nBASALT.\n\nBASALT IS DARK AND HEAVY.\n{'*' * 44}\n",
    "lisa/LISA.QUE": "1\nWHICH STONE\nIS DARK? #\n",
    "lisa/LISA.REL": "Query 1\n1 Relevant Refs:\n2 -1\n\n",
    "npl/doc-text": "1\ngranite in the north\n   /\n2\nbasalt is\ndark\n   /\n",
    "npl/query-text": "1\nWHICH STONE IS DARK\n/\n",
    "npl/rlv-ass": "1\n    2\n   /\n",
}


@pytest.mark.parametrize("name", ["med", "time", "lisa", "npl"])
def test_a_classic_collection_is_read_from_its_own_format(tmp_path: Path, name: str) -> None:
    for path, text in CLASSICS.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    classic.make(tmp_path / "made", tmp_path)
    made = read_collection(tmp_path / "made" / name)
    documents = {one.id: " ".join(one.words.lower().split()) for one in made.documents}
    assert "granite in the north" in documents["1"]
    assert documents["2"].startswith("basalt")
    assert [query.lower().rstrip(" ?") for query in made.queries.values()] == [
        "which stone is dark"
    ]
    assert made.gains == {"1": {"2": 1}}
