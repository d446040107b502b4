"""Packing words: never seen in an answer, safe to kill, and the tsvectors stay the truth."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.db import Error, connection

from knowledge.access import Access
from knowledge.indexing import actors, packing
from knowledge.ingest.adding import add_text
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import delete_item
from knowledge.locks import Lock
from knowledge.models import ChunkText, LibrarySize, WordPostings, WordSegment
from tests.support.index import faults
from tests.support.library import LONG_ENOUGH, Add
from tests.support.packing import pack
from tests.support.searching import search

KILL = f"""
    SELECT pg_terminate_backend(pid) FROM pg_locks
        JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND locktype = 'advisory'
        AND classid = {Lock.PACKING} AND pid <> pg_backend_pid()
"""


def titles(access: Access, query: str, **asked: object) -> list[str]:
    return [hit.item.title for hit in search(access, query=query, mode="keyword", **asked).hits]


def test_small_segments_are_merged_and_large_ones_left(library: Access, add: Add) -> None:
    for number in range(8):
        add(f"Note {number}", f"granite number{number}")
        assert pack(library.owner_id, most=4) == 1
        assert faults() == {}
    sizes = WordSegment.objects.order_by("chunks").values_list("chunks", flat=True)
    assert list(sizes) == [4, 4]
    assert not ChunkText.objects.filter(segment_id=None).exists()
    assert len(titles(library, "granite")) == 8


def test_deleted_words_are_found_by_nobody_and_leave_the_disk(library: Access, add: Add) -> None:
    items = [add(f"Note {number}", f"granite zyzzyva{number}") for number in range(6)]
    pack(library.owner_id)
    delete_item(library, items[0].pk)
    update_item(library, items[1].pk, ItemChanges(in_kb=False))
    assert titles(library, "zyzzyva0 zyzzyva1") == []
    assert sorted(titles(library, "granite")) == [f"Note {number}" for number in range(2, 6)]
    assert faults() == {}
    lexemes = WordPostings.objects.filter(lexeme__in=["zyzzyva0", "zyzzyva1"])
    assert lexemes.count() == 2
    actors.sweep_words()
    assert not lexemes.exists()
    assert sorted(titles(library, "granite")) == [f"Note {number}" for number in range(2, 6)]


def test_a_full_lot_of_fresh_chunks_is_packed_by_a_job(
    library: Access, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "FRESH_CHUNKS", 3)
    sent: list[int] = []
    monkeypatch.setattr(actors, "send_job", lambda *args, owner_id: sent.append(owner_id))
    for number in range(7):
        add(f"Note {number}", "granite")
    assert sent == [library.owner_id] * 2
    assert packing.libraries_to_pack() == [library.owner_id]
    actors.pack_library(library.owner_id)
    assert LibrarySize.objects.get(pk=library.owner_id).fresh == 0
    assert packing.libraries_to_pack() == []


def test_a_second_packing_leaves_the_first_alone(library: Access, add: Add) -> None:
    add("Note", "granite")
    assert pack(library.owner_id) == 1
    before = list(WordPostings.objects.values_list("lexeme", "segment_id").order_by("lexeme"))
    assert pack(library.owner_id) == 0
    assert list(WordPostings.objects.values_list("lexeme", "segment_id").order_by("lexeme")) == (
        before
    )


@pytest.mark.django_db(transaction=True)
def test_searches_are_right_while_packing_runs_and_is_killed(admin_user: User) -> None:
    access = Access.whole_library(admin_user.pk)
    kept = [add_text(access, title=f"Kept {n}", text=f"granite kept{n}{LONG_ENOUGH}") for n in "ab"]
    with _packing_in_a_loop(admin_user.pk) as was_killed:
        for number in range(12):
            item = add_text(access, title="New", text=f"granite word{number}{LONG_ENOUGH}")
            assert titles(access, f"word{number}") == ["New"]
            _kill_a_packing()
            if number % 3:
                if number % 3 == 1:
                    delete_item(access, item.pk)
                else:
                    update_item(access, item.pk, ItemChanges(in_kb=False))
                assert titles(access, f"word{number}") == []
            assert len(titles(access, "granite")) == len(kept) + number // 3 + 1
    assert any(was_killed)
    assert not all(was_killed)
    list(packing.pack_library(admin_user.pk, fewest=1))
    assert faults() == {}


@contextmanager
def _packing_in_a_loop(owner_id: int) -> Iterator[list[bool]]:
    """Another connection packs whatever there is, again and again, also after it was killed."""
    ended = threading.Event()
    was_killed: list[bool] = []

    def run() -> None:
        while not ended.is_set():
            try:
                packing._pack(owner_id, fewest=1)
                packing.pack_again(owner_id, list(WordSegment.objects.values_list("pk", flat=True)))
                was_killed.append(False)
            except Error:
                was_killed.append(True)
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield was_killed
    finally:
        ended.set()
        thread.join()


def _kill_a_packing() -> None:
    """One that holds its lock at this moment."""
    with connection.cursor() as cursor:
        for _ in range(10_000):
            cursor.execute(KILL)
            if cursor.fetchone():
                return
    pytest.fail("no packing ran")
