"""Conversations are made up, kept and read so that every question has its answers in its own."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.chatter import conversations
from benchmarks.collections import Document
from benchmarks.conversations import read_talks, write_talks
from benchmarks.memory import grep, scores


def test_the_same_seed_makes_the_same_conversations() -> None:
    one, again = (list(conversations(2, sessions=6)) for _ in range(2))
    assert one == again
    assert one != list(conversations(2, sessions=6, seed=12))
    assert one[0].turns != one[1].turns


def test_questions_are_asked_once_and_answered_by_turns_of_their_own_conversation() -> None:
    for one in conversations(3, sessions=8):
        turns = {turn.id for turn in one.turns}
        texts = [question.text for question in one.questions]
        assert len(texts) == len(set(texts)) > 30
        for question in one.questions:
            assert question.answers
            assert set(question.answers) <= turns
        replies = [turn for turn in one.turns if turn.reply_to]
        assert replies
        assert all(turn.reply_to in turns for turn in replies)
        assert [turn.at for turn in one.turns] == sorted(turn.at for turn in one.turns)


def test_what_is_written_is_read_by_conversation(tmp_path: Path) -> None:
    made = list(conversations(2, sessions=6))
    write_talks(tmp_path, made)
    read = read_talks(tmp_path)
    assert [talk.name for talk in read.talks] == [one.id for one in made]
    for talk, one in zip(read.talks, made, strict=True):
        assert [turn.id for turn in talk.turns] == [turn.id for turn in one.turns]
        assert talk.queries == {question.id: question.text for question in one.questions}
        assert talk.times == {turn.id: turn.at for turn in one.turns}
        assert talk.replies == {turn.id: turn.reply_to for turn in one.turns if turn.reply_to}


def collection(folder: Path, documents: list[object], queries: list[object], judged: str) -> Path:
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}\n")
    return folder


def test_a_question_without_a_conversation_belongs_where_its_answer_is(tmp_path: Path) -> None:
    text = "A text that is long enough."
    documents: list[object] = [
        {"_id": "a", "text": text, "metadata": {"conversation_id": 7, "timestamp": "2026-05-01"}},
        {"_id": "b", "text": text, "metadata": {"conversation_id": 8, "time": "one spring day"}},
    ]
    queries: list[object] = [{"_id": "q", "text": "Which?"}]
    read = read_talks(collection(tmp_path, documents, queries, "q\ta\t1"))
    [talk] = read.talks
    assert (talk.name, [turn.id for turn in talk.turns]) == ("7", ["a"])
    assert talk.times == {"a": datetime(2026, 5, 1, tzinfo=UTC)}


def test_a_collection_that_names_no_conversation_is_one(tmp_path: Path) -> None:
    text = "A text that is long enough."
    documents: list[object] = [{"_id": "a", "text": text}, {"_id": "b", "text": text}]
    queries: list[object] = [{"_id": "q", "text": "Which?"}]
    [talk] = read_talks(collection(tmp_path, documents, queries, "q\ta\t1")).talks
    assert (talk.name, len(talk.turns), talk.times) == (tmp_path.name, 2, {})


def test_grep_ranks_by_words_in_common() -> None:
    turns = [Document("1", "-", "the moon"), Document("2", "-", "Moon and tides")]
    assert grep(turns, "tides of the moon") == ["1", "2"]
    assert grep(turns, "moon, tides?") == ["2", "1"]
    assert grep(turns, "granite") == []


def test_scores_are_means_in_hundredths() -> None:
    row = scores({"q": ["x", "a"], "r": ["x"]}, {"q": {"a": 1}, "r": {"b": 1}})
    assert row["Recall@5"] == row["Recall@10"] == 50
    assert row["nDCG@10"] == pytest.approx(31.5, abs=0.1)
