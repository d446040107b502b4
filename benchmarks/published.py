"""Conversations in the layouts of LongMemEval, LoCoMo and BEAM, which are not ours to ship.

Each is read from where its authors publish it: LongMemEval's and LoCoMo's single files of JSON, and
BEAM's folder with a numbered folder for each conversation. Questions that nothing answers are left
out. A turn belongs to a session, and a question has a type, as the authors call it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.collections import MIN_TEXT, Collection, Document
from benchmarks.conversations import Talk, Talks

_LOCOMO_TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TURN_OF_LOCOMO = re.compile(r"D\d+:\d+")
_TIME_FORMATS = ("%Y/%m/%d %H:%M", "%I:%M %p on %d %B, %Y", "%B-%d-%Y")
_TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class _Turn:
    id: str
    speaker: str
    text: str
    session: str
    time: str


@dataclass(frozen=True, slots=True)
class _Question:
    id: str
    text: str
    type: str
    answers: frozenset[str]


def is_published(path: Path) -> bool:
    """Whether a path has one of these layouts rather than BEIR's."""
    return path.suffix == ".json" or not (path / "corpus.jsonl").exists()


def read_published(path: Path, *, most_queries: int | None = None) -> Talks:
    """Every conversation with its turns, and the questions that some turn answers."""
    talks: list[Talk] = []
    gains: dict[str, dict[str, int]] = {}
    for name, turns, questions in _conversations(path):
        here = {turn.id for turn in turns}
        asked = {one.id: one for one in questions if one.answers & here and one.text}
        gains |= {one.id: dict.fromkeys(one.answers & here, 1) for one in asked.values()}
        talks.append(
            Talk(
                name,
                [_document(turn) for turn in turns if turn.text.strip()],
                {one.id: one.text for one in asked.values()},
                {turn.id: at for turn in turns if (at := _moment(turn.time))},
                replies={},
                sessions={turn.id: turn.session for turn in turns},
                types={one.id: one.type for one in asked.values()},
            )
        )
        if most_queries and len(gains) >= most_queries:
            break
    documents = [turn for talk in talks for turn in talk.turns]
    queries = {query: text for talk in talks for query, text in talk.queries.items()}
    return Talks(Collection(path.stem, documents, queries, gains), talks)


_Read = tuple[str, list[_Turn], list[_Question]]


def _conversations(path: Path) -> Iterator[_Read]:
    if path.is_dir():
        for chat in sorted(path.rglob("chat.json")):
            yield _beam(chat)
        return
    for row in json.loads(path.read_text()):
        yield _longmemeval(row) if "haystack_sessions" in row else _locomo(row)


def _longmemeval(row: dict[str, Any]) -> _Read:
    """One question with a history of its own; a session that answers marks the turns that do."""
    name = row["question_id"]
    turns, answers = [], set[str]()
    sessions = zip(
        row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True
    )
    for number, (session, time, said) in enumerate(sessions):
        for place, turn in enumerate(said):
            # By number too, for a history may hold one session twice.
            at = f"{name} {number} {session} {place}"
            turns.append(_Turn(at, turn["role"], turn["content"], f"{name} {session}", time))
            if turn.get("has_answer"):
                answers.add(at)
    return name, turns, [_Question(name, row["question"], row["question_type"], frozenset(answers))]


def _locomo(row: dict[str, Any]) -> _Read:
    name, said = row["sample_id"], row["conversation"]
    turns = [
        _Turn(
            f"{name} {turn['dia_id']}",
            turn["speaker"],
            " ".join(filter(None, (turn.get("text"), turn.get("blip_caption")))),
            f"{name} {session}",
            said.get(f"{session}_date_time", ""),
        )
        for session in said
        if isinstance(said[session], list)
        for turn in said[session]
    ]
    questions = [
        _Question(
            f"{name} {number}",
            asked["question"],
            _LOCOMO_TYPES.get(asked["category"], str(asked["category"])),
            frozenset(
                f"{name} {turn}"
                for each in asked.get("evidence", [])
                for turn in _TURN_OF_LOCOMO.findall(each)
            ),
        )
        for number, asked in enumerate(row["qa"])
    ]
    return name, turns, questions


def _beam(chat: Path) -> _Read:
    name = chat.parent.name
    turns, time = [], ""
    for batch in json.loads(chat.read_text()):
        for turn in (turn for group in batch["turns"] for turn in group):
            time = turn.get("time_anchor") or time
            session = f"{name} {batch['batch_number']}"
            turns.append(
                _Turn(f"{name} {turn['id']}", turn["role"], turn["content"], session, time)
            )
    asked = json.loads((chat.parent / "probing_questions" / "probing_questions.json").read_text())
    questions = [
        _Question(
            f"{name} {type} {number}",
            one["question"],
            type,
            frozenset(f"{name} {id}" for id in _numbers(one.get("source_chat_ids"))),
        )
        for type, listed in asked.items()
        for number, one in enumerate(listed)
    ]
    return name, turns, questions


def _numbers(value: Any) -> Iterator[int]:
    """The numbers of turns, however they are nested."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _numbers(each)


def _document(turn: _Turn) -> Document:
    """As an agent would remember it: titled by who said it and how it begins."""
    beginning = " ".join(turn.text.split())[:_TITLE_CHARACTERS]
    return Document(turn.id, f"{turn.speaker}: {beginning}", turn.text.ljust(MIN_TEXT))


def _moment(time: str) -> datetime | None:
    cleaned = " ".join(re.sub(r"\(\w+\)", "", time).split())
    for each in _TIME_FORMATS:
        try:
            return datetime.strptime(cleaned, each).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
