"""Memory's search on long conversations: by mode, with enhancement on and off, beside grep."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any
from uuid import UUID

from benchmarks import harness
from benchmarks.chatter import conversations
from benchmarks.collections import Document
from benchmarks.conversations import Talk, Talks, read_talks, write_talks
from benchmarks.metrics import ndcg, recall
from benchmarks.quality import _remember_embeddings

MODES = ("semantic", "keyword", "hybrid")
CONVERSATIONS, SESSIONS = 8, 24
SMALL_CONVERSATIONS, SMALL_SESSIONS, SMALL_QUERIES = 2, 8, 60
RESULTS = 10

_WORD = re.compile(r"\w+")

Ranking = list[str]


def main() -> None:
    options = _options()
    home = options.home / "memory"
    harness.start_product(home, embedder=options.embedder, fresh=True)
    _remember_embeddings(options.embedder, options.home / "embeddings.sqlite", options.fresh)
    rows: list[harness.Row] = []
    for folder in options.data or [_made_up(home, small=options.small)]:
        talks = read_talks(folder, most_queries=SMALL_QUERIES if options.small else None)
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
        metavar="FOLDER",
        help="a collection whose lines name their conversation; without any, one is made up",
    )
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
        scored = scores(rankings, talks.collection.gains)
        row = {"collection": talks.collection.name, "by": name, **scored}
        rows.append({**row, "ms": 1000 * median(seconds)})
    return rows


def scores(rankings: dict[str, Ranking], gains: dict[str, dict[str, int]]) -> harness.Row:
    judged = [(ranking, gains[query]) for query, ranking in rankings.items()]
    return {
        "Recall@5": 100 * fmean(recall(*pair, k=5) for pair in judged),
        "Recall@10": 100 * fmean(recall(*pair, k=10) for pair in judged),
        "nDCG@10": 100 * fmean(ndcg(*pair, k=10) for pair in judged),
    }


Way = Callable[[Talk, Shelf, str], Ranking]


def _ways() -> Iterator[tuple[str, Way]]:
    yield "grep", lambda talk, shelf, query: grep(talk.turns, query)
    for mode in MODES:
        yield f"{mode}, plain", _search(mode=mode, use_enhanced=False, boost_recent=False)
        yield f"{mode}, enhanced", _search(mode=mode, use_enhanced=True, boost_recent=False)
    yield "hybrid, enhanced, recent first", _search(mode="hybrid")


def _search(**how: Any) -> Way:
    from knowledge.memory.requests import SearchRequest
    from knowledge.memory.searching import search_memory

    def rank(talk: Talk, shelf: Shelf, query: str) -> Ranking:
        turns = shelf.turns
        request = SearchRequest(query=query, limit=RESULTS, **how)
        found = search_memory(shelf.access, request).results
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
