"""The counters that searches plan by are right after anything that can happen to a library."""

import random
from functools import partial
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction

from knowledge.access import Access
from knowledge.indexing import pipeline
from knowledge.ingest import adding
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import (
    create_folder,
    delete_folder,
    delete_item,
    file_item,
    unfile_item,
)
from knowledge.maintenance import repair
from knowledge.models import Chunk, Filing, Folder, Item, LibrarySize
from knowledge.text.chunking import chunk
from tests.support.index import faults, text_of
from tests.support.threads import in_threads


def size_of(owner_id: int) -> int:
    size = LibrarySize.objects.filter(pk=owner_id).first()
    return size.chunks if size else 0


def test_after_any_sequence_of_asks_the_counters_are_the_real_counts(
    owner: User, stranger: User
) -> None:
    seeded = random.Random(1)
    people = [Access.whole_library(owner.pk), Access.whole_library(stranger.pk)]
    asks = [_add, _add, _add, _change, _change, _refile, _delete, _delete_folder, _rebuild]
    for _ in range(160):
        seeded.choice(asks)(seeded, seeded.choice(people))
    assert faults() == {}
    assert Item.objects.filter(in_kb=False).exists()
    for person in people:
        real = Chunk.objects.filter(owner_id=person.owner_id).count()
        assert size_of(person.owner_id) == real > 0


def _add(seeded: random.Random, access: Access) -> None:
    text = text_of(seeded.randint(1, 4))
    item = adding.add_text(access, title="A text", text=text, in_kb=seeded.random() < 0.7)
    if seeded.random() < 0.5:
        name = f"Folder {seeded.randint(1, 3)}"
        folder = Folder.objects.filter(owner_id=access.owner_id, name=name).first()
        folder = folder or create_folder(access, name)
        file_item(access, item.pk, [folder.pk])


def _change(seeded: random.Random, access: Access) -> None:
    for item in _some_items(seeded, access):
        title = f"Title {seeded.random()}" if seeded.random() < 0.5 else None
        in_kb = seeded.choice([True, False, None])
        update_item(access, item.pk, ItemChanges(title=title, in_kb=in_kb))


def _refile(seeded: random.Random, access: Access) -> None:
    for filing in Filing.objects.filter(item__owner_id=access.owner_id).order_by("pk")[:1]:
        unfile_item(access, filing.item_id, filing.folder_id)
        file_item(access, filing.item_id, [filing.folder_id])


def _delete(seeded: random.Random, access: Access) -> None:
    for item in _some_items(seeded, access):
        delete_item(access, item.pk)


def _delete_folder(seeded: random.Random, access: Access) -> None:
    folders = list(Folder.objects.filter(owner_id=access.owner_id).order_by("name"))
    if folders and seeded.random() < 0.3:
        folder = seeded.choice(folders)
        delete_folder(access, folder.pk, cascade_items=seeded.random() < 0.5)


def _rebuild(seeded: random.Random, access: Access) -> None:
    for _ in repair.rebuild([item.pk for item in _some_items(seeded, access)]):
        pass


def _some_items(seeded: random.Random, access: Access) -> list[Item]:
    items = list(Item.objects.filter(owner_id=access.owner_id).order_by("created_at", "pk"))
    return seeded.sample(items, 1) if items else []


def test_a_deleted_user_leaves_no_counter(owner: User, library: Access) -> None:
    adding.add_text(library, title="A text", text=text_of(3))
    assert size_of(owner.pk) == 3
    owner.delete()
    assert not LibrarySize.objects.exists()
    assert faults() == {}


@pytest.mark.django_db(transaction=True)
def test_a_failure_in_the_middle_of_a_re_index_changes_no_counter(
    library: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = adding.add_text(library, title="A text", text=text_of(3))

    def fail(*args: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(pipeline, "write_words", fail)
    with pytest.raises(MemoryError), transaction.atomic():
        pipeline.index_item(item, chunk(text_of(5)), None)
    assert (size_of(item.owner_id), Item.objects.get().chunk_count) == (3, 3)
    assert faults() == {}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["index", "remove"])
def test_a_process_that_dies_before_its_commit_changes_no_counter(
    library: Access, change: str
) -> None:
    item = adding.add_text(library, title="A text", text=text_of(3))

    def die_before_the_commit() -> None:
        with transaction.atomic():
            if change == "index":
                pipeline.index_item(item, chunk(text_of(5)), None)
            else:
                pipeline.remove_from_index(item)
            cut_off(connection.connection)

    with pytest.raises(OperationalError):
        die_before_the_commit()
    connection.close()
    assert (size_of(item.owner_id), Item.objects.get().chunk_count) == (3, 3)
    assert faults() == {}


def cut_off(session: psycopg.Connection[Any]) -> None:
    with psycopg.connect(session.info.dsn, autocommit=True) as another:
        another.execute("SELECT pg_terminate_backend(%s, 5000)", [session.info.backend_pid])


@pytest.mark.django_db(transaction=True)
def test_many_writers_of_one_library_count_every_chunk_once(library: Access) -> None:
    shared = adding.add_text(library, title="Shared", text=text_of(2))

    def write(seed: int) -> None:
        seeded = random.Random(seed)
        for _ in range(8):
            item = adding.add_text(library, title="A text", text=text_of(seeded.randint(1, 3)))
            update_item(library, shared.pk, ItemChanges(title=f"Title {seeded.random()}"))
            if seeded.random() < 0.5:
                delete_item(library, item.pk)

    in_threads([partial(write, seed) for seed in range(4)])
    assert faults() == {}
    assert size_of(library.owner_id) == Chunk.objects.count() > 8
