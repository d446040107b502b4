"""`manage.py reindex --embedder`: under load, killed half way, failing, and back again."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.management import CommandError
from django.db import connection, transaction
from django.utils import timezone

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.indexing import generations
from knowledge.ingest.adding import add_text
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import delete_item
from knowledge.maintenance import building
from knowledge.models import Chunk, ChunkEmbedding, Generation, Item
from knowledge.providers.fake import FakeEmbedder
from knowledge.retrieval.search import Hit
from tests.support.index import WORDS, Register, faults, fill, reindex, text_of, vectors_by_state
from tests.support.library import Add
from tests.support.searching import search
from tests.support.threads import in_threads

ROOT = Path(__file__).resolve().parents[3]
in_earnest = pytest.mark.django_db(transaction=True)


@in_earnest
def test_under_a_search_load_no_search_fails_or_mixes(
    library: Access, register: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(library, 40)
    old, new = FakeEmbedder(), FakeEmbedder(dimensions=32)
    register("other", FakeEmbedder(dimensions=32, delay=0.02))
    ended = threading.Event()
    seen: list[set[str]] = []

    def ask(word: str) -> None:
        while not ended.is_set():
            answer = search(library, query=f"the {word}", mode="semantic", limit=20)
            assert len(answer.hits) == 20
            assert answer.degraded is None
            made_by = {
                maker
                for maker, embedder in (("old", old), ("new", new))
                if all(is_by(embedder, word, hit) for hit in answer.hits)
            }
            assert made_by, "These hits are of no one generation."
            seen.append(made_by)

    def change() -> None:
        try:
            until(lambda: len(seen) > 20)
            reindex("--embedder", "other")
            before = len(seen)
            until(lambda: len(seen) > before + 20)
        finally:
            ended.set()

    in_threads([change, *(partial(ask, word) for word in WORDS[:3])])
    assert {"old"} in seen
    assert {"new"} in seen
    assert {"new"} == seen[-1]
    assert faults() == {}
    assert "chunks" in capsys.readouterr().err


def is_by(embedder: FakeEmbedder, word: str, hit: Hit) -> bool:
    text = hit.chunk.piece.indexed_text(hit.item.title)
    query, document = embedder.embed_query(f"the {word}"), embedder.embed_document([text])[0]
    return hit.cosine is not None and abs(hit.cosine - float(query @ document)) < 0.002


@in_earnest
def test_what_is_added_and_changed_during_the_change_is_neither_lost_nor_mixed(
    library: Access, other: FakeEmbedder
) -> None:
    shared = fill(library, 10)
    ended = threading.Event()

    def write(number: int) -> None:
        done = 0
        while not ended.is_set() or done < 5:
            item = add_text(library, title=f"New {number}.{done}", text=text_of(2))
            update_item(library, shared[number].pk, ItemChanges(title=f"Other {done}"))
            if done % 3 == 0:
                delete_item(library, item.pk)
            done += 1

    def change() -> None:
        try:
            for name in ("other", "fake", "other", "fake", "other"):
                reindex("--embedder", name)
        finally:
            ended.set()

    in_threads([change, *(partial(write, n) for n in range(3))])
    for item_id in Item.objects.filter(index_status="keyword").values_list("pk", flat=True):
        generations.embed_item(item_id)  # their jobs; no worker runs here
    assert faults() == {}
    assert generations.live_generation().embedder == "other"
    assert vectors_by_state()["live"] == Chunk.objects.count()


@in_earnest
def test_an_addition_that_commits_late_is_waited_for(library: Access, other: FakeEmbedder) -> None:
    fill(library, 3)
    written = threading.Event()

    def add_slowly() -> None:
        with transaction.atomic():
            add_text(library, title="Late", text=text_of(2))
            written.set()
            until(someone_waits_for_writers)

    def change() -> None:
        assert written.wait(20)
        reindex("--embedder", "other")

    in_threads([add_slowly, change])
    assert Item.objects.filter(index_status="done").count() == 4
    assert faults() == {}


def someone_waits_for_writers() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database "
            "WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
        )
        return bool(cursor.fetchall())


@in_earnest
def test_killed_half_way_and_started_again_it_finishes_without_starting_over(
    library: Access,
) -> None:
    fill(library, 40)
    before = len(search(library, query="harbour").hits)
    connection.close()
    with reindex_process("0.05", "--embedder", "other") as process:
        until(lambda: vectors_by_state().get("building", 0) >= 10)
        process.send_signal(signal.SIGKILL)
    kept = set(ChunkEmbedding.objects.filter(generation__is_live=False).values_list("pk"))
    assert generations.live_generation().embedder == "fake"
    assert 10 <= len(kept) < Chunk.objects.count()
    assert len(search(library, query="harbour").hits) == before > 0

    with reindex_process("0", "--embedder", "other") as process:
        out, err = process.communicate(timeout=60)
    assert "Searches use other (32) from now on." in out, err
    live = generations.live_generation()
    assert live.embedder == "other"
    assert Generation.objects.count() == 2
    assert kept < set(ChunkEmbedding.objects.filter(generation=live).values_list("pk"))
    assert faults() == {}


@in_earnest
def test_two_at_once_are_refused(library: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(library, 40)
    connection.close()
    monkeypatch.setattr(building, "_PATIENCE_SEC", 0.2)
    with reindex_process("1", "--embedder", "other"):
        until(lambda: Generation.objects.count() == 2)  # and its first batch is being embedded
        with pytest.raises(CommandError, match="Another reindex is running"):
            reindex()
        assert faults() == {}  # to look is always allowed


def test_an_embedder_that_fails_midway_changes_nothing_and_can_be_gone_on_with(
    add: Add, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "BATCH", 1)
    items = [add(f"Text {n}") for n in range(6)]
    flaky = register("other", FakeEmbedder(dimensions=32))
    answered: list[int] = []

    def embed_document(chunks: Any) -> Any:
        if len(answered) == 3:
            raise ProviderUnavailable("The vendor is down.")
        answered.append(len(chunks))
        return FakeEmbedder.embed_document(flaky, chunks)

    flaky.embed_document = embed_document  # type: ignore[method-assign]
    with pytest.raises(CommandError, match=rf"vendor is down.*{items[3].pk}.*Nothing is lost"):
        reindex("--embedder", "other")
    assert vectors_by_state() == {"live": 6, "building": 3}
    assert generations.live_generation().embedder == "fake"
    del flaky.embed_document
    reindex("--embedder", "other")
    assert vectors_by_state() == {"live": 6, "retired": 6}


def test_the_embedder_in_use_is_nothing_to_do(add: Add) -> None:
    add("Ships")
    assert "nothing to do" in reindex("--embedder", "fake")
    assert vectors_by_state() == {"live": 1}


def test_an_unknown_embedder_is_an_error_that_names_the_known(db: None) -> None:
    with pytest.raises(CommandError, match="granite"):
        reindex("--embedder", "word2vec")
    assert not Generation.objects.exists()


def test_going_back_embeds_only_what_came_since(
    add: Add, other: FakeEmbedder, register: Register
) -> None:
    add("Ships")
    reindex("--embedder", "other")
    add("Boats")
    embedded: list[str] = []

    class Recording(FakeEmbedder):
        def embed_document(self, chunks):
            embedded.extend(chunks)
            return super().embed_document(chunks)

    register("fake", Recording())
    reindex("--embedder", "fake")
    assert [text.split()[0] for text in embedded] == ["Boats"]
    assert vectors_by_state() == {"live": 2, "retired": 2}


def test_an_item_whose_embedding_had_failed_is_done_with_the_next_embedder(
    add: Add, other: FakeEmbedder
) -> None:
    item = add("Ships")
    ChunkEmbedding.objects.all().delete()
    Item.objects.update(index_status="failed", index_error="The vendor is down.")
    reindex("--embedder", "other")
    item.refresh_from_db()
    assert (item.index_status, item.index_error) == ("done", "")


def test_pruning_deletes_what_no_search_reads_any_more(add: Add, other: FakeEmbedder) -> None:
    add("Ships")
    assert "nothing to delete" in reindex("--prune")
    assert "--prune" in reindex("--embedder", "other")
    Generation.objects.filter(is_live=False).update(retired_at=timezone.now() - building.GRACE)
    assert "fake (64)" in reindex("--prune")
    assert vectors_by_state() == {"live": 1}


def test_pruning_waits_for_searches_that_may_still_be_reading(
    add: Add, other: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Ships")
    reindex("--embedder", "other")
    monkeypatch.setattr(building, "GRACE", timedelta(seconds=1))
    retired_at = Generation.objects.get(is_live=False).retired_at
    assert retired_at
    reindex("--prune")
    assert timezone.now() >= retired_at + timedelta(seconds=1)
    assert vectors_by_state() == {"live": 1}


def test_an_unfinished_generation_is_given_up_for_another(
    add: Add, other: FakeEmbedder, register: Register
) -> None:
    add("Ships")
    building.next_generation("other")
    register("third", FakeEmbedder(dimensions=16))
    reindex("--embedder", "third")
    states = {generation.embedder: generation.state for generation in Generation.objects.all()}
    assert states == {"fake": "retired", "other": "retired", "third": "live"}


@contextmanager
def reindex_process(delay: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    database = connection.settings_dict
    host, user = quote(database["HOST"], safe=""), quote(database["USER"])
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"postgresql:///{database['NAME']}?host={host}&user={user}",
    }
    command = [sys.executable, "-m", "tests.support.reindex", delay, *options]
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(holds: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "It did not come to hold in time."
        time.sleep(0.02)
