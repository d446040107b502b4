"""Collections of conversations: BEIR's layout, where each line names the conversation it is of.

`metadata.conversation` (or `conversation_id`) of a document and of a question says which; a
question without one belongs where its answers are. `metadata.time` is when a turn was said, and
`metadata.reply_to` the turn that it answers. A collection that names none is one conversation.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.chatter import Conversation
from benchmarks.collections import Collection, Document, read_collection

_NAMES = ("conversation", "conversation_id")
_TIMES = ("time", "timestamp", "date_time", "date")


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation of a collection: its turns in order, and the questions about it."""

    name: str
    turns: list[Document]
    queries: dict[str, str]
    times: dict[str, datetime]
    replies: dict[str, str]
    sessions: dict[str, str] = field(default_factory=dict)
    """Which session a turn is of, where that is known."""
    types: dict[str, str] = field(default_factory=dict)
    """Of which type a question is, where that is known."""


@dataclass(frozen=True, slots=True)
class Talks:
    """A collection by its conversations."""

    collection: Collection
    talks: list[Talk]


def read_talks(folder: Path, *, most_queries: int | None = None) -> Talks:
    """Every conversation that somebody asks about, with all its turns."""
    collection = read_collection(folder, most_queries=most_queries)
    said = _facts(folder / "corpus.jsonl")
    asked = _facts(folder / "queries.jsonl")
    homes = {one.id: _conversation(said[one.id]) for one in collection.documents}
    queries: dict[str, dict[str, str]] = {}
    for query, text in collection.queries.items():
        home = _conversation(asked[query]) or _home(homes, collection.gains[query])
        queries.setdefault(home, {})[query] = text
    talks = [_talk(collection, home, homes, said, queries[home]) for home in sorted(queries)]
    return Talks(collection, talks)


def write_talks(folder: Path, conversations: Iterable[Conversation]) -> None:
    """Made-up conversations as a collection of this layout."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    made = list(conversations)
    turns = [
        {
            "_id": turn.id,
            "title": turn.title,
            "text": turn.text,
            "metadata": {
                "conversation": one.id,
                "time": turn.at.isoformat(),
                "reply_to": turn.reply_to,
            },
        }
        for one in made
        for turn in one.turns
    ]
    questions = [
        {"_id": each.id, "text": each.text, "metadata": {"conversation": one.id}}
        for one in made
        for each in one.questions
    ]
    for name, rows in (("corpus", turns), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    pairs = [(each.id, a) for one in made for each in one.questions for a in each.answers]
    judged = "".join(f"{question}\t{answer}\t1\n" for question, answer in pairs)
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")


def _facts(path: Path) -> dict[str, dict[str, Any]]:
    with path.open() as file:
        rows = [json.loads(line) for line in file]
    return {row["_id"]: {**row, **(row.get("metadata") or {})} for row in rows}


def _conversation(facts: dict[str, Any]) -> str:
    return next((str(facts[name]) for name in _NAMES if facts.get(name) is not None), "")


def _home(homes: dict[str, str], gains: dict[str, int]) -> str:
    return next(homes[doc] for doc, gain in gains.items() if gain > 0 and doc in homes)


def _talk(
    collection: Collection,
    home: str,
    homes: dict[str, str],
    said: dict[str, dict[str, Any]],
    queries: dict[str, str],
) -> Talk:
    turns = [one for one in collection.documents if homes[one.id] == home]
    times = {one.id: at for one in turns if (at := _time(said[one.id]))}
    here = {one.id for one in turns}
    replies = {id: to for id in here if (to := said[id].get("reply_to")) in here}
    return Talk(home or collection.name, turns, queries, times, replies)


def _time(facts: dict[str, Any]) -> datetime | None:
    given = next((facts[name] for name in _TIMES if facts.get(name)), None)
    try:
        at = datetime.fromisoformat(str(given))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
