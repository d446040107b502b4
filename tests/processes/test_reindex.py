"""`manage.py reindex` in all its ways beside a running server and worker, under load."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.support.quarry import Server
from tests.support.waiting import eventually

PER_TOKEN = {"search": 900, "ingest": 50}
"""Calls before another token is taken, for each has a limit by the hour."""
PAUSE_SEC = {"search": 0.05, "ingest": 1.0}
"""Between two calls of a client, so that the machine can keep up with what it is to embed."""
SUBJECTS = ("granite", "harbour", "violin", "orchard", "glacier")


@pytest.fixture
def item_id(quarry: Server) -> str:
    """The first of some items that are there before."""
    added = [
        quarry.rest("POST", "ingest", kind="text", title=f"On the {subject}", text=text(subject))
        for subject in SUBJECTS
    ]
    return str(added[0]["user_item_id"])


def text(subject: str) -> str:
    return f"Whoever writes of the {subject} has much to say about the {subject} and its uses. " * 3


def test_every_way_of_reindexing_ends_well_and_no_search_fails(
    quarry: Server, item_id: str
) -> None:
    with load_on(quarry) as load:

        def reindex(*options: str) -> str:
            searched, added = load.searched, load.added
            said = quarry.run("reindex", *options)
            eventually(lambda: load.failed or load.searched > searched + 2)
            eventually(lambda: load.failed or load.added > added)
            return said

        reindex("--stale")
        assert "Searches use fake (64) from now on." in reindex("--embedder", "fake")
        assert "Built " in reindex("--whales", "--whale-chunks", "3")
        assert "Indexed 1 item anew." in reindex("--item", item_id)
        assert " anew." in reindex("--owner", "admin")
        assert "Deleted 0 orphaned rows" in reindex("--repair")
        assert "Deleted the vectors of granite (384)." in reindex("--prune")
        assert "Searches use granite (384)" in reindex("--embedder", "granite")
    assert load.failed == []
    quarry.wait_for_jobs()
    quarry.run("reindex")
    assert json.loads(quarry.run("reindex", "--check", "--json"))["waiting_items"] == 0
    found = quarry.rest("POST", "search", query="the violin and its uses", mode="semantic")
    assert "violin" in found["results"][0]["passage"]


@dataclass
class Load:
    """What the clients have done so far, and every answer that was no success."""

    server: Server
    ended: threading.Event = field(default_factory=threading.Event)
    failed: list[str] = field(default_factory=list)
    searched: int = 0
    added: int = 0

    def search(self) -> None:
        for number, token in enumerate(self._tokens("search")):
            subject = SUBJECTS[number % len(SUBJECTS)]
            mode = ("hybrid", "semantic", "keyword")[number % 3]
            asked = {"query": f"the {subject}", "mode": mode}
            if answer := self._answer("search", token, 200, **asked):
                self.searched += 1
                if not answer["results"]:
                    self.failed.append(f"Nothing was found for {asked}.")

    def add(self) -> None:
        for number, token in enumerate(self._tokens("ingest")):
            subject = SUBJECTS[number % len(SUBJECTS)]
            asked = {"kind": "text", "title": f"Note {number}", "text": text(subject)}
            if self._answer("ingest", token, 201, **asked):
                self.added += 1

    def _tokens(self, route: str) -> Iterator[str]:
        while True:
            token = self.server.mint(f"Load by {route}")
            for _ in range(PER_TOKEN[route]):
                if self.ended.wait(PAUSE_SEC[route]) or self.failed:
                    return
                yield token

    def _answer(self, route: str, token: str, expected: int, **asked: str) -> dict[str, list[str]]:
        body = json.dumps(asked)
        status, answer = self.server.ask("POST", f"/api/v1/{route}", token, body)
        if status != expected:
            self.failed.append(f"{route}: {status} {answer}")
        return answer if status == expected else {}


@contextmanager
def load_on(server: Server) -> Iterator[Load]:
    """Two clients that search and one that adds, for as long as this lasts."""
    load = Load(server)
    threads = [threading.Thread(target=ask) for ask in (load.search, load.search, load.add)]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load.ended.set()
        for thread in threads:
            thread.join()
