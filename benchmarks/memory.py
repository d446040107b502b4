"""Memory's search on long conversations: by mode, enhancement and recency, beside grep.

Each question is asked on the day after its conversation ended.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import fmean, median
from types import SimpleNamespace
from typing import Any
from unittest import mock
from uuid import UUID

from benchmarks import harness
from benchmarks.chatter import conversations
from benchmarks.collections import Document
from benchmarks.conversations import Talk, Talks, read_talks, write_talks
from benchmarks.metrics import hit, ndcg, recall
from benchmarks.published import is_published, read_published
from benchmarks.quality import remember_embeddings

MODES = ("semantic", "keyword", "hybrid")
CONVERSATIONS, SESSIONS = 8, 24
SMALL_CONVERSATIONS, SMALL_SESSIONS, SMALL_QUERIES = 2, 8, 60
RESULTS = 10
ALL, NAMES_A_DATE = "all", "names a date"
HALF_LIFE_DAYS = 365.0

_WORD = re.compile(r"\w+")

Ranking = list[str]


def main() -> None:
    options = _options()
    home = options.home / "memory"
    harness.start_product(home, embedder=options.embedder, fresh=True)
    remember_embeddings(options.embedder, options.home / "embeddings.sqlite", options.fresh)
    rows: list[harness.Row] = []
    for folder in options.data or [_made_up(home, small=options.small)]:
        read = read_published if is_published(folder) else read_talks
        talks = read(folder, most_queries=SMALL_QUERIES if options.small else options.questions)
        shelves = add_talks(talks, linked=not options.unlinked)
        harness.settle()
        measured = measure(talks, shelves)
        harness.show(f"Memory: {talks.collection.name}", measured)
        rows += measured
    harness.write_json(options, {"memory": rows})


def _options() -> Any:
    options = harness.parser(__doc__)
    options.add_argument(
        "--data",
        type=Path,
        action="append",
        metavar="PATH",
        help="a collection whose lines name their conversation, or LongMemEval's or LoCoMo's file, "
        "or BEAM's folder; without any, one is made up",
    )
    options.add_argument("--questions", type=int, help="no more conversations than have these")
    options.add_argument("--embedder", default="granite")
    options.add_argument("--unlinked", action="store_true", help="relate no reply to its turn")
    options.add_argument("--fresh", action="store_true", help="embed again what is remembered")
    return options.parse_args()


def _made_up(home: Path, *, small: bool) -> Path:
    count, sessions = (SMALL_CONVERSATIONS, SMALL_SESSIONS) if small else (CONVERSATIONS, SESSIONS)
    write_talks(home / "made-up", conversations(count, sessions=sessions))
    return home / "made-up"


# Adding ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Shelf:
    """A conversation in the product: the token that reaches it alone, and which item is what."""

    access: Any
    items: dict[str, UUID] = field(default_factory=dict)
    refused: int = 0

    @property
    def turns(self) -> dict[UUID, str]:
        return {item_id: turn for turn, item_id in self.items.items()}


def add_talks(talks: Talks, *, linked: bool) -> list[Shelf]:
    """Each conversation into a folder of its own, all in one library."""
    from knowledge.access import Access

    owner_id = harness.new_owner(talks.collection.name)
    library = Access.whole_library(owner_id)
    turns = sum(len(talk.turns) for talk in talks.talks)
    with harness.stopwatch(f"{talks.collection.name}: {turns} turns remembered"):
        shelves = [_add_talk(library, talk, linked=linked) for talk in talks.talks]
    if refused := sum(shelf.refused for shelf in shelves):
        print(f"{talks.collection.name}: {refused} turns were refused by screening")
    return shelves


def _add_talk(library: Any, talk: Talk, *, linked: bool) -> Shelf:
    from knowledge.library.items import create_folder

    folder = create_folder(library, f"Conversation {talk.name}")
    shelf = Shelf(_token_for(library.owner_id, folder.pk))
    for turn in talk.turns:
        _remember(shelf, turn, answers=talk.replies.get(turn.id) if linked else None)
    _date_back(shelf, talk)
    return shelf


def _token_for(owner_id: int, folder_id: UUID) -> Any:
    from django.contrib.auth import get_user_model

    from tokens.minting import TokenRequest, mint_token

    owner = get_user_model().objects.get(pk=owner_id)
    request = TokenRequest(name=str(folder_id), folder_ids=[folder_id], can_write=True)
    token, _ = mint_token(owner, request)
    return token.access


def _remember(shelf: Shelf, turn: Document, *, answers: str | None) -> None:
    """As an agent would; a reply is related to what it answers."""
    from knowledge.errors import InvalidInput
    from knowledge.indexing import generations
    from knowledge.memory.remembering import MAX_CONTENT, MAX_MEMORY_TITLE, add
    from knowledge.models import IndexStatus

    answered = shelf.items.get(answers or "")
    try:
        item = add(
            shelf.access,
            title=turn.title[:MAX_MEMORY_TITLE],
            content=turn.text[:MAX_CONTENT],
            related_to=[str(answered)] if answered else None,
        ).item
    except InvalidInput:
        shelf.refused += 1
        return
    if item.index_status != IndexStatus.DONE:
        generations.embed_item(item.pk)
    shelf.items[turn.id] = item.pk


def _date_back(shelf: Shelf, talk: Talk) -> None:
    """Each turn when it was said, as if it had been remembered then."""
    for turn, at in talk.times.items():
        if turn in shelf.items:
            harness.execute(
                "UPDATE knowledge_item SET created_at = %s, updated_at = %s WHERE id = %s",
                [at, at, shelf.items[turn]],
            )


# Measuring ------------------------------------------------------------------------------------


def measure(talks: Talks, shelves: list[Shelf]) -> list[harness.Row]:
    """One row for each way to search: means over all questions, in hundredths."""
    rows = []
    for name, rank in _ways():
        rankings: dict[str, Ranking] = {}
        seconds = []
        with harness.stopwatch(f"{talks.collection.name}: {name}"):
            for talk, shelf in zip(talks.talks, shelves, strict=True):
                for query, text in talk.queries.items():
                    start = time.perf_counter()
                    rankings[query] = rank(talk, shelf, text)
                    seconds.append(time.perf_counter() - start)
        for type, measured in _by_type(talks, rankings).items():
            row = {"collection": talks.collection.name, "by": name, "type": type, **measured}
            rows.append({**row, "ms": 1000 * median(seconds)} if type == ALL else row)
    return rows


def _by_type(talks: Talks, rankings: dict[str, Ranking]) -> dict[str, harness.Row]:
    """The scores of all questions, of those of each type, and of those that name a date."""
    from knowledge.memory.dates import dates_named

    types = {query: type for talk in talks.talks for query, type in talk.types.items()}
    sessions = {turn: session for talk in talks.talks for turn, session in talk.sessions.items()}
    texts = talks.collection.queries
    chosen = {ALL: set(rankings)}
    if dated := {query for query in rankings if dates_named(texts[query])}:
        chosen[NAMES_A_DATE] = dated
    for query, type in sorted(types.items(), key=lambda each: each[1]):
        chosen.setdefault(type, set()).add(query)
    return {
        type: scores(
            {query: rankings[query] for query in queries}, talks.collection.gains, sessions
        )
        for type, queries in chosen.items()
    }


def scores(
    rankings: dict[str, Ranking],
    gains: dict[str, dict[str, int]],
    sessions: dict[str, str] | None = None,
) -> harness.Row:
    """Of turns, and of their sessions where these are known: a session is found by any turn."""
    judged = [(ranking, gains[query]) for query, ranking in rankings.items()]
    row = {
        "Recall@5": 100 * fmean(recall(*pair, k=5) for pair in judged),
        "Recall@10": 100 * fmean(recall(*pair, k=10) for pair in judged),
        "hit@5": 100 * fmean(hit(*pair, k=5) for pair in judged),
        "nDCG@10": 100 * fmean(ndcg(*pair, k=10) for pair in judged),
    }
    if sessions:
        of_sessions = [
            (list(map(sessions.__getitem__, ranking)), {sessions[turn]: 1 for turn in wanted})
            for ranking, wanted in judged
        ]
        for k in (5, 10):
            row[f"sessions@{k}"] = 100 * fmean(recall(*pair, k=k) for pair in of_sessions)
    return row


Way = Callable[[Talk, Shelf, str], Ranking]


def _ways() -> Iterator[tuple[str, Way]]:
    yield "grep", lambda talk, shelf, query: grep(talk.turns, query)
    for mode in MODES:
        yield f"{mode}, plain", _search(mode=mode, use_enhanced=False, boost_recent=False)
    yield "hybrid, recency", _search(use_enhanced=False)
    yield "hybrid, enhanced", _search(boost_recent=False)
    yield "hybrid, enhanced, recency (default)", _search()
    yield "hybrid, enhanced, half-life", _search(temporal_decay_days=HALF_LIFE_DAYS)


def _search(**how: Any) -> Way:
    from knowledge.memory import searching
    from knowledge.memory.requests import SearchRequest

    def rank(talk: Talk, shelf: Shelf, query: str) -> Ranking:
        turns = shelf.turns
        request = SearchRequest(query=query, limit=RESULTS, **how)
        clock = SimpleNamespace(now=lambda: max(talk.times.values()) + timedelta(days=1))
        told = mock.patch.object(searching, "timezone", clock) if talk.times else nullcontext()
        with told:
            found = searching.search_memory(shelf.access, request).results
        return [turns[result.id] for result in found]

    return rank


def grep(turns: list[Document], query: str) -> Ranking:
    """By how many of the question's words a turn has, the earlier one first."""
    words = set(_WORD.findall(query.lower()))
    counts = [(len(words & set(_WORD.findall(one.words.lower()))), one.id) for one in turns]
    best = sorted(counts, key=lambda each: -each[0])[:RESULTS]
    return [turn for count, turn in best if count]


if __name__ == "__main__":
    main()
