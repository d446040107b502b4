"""Undo: all that one token wrote goes, and nothing else."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from uuid import uuid4

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from knowledge.access import Access
from knowledge.errors import NameTaken
from knowledge.indexing import preparing
from knowledge.ingest import sweeps
from knowledge.ledger.webhooks import create_webhook
from knowledge.library import items as shelves
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import create_folder, file_item, rename_folder
from knowledge.models import Change, ChangeKind, Filing, Folder, Item, Transform
from knowledge.undo import token_writes
from knowledge.undo.base import Undo
from knowledge.undo.kinds import UNDOS, undo_of
from knowledge.undo.token_writes import Undone, undo
from tests.support.adding import run_jobs
from tests.support.index import faults
from tests.support.library import Add, Mint, Minted
from tests.support.searching import search
from tests.support.threads import in_threads
from tests.support.undo import (
    added,
    agents_hour,
    an_hour_ago,
    furnish_memory,
    preview_all,
    scores,
    snapshot,
    undo_all,
)

FolderOf = Callable[[str], Folder]


@pytest.fixture
def agent(mint: Mint) -> Minted:
    return mint()


@pytest.fixture
def furnished(library: Access, stranger: User, add: Add, folder: FolderOf) -> Access:
    """A library with something of every kind in it."""
    shelf, attic, cellar = folder("Shelf"), folder("Attic"), folder("Cellar")
    add("One", "", shelf, attic)
    add("Two", "", attic)
    three = add("Three", "", shelf)
    add("In the cellar", "", cellar, shelf)
    Transform.objects.create(item=three, state="done", tldr="Short.", cost_usd="0.0123")
    create_webhook(library, "https://example.org/kept")
    furnish_memory(library, Access.whole_library(stranger.pk))
    return library


def item_titled(title: str) -> Item:
    return Item.objects.select_related("content").get(content__title=title)


def folder_named(name: str) -> Folder:
    return Folder.objects.get(name=name)


def work(agent: Minted) -> int:
    return agents_hour(agent.access, item_titled, folder_named)


# One step ---------------------------------------------------------------------------------


def test_an_agents_hour_is_undone_in_one_step(furnished: Access, agent: Minted) -> None:
    scored, before = scores(), snapshot()
    writes = work(agent)
    assert snapshot() != before
    assert scores() != scored
    result = undo_all(agent)
    assert result.skipped == []
    assert len(result.undone) == Change.objects.count() == writes
    assert {write.kind for write in result.undone} == set(ChangeKind.values)
    assert snapshot() == before
    assert scores() == scored
    assert not any(faults().values())


def test_what_another_token_and_a_person_wrote_in_the_same_hour_stays(
    furnished: Access, agent: Minted, mint: Mint
) -> None:
    before = snapshot()
    other = mint().access
    theirs = added(other, "Of another token", tags=["kept"])
    work(agent)
    by_hand = added(furnished, "Of a person")
    shelf = create_folder(furnished, "Of a person")
    file_item(other, by_hand.pk, [shelf.pk])
    update_item(furnished, theirs.pk, ItemChanges(title="Renamed by a person"))
    kept = {row["id"]: row for row in snapshot()["Item"] if row["id"] in ids(theirs, by_hand)}

    assert undo_all(agent).skipped == []
    now = snapshot()
    assert {row["id"]: row for row in now["Item"] if row["id"] in kept} == kept
    assert Filing.objects.filter(item=by_hand, folder=shelf).exists()
    for item in (theirs, by_hand):
        shelves.delete_item(furnished, item.pk)
    shelves.delete_folder(furnished, shelf.pk)
    assert snapshot() == before


def ids(*items: Item) -> set[str]:
    return {str(item.pk) for item in items}


def test_a_scoped_tokens_writes_are_undone_too(furnished: Access, mint: Mint) -> None:
    shelf = folder_named("Shelf")
    scoped = mint(shelf, kb_only=True)
    before = snapshot()
    mine = added(scoped.access, "Filed by itself")
    update_item(scoped.access, mine.pk, ItemChanges(tags=["a"]))
    shelves.unfile_item(scoped.access, item_titled("One").pk, shelf.pk)
    shelves.delete_item(scoped.access, item_titled("In the cellar").pk)
    assert undo_all(scoped).skipped == []
    assert snapshot() == before


def test_an_unfiled_addition_that_was_filed_is_again_seen_by_its_token_alone(
    mint: Mint, folder: FolderOf
) -> None:
    here, there = folder("Here"), folder("There")
    scoped = mint(here, there)
    item = added(scoped.access, "Unfiled")
    seen_from = timezone.now()
    file_item(scoped.access, item.pk, [here.pk])
    undo(item.owner_id, scoped.row.pk, since=seen_from)
    assert shelves.get_item(scoped.access, item.pk).unfiled_by == scoped.row.pk


def test_what_is_back_is_found_again(furnished: Access, agent: Minted) -> None:
    item = item_titled("Three")
    shelves.delete_item(agent.access, item.pk)
    assert not search(furnished, query="three", mode="keyword").hits
    undo_all(agent)
    for mode in ("keyword", "semantic"):
        assert search(furnished, query="three", mode=mode).hits[0].item.pk == item.pk


def test_only_the_window_is_undone(agent: Minted, library: Access) -> None:
    start = timezone.now()
    for hours, title in enumerate(("First", "Second", "Third")):
        with time_machine.travel(start + timedelta(hours=hours), tick=False):
            added(agent.access, title)
    since, until = start + timedelta(minutes=30), start + timedelta(minutes=90)
    result = undo(library.owner_id, agent.row.pk, since=since, until=until)
    assert [write.title for write in result.undone] == ["Second"]
    assert {item.title for item in Item.objects.select_related("content")} == {"First", "Third"}


def test_nobody_undoes_in_the_library_of_another_owner(agent: Minted, stranger: User) -> None:
    added(agent.access, "Kept")
    result = undo(stranger.pk, agent.row.pk, since=an_hour_ago())
    assert (result.undone, result.skipped) == ([], [])
    assert Item.objects.count() == 1


# Twice, and half way ----------------------------------------------------------------------


def test_twice_is_once(furnished: Access, agent: Minted) -> None:
    before = snapshot()
    work(agent)
    undo_all(agent)
    again = undo_all(agent)
    assert (again.undone, again.skipped) == ([], [])
    assert snapshot() == before


def test_stopped_half_way_it_goes_on_the_next_time(
    furnished: Access, agent: Minted, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot()
    writes = work(agent)
    calls = iter(range(100))

    def stop_at_seven(change: Change) -> Undo:
        made = undo_of(change)
        apply, call = made.apply, next(calls)

        def apply_or_stop() -> None:
            apply()
            if call == 6:
                raise KeyboardInterrupt

        monkeypatch.setattr(made, "apply", apply_or_stop)
        return made

    with monkeypatch.context() as patched:
        patched.setattr(token_writes, "undo_of", stop_at_seven)
        with pytest.raises(KeyboardInterrupt):
            undo_all(agent)
    assert Change.objects.exclude(undone_at=None).count() == 6
    assert len(undo_all(agent).undone) == writes - 6
    assert snapshot() == before


@pytest.mark.django_db(transaction=True)
def test_two_who_undo_at_once_undo_everything_once(agent: Minted, add: Add) -> None:
    for n in range(4):
        added(agent.access, f"Note {n}")
        update_item(agent.access, add(f"Kept {n}").pk, ItemChanges(title=f"Spoilt {n}"))
    results: list[Undone] = []
    in_threads([lambda: results.append(undo_all(agent))] * 2)
    assert [write for result in results for write in result.skipped] == []
    assert sum(len(result.undone) for result in results) == 8
    assert sorted(item.title for item in Item.objects.select_related("content")) == [
        f"Kept {n}" for n in range(4)
    ]


def test_every_kind_of_change_has_its_undo() -> None:
    assert set(UNDOS) == set(ChangeKind)


# The preview ------------------------------------------------------------------------------


def test_the_preview_tells_what_will_be_and_changes_nothing(
    furnished: Access, agent: Minted
) -> None:
    work(agent)
    update_item(furnished, item_titled("Two").pk, ItemChanges(in_kb=True))
    run_jobs()
    before = snapshot()
    told = preview_all(agent)
    assert snapshot() == before
    assert run_jobs() == []
    assert not Change.objects.exclude(undone_at=None).exists()
    assert told.counts["item_deleted"] == 5
    assert told == undo_all(agent)
    assert [(write.title, write.reason) for write in told.skipped] == [
        ("Two", "It was changed by somebody else since.")
    ]


def test_the_preview_embeds_nothing(
    furnished: Access, agent: Minted, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(agent)
    monkeypatch.setattr(preparing, "prepare", None)
    preview_all(agent)


# What others have changed since -----------------------------------------------------------


def test_an_edit_over_the_agents_edit_stays(furnished: Access, agent: Minted) -> None:
    item = item_titled("One")
    update_item(agent.access, item.pk, ItemChanges(title="Spoilt", tags=["spam"]))
    update_item(furnished, item.pk, ItemChanges(title="By hand"))
    update_item(agent.access, item.pk, ItemChanges(title="Spoilt again"))
    result = undo_all(agent)
    assert [write.reason for write in result.skipped] == ["It was changed by somebody else since."]
    item.refresh_from_db()
    assert (item.title, item.tags) == ("By hand", ["spam"])


@pytest.mark.parametrize(
    ("touch", "reason"),
    [
        (lambda me, item, shelf: file_item(me, item, [shelf]), "It was filed by somebody"),
        (lambda me, item, _: update_item(me, item, ItemChanges(tags=["k"])), "It was changed by"),
        (lambda me, item, _: shelves.delete_item(me, item), "It is deleted already."),
    ],
    ids=["filed", "changed", "deleted"],
)
def test_an_addition_that_others_have_taken_up_stays(
    furnished: Access, agent: Minted, touch: Callable[..., object], reason: str
) -> None:
    mine, also_mine = added(agent.access, "Taken up"), added(agent.access, "Left alone")
    touch(furnished, mine.pk, folder_named("Shelf").pk)
    left = snapshot()
    result = undo_all(agent)
    assert [write.title for write in result.undone] == ["Left alone"]
    [skipped] = result.skipped
    assert (skipped.title, skipped.target) == ("Taken up", mine.pk)
    assert skipped.reason.startswith(reason)
    shelves_now = snapshot()
    assert [row for row in left["Item"] if row["id"] != str(also_mine.pk)] == shelves_now["Item"]


def test_a_folder_with_something_of_others_in_it_stays(
    furnished: Access, agent: Minted, mint: Mint
) -> None:
    full, given, renamed = (create_folder(agent.access, name) for name in ("Full", "Given", "Old"))
    file_item(furnished, item_titled("One").pk, [full.pk])
    mint(given)
    rename_folder(furnished, renamed.pk, "Named by hand")
    result = undo_all(agent)
    assert result.undone == []
    assert {write.title: write.reason for write in result.skipped} == {
        "Full": "There is something in it that stays.",
        "Given": "A token was given it since.",
        "Old": "It was changed by somebody else since.",
    }
    assert Folder.objects.filter(pk__in=[full.pk, given.pk, renamed.pk]).count() == 3


def test_names_that_are_taken_since_are_left_to_who_took_them(
    furnished: Access, agent: Minted
) -> None:
    rename_folder(agent.access, folder_named("Shelf").pk, "Pile")
    shelves.delete_folder(agent.access, folder_named("Attic").pk)
    for name in ("shelf", "attic"):
        create_folder(furnished, name)
    assert [write.reason for write in undo_all(agent).skipped] == [
        "Another folder has its name now.",
        "Another folder has its old name now.",
    ]


def test_filings_that_others_have_changed_since_are_left(furnished: Access, agent: Minted) -> None:
    one, two = item_titled("One"), item_titled("Two")
    shelf, attic = folder_named("Shelf"), folder_named("Attic")
    shelves.unfile_item(agent.access, one.pk, shelf.pk)
    shelves.unfile_item(agent.access, two.pk, attic.pk)
    file_item(agent.access, two.pk, [shelf.pk])
    file_item(furnished, one.pk, [shelf.pk])
    shelves.unfile_item(furnished, two.pk, shelf.pk)
    shelves.delete_folder(furnished, attic.pk)
    left = snapshot()
    assert {write.reason for write in undo_all(agent).skipped} == {
        "It was filed there again since.",
        "It is not filed there any more.",
        "Its folder was deleted since.",
    }
    assert snapshot() == left


def test_filing_again_by_hand_is_not_taken_back(furnished: Access, agent: Minted) -> None:
    one, cellar = item_titled("One"), folder_named("Cellar")
    file_item(agent.access, one.pk, [cellar.pk])
    shelves.unfile_item(furnished, one.pk, cellar.pk)
    file_item(furnished, one.pk, [cellar.pk])
    assert [write.reason for write in undo_all(agent).skipped] == [
        "It is not filed there any more."
    ]
    assert Filing.objects.filter(item=one, folder=cellar).exists()


def test_a_restored_folder_is_reached_by_no_token_that_had_lost_it(
    furnished: Access, agent: Minted, mint: Mint
) -> None:
    attic = folder_named("Attic")
    scoped = mint(attic)
    shelves.delete_folder(agent.access, attic.pk)
    undo_all(agent)
    assert Folder.objects.filter(pk=attic.pk).exists()
    assert scoped.access.folder_ids == frozenset()


# The record -------------------------------------------------------------------------------


def test_what_people_do_is_not_on_record(furnished: Access) -> None:
    agents_hour(furnished, item_titled, folder_named)
    assert not Change.objects.exists()


def test_a_write_that_is_rolled_back_leaves_no_record(furnished: Access, agent: Minted) -> None:
    with transaction.atomic():
        work(agent)
        assert Change.objects.exists()
        transaction.set_rollback(True)
    with pytest.raises(NameTaken):
        create_folder(agent.access, "shelf")
    with pytest.raises(NameTaken):
        rename_folder(agent.access, folder_named("Attic").pk, "Shelf")
    assert not Change.objects.exists()


def test_a_write_that_changes_nothing_is_not_on_record(furnished: Access, agent: Minted) -> None:
    one, shelf = item_titled("One"), folder_named("Shelf")
    update_item(agent.access, one.pk, ItemChanges(tags=[], archived=False))
    file_item(agent.access, one.pk, [shelf.pk])
    shelves.unfile_item(agent.access, one.pk, folder_named("Cellar").pk)
    rename_folder(agent.access, shelf.pk, "Shelf")
    assert not Change.objects.exists()


NUMBERS = count(1_000)


@pytest.mark.parametrize(
    "write",
    [
        lambda me, item, folder: added(me, "New"),
        # Words of one kind, as those that Postgres is asked about in another way cost a statement.
        lambda me, item, folder: update_item(me, item, ItemChanges(title=f"New {next(NUMBERS)}")),
        lambda me, item, folder: file_item(me, item, [folder]),
        lambda me, item, folder: create_folder(me, f"F{uuid4()}"),
        lambda me, item, folder: rename_folder(me, folder, f"F{uuid4()}"),
    ],
    ids=["add", "change", "file", "create", "rename"],
)
def test_the_record_costs_one_insert_at_most(
    furnished: Access, agent: Minted, write: Callable[..., object]
) -> None:
    by_agent = agent.access

    def statements(access: Access, title: str, folder: str) -> list[str]:
        ran: list[str] = []

        def note(execute: Callable[..., object], sql: object, *rest: object) -> object:
            ran.append(str(sql))
            return execute(sql, *rest)

        with connection.execute_wrapper(note):
            write(access, item_titled(title).pk, folder_named(folder).pk)
        return ran

    statements(furnished, "Three", "Attic")
    by_hand, by_token = statements(furnished, "One", "Cellar"), statements(by_agent, "Two", "Shelf")
    assert len(by_token) <= len(by_hand) + 1  # that of an addition goes with another statement
    assert sum("knowledge_change" in statement for statement in by_token) == 1


def test_the_record_is_forgotten_when_its_time_is_over(agent: Minted) -> None:
    added(agent.access, "Old")
    with time_machine.travel(timezone.now() + timedelta(days=20)):
        added(agent.access, "Young")
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        sweeps.sweep_leftovers.fn()
    assert [change.title for change in Change.objects.all()] == ["Young"]
