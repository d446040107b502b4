"""The published layouts of conversations are read: turns, sessions, types, evidence and dates."""

import json
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.memory import scores
from benchmarks.published import is_published, read_published


def test_longmemeval_gives_each_question_its_own_history(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "My cat is called Granite.", "has_answer": True},
        {"role": "assistant", "content": "What a name!"},
    ]
    row = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What is my cat called?",
        "answer": "Granite",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 03:00"],
        "haystack_sessions": [said, [{"role": "user", "content": "It rains again."}]],
        "answer_session_ids": ["s1"],
    }
    unanswered = {**row, "question_id": "q2_abs", "haystack_sessions": [said[1:], []]}
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps([row, unanswered]))
    assert is_published(path)
    read = read_published(path)
    first, second = read.talks
    assert [turn.text.strip() for turn in first.turns] == [
        "My cat is called Granite.",
        "What a name!",
        "It rains again.",
    ]
    assert first.types == {"q1": "single-session-user"}
    assert read.collection.gains == {"q1": {first.turns[0].id: 1}}
    assert first.times[first.turns[2].id] == datetime(2023, 5, 21, 3, 0, tzinfo=UTC)
    assert len(set(first.sessions.values())) == 2
    assert second.queries == {}


def test_locomo_names_evidence_by_turn(tmp_path: Path) -> None:
    row = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I went to the quarry."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "And?", "blip_caption": "a stone"},
            ],
        },
        "qa": [
            {"question": "Where did Ada go?", "evidence": ["D1:1; D1:2"], "category": 4},
            {"question": "What did nobody say?", "evidence": [], "category": 5},
        ],
    }
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps([row]))
    read = read_published(path)
    [talk] = read.talks
    assert talk.types == {"conv-1 0": "single-hop"}
    assert set(read.collection.gains["conv-1 0"]) == {"conv-1 D1:1", "conv-1 D1:2"}
    assert set(talk.times.values()) == {datetime(2023, 5, 8, 13, 56, tzinfo=UTC)}
    assert "a stone" in talk.turns[1].text


def test_beam_is_a_folder_of_conversations(tmp_path: Path) -> None:
    chat = tmp_path / "100K" / "1"
    (chat / "probing_questions").mkdir(parents=True)
    turns = [
        [{"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I start today."}],
        [{"role": "assistant", "id": 1, "content": "Good luck with the quarry."}],
    ]
    (chat / "chat.json").write_text(json.dumps([{"batch_number": 1, "turns": turns}]))
    questions = {
        "abstention": [{"question": "Who is my aunt?"}],
        "knowledge_update": [
            {"question": "When?", "source_chat_ids": {"original_info": [0], "updated_info": [1]}}
        ],
    }
    asked = chat / "probing_questions" / "probing_questions.json"
    asked.write_text(json.dumps(questions))
    read = read_published(tmp_path)
    [talk] = read.talks
    assert talk.types == {"1 knowledge_update 0": "knowledge_update"}
    assert read.collection.gains == {"1 knowledge_update 0": {"1 0": 1, "1 1": 1}}
    assert set(talk.times.values()) == {datetime(2024, 3, 15, tzinfo=UTC)}


def test_a_session_is_found_by_any_of_its_turns() -> None:
    sessions = {"a": "s", "b": "s", "c": "t"}
    row = scores({"q": ["b", "c"]}, {"q": {"a": 1}}, sessions)
    assert (row["Recall@5"], row["hit@5"], row["sessions@5"]) == (0, 0, 100)
