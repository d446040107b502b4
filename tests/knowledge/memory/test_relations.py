"""Relations between items: made, ended, listed, and never told across what is out of reach."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.errors import NotFound
from knowledge.library.items import file_item
from knowledge.memory.relations import contradictions_among, relate, relations_of, unrelate
from knowledge.models import Change, Folder, Item, Relation, RelationType
from tests.support.edges import MISSING
from tests.support.library import Add, Mint, Minted
from tests.support.rollback import each_case
from tests.support.threads import in_threads
from tests.support.undo import undo_all
from tests.support.writing import Said, by_rest, everything, memory, project, task

FolderOf = Callable[[str], Folder]
BY_HAND = [each for each in RelationType.values if each not in ("belongs_to", "depends_on")]


@pytest.fixture
def agent(mint: Mint) -> Minted:
    return mint()


@pytest.fixture
def pair(library: Access) -> tuple[Item, Item]:
    return memory(library, "One"), memory(library, "Other")


def related(token: Minted, source: object, target: object, **how: Any) -> Said:
    return by_rest(token, "POST", f"items/{source}/relations", target_id=str(target), **how)


def listed(token: Minted, item_id: object, **asked: Any) -> dict[str, Any]:
    answer = token.client.get(f"/api/v1/items/{item_id}/relations", asked)
    body: dict[str, Any] = answer.json()
    assert answer.status_code == 200, body
    return body


def ended(token: Minted, relation_id: object) -> Said:
    return by_rest(token, "DELETE", f"relations/{relation_id}")


# Made and ended -------------------------------------------------------------------------------


@pytest.mark.parametrize("type", BY_HAND)
def test_two_items_are_related_by_any_type(
    agent: Minted, pair: tuple[Item, Item], type: str
) -> None:
    one, other = pair
    code, said = related(agent, one.pk, other.pk, type=type, weight=0.5)
    assert (code, said["type"], said["weight"], said["valid_until"]) == ("ok", type, 0.5, None)
    assert (said["source_id"], said["source_title"]) == (str(one.pk), "One")
    assert (said["target_id"], said["target_title"]) == (str(other.pk), "Other")
    relation = Relation.objects.get(pk=said["id"])
    assert (relation.owner_id, relation.added_by_token) == (one.owner_id, agent.row.pk)


def test_left_out_it_is_related_to_with_all_its_weight(
    agent: Minted, pair: tuple[Item, Item]
) -> None:
    _, said = related(agent, pair[0].pk, pair[1].pk)
    assert (said["type"], said["weight"]) == ("related_to", 1.0)


def test_the_same_again_is_the_relation_there_is(agent: Minted, pair: tuple[Item, Item]) -> None:
    first, again = (related(agent, pair[0].pk, pair[1].pk, weight=0.5) for _ in range(2))
    assert first == again
    assert Relation.objects.count() == Change.objects.filter(kind="row_added").count() == 1


def test_another_weight_ends_the_old_and_begins_a_new(
    agent: Minted, pair: tuple[Item, Item]
) -> None:
    _, old = related(agent, pair[0].pk, pair[1].pk, weight=0.5)
    _, new = related(agent, pair[0].pk, pair[1].pk, weight=0.9)
    assert old["id"] != new["id"]
    assert Relation.objects.get(pk=old["id"]).valid_until is not None
    assert [row["id"] for row in listed(agent, pair[0].pk)["relations"]] == [new["id"]]


def test_other_types_and_the_other_way_are_relations_of_their_own(
    agent: Minted, pair: tuple[Item, Item]
) -> None:
    one, other = pair
    for source, target, type in [
        (one, other, "supports"),
        (one, other, "decides"),
        (other, one, "supports"),
    ]:
        assert related(agent, source.pk, target.pk, type=type)[0] == "ok"
    assert listed(agent, one.pk)["total"] == 3


def test_ending_keeps_the_relation_on_record_and_twice_is_once(
    agent: Minted, pair: tuple[Item, Item]
) -> None:
    _, said = related(agent, pair[0].pk, pair[1].pk)
    assert ended(agent, said["id"])[0] == "ok"
    until = Relation.objects.get(pk=said["id"]).valid_until
    assert until is not None
    assert ended(agent, said["id"])[0] == "ok"
    assert Relation.objects.get(pk=said["id"]).valid_until == until
    assert listed(agent, pair[0].pk)["relations"] == []
    (row,) = listed(agent, pair[0].pk, include_ended="true")["relations"]
    assert (row["id"], row["valid_until"] is not None) == (said["id"], True)
    assert related(agent, pair[0].pk, pair[1].pk)[1]["id"] != said["id"]


def test_a_dependency_by_hand_cannot_close_a_cycle(agent: Minted, library: Access) -> None:
    its = project(library)
    first, last = task(library, "First", its), task(library, "Last", its)
    assert related(agent, first.pk, last.pk, type="depends_on")[0] == "ok"
    code, said = related(agent, last.pk, first.pk, type="depends_on")
    assert (code, said["cycle"]) == ("invalid_body", [str(x.pk) for x in (last, first, last)])
    assert related(agent, first.pk, last.pk, type="depends_on", weight=0.2)[0] == "ok"


def test_an_ended_dependency_closes_no_cycle(agent: Minted, library: Access) -> None:
    its = project(library)
    first, last = task(library, "First", its), task(library, "Last", its)
    _, said = related(agent, first.pk, last.pk, type="depends_on")
    ended(agent, said["id"])
    assert related(agent, last.pk, first.pk, type="depends_on")[0] == "ok"


def test_a_task_keeps_its_project_until_it_is_given_another(agent: Minted, library: Access) -> None:
    its, other = project(library, "Its"), project(library, "Other")
    chore = task(library, "Chore", its)
    assert related(agent, chore.pk, other.pk, type="belongs_to")[0] == "conflict"
    (belongs,) = listed(agent, chore.pk)["relations"]
    assert ended(agent, belongs["id"])[0] == "conflict"
    assert listed(agent, chore.pk)["total"] == 1


def test_only_to_a_project_does_anything_belong(
    agent: Minted, library: Access, pair: tuple[Item, Item]
) -> None:
    its = project(library)
    assert related(agent, pair[0].pk, its.pk, type="belongs_to")[0] == "ok"
    code, said = related(agent, pair[0].pk, pair[1].pk, type="belongs_to")
    assert (code, said["field"]) == ("invalid_body", "target_id")


@pytest.mark.django_db(transaction=True)
def test_the_same_relation_made_at_once_is_made_once(
    library: Access, pair: tuple[Item, Item]
) -> None:
    made: list[UUID] = []
    one, other = pair

    def make() -> None:
        made.append(relate(library, one.pk, other.pk, type="supports").pk)

    in_threads([make] * 6)
    assert len(made) == 6
    assert set(made) == {Relation.objects.get().pk}


@pytest.mark.django_db(transaction=True)
def test_two_items_can_be_related_to_each_other_at_once(
    library: Access, pair: tuple[Item, Item]
) -> None:
    one, other = pair

    def make(source: Item, target: Item) -> None:
        relate(library, source.pk, target.pk)

    in_threads([lambda: make(one, other), lambda: make(other, one)] * 5)
    assert Relation.objects.count() == 2


# What is refused ------------------------------------------------------------------------------


@each_case(
    "wrong, code, field",
    [
        ({"type": "likes"}, "invalid_body", "type"),
        ({"type": None}, "invalid_body", "type"),
        ({"weight": -0.1}, "invalid_body", "weight"),
        ({"weight": 1.1}, "invalid_body", "weight"),
        ({"weight": "1"}, "invalid_body", "weight"),
        ({"weight": True}, "invalid_body", "weight"),
        ({"weight": None}, "invalid_body", "weight"),
        ({"target_id": "none"}, "invalid_id", "target_id"),
        ({"target_id": None}, "invalid_body", "target_id"),
        ({"target_id": MISSING}, "not_found", None),
        ({"mood": "good"}, "invalid_body", "mood"),
    ],
)
def test_what_is_wrong_is_named(
    agent: Minted, pair: tuple[Item, Item], wrong: dict[str, Any], code: str, field: str | None
) -> None:
    asked = {"target_id": str(pair[1].pk), **wrong}
    got, said = by_rest(agent, "POST", f"items/{pair[0].pk}/relations", **asked)
    assert (got, said.get("field")) == (code, field)
    assert not Relation.objects.exists()


def test_an_item_is_not_related_to_itself(agent: Minted, pair: tuple[Item, Item]) -> None:
    code, said = related(agent, pair[0].pk, pair[0].pk)
    assert (code, said["field"]) == ("invalid_body", "target_id")


@pytest.mark.parametrize(
    "asked", [{"page": 0}, {"per_page": 201}, {"per_page": 0}, {"include_ended": "maybe"}, {"x": 1}]
)
def test_a_listing_is_asked_for_within_its_ranges(
    agent: Minted, pair: tuple[Item, Item], asked: dict[str, Any]
) -> None:
    answer = agent.client.get(f"/api/v1/items/{pair[0].pk}/relations", asked)
    assert (answer.status_code, answer.json()["field"]) == (400, next(iter(asked)))


def test_a_token_that_may_only_read_lists_but_changes_nothing(
    mint: Mint, agent: Minted, pair: tuple[Item, Item]
) -> None:
    _, said = related(agent, pair[0].pk, pair[1].pk)
    reader = mint(write=False)
    assert listed(reader, pair[0].pk)["total"] == 1
    assert related(reader, pair[1].pk, pair[0].pk)[0] == "capability_denied"
    assert ended(reader, said["id"])[0] == "capability_denied"


def test_relations_are_paged_newest_first(agent: Minted, library: Access) -> None:
    hub = memory(library, "Hub")
    spokes = [memory(library, f"Spoke {number}") for number in range(5)]
    for spoke in spokes:
        related(agent, hub.pk, spoke.pk)
    pages = [listed(agent, hub.pk, page=page, per_page=2) for page in (1, 2, 3)]
    assert {page["total"] for page in pages} == {5}
    titles = [row["target_title"] for page in pages for row in page["relations"]]
    assert titles == [spoke.title for spoke in reversed(spokes)]


# What is out of reach -------------------------------------------------------------------------


@pytest.fixture
def shelf(folder: FolderOf) -> Folder:
    return folder("Shelf")


@pytest.fixture
def hub(library: Access, shelf: Folder, stranger: User) -> Item:
    """An item on the shelf, related to one beside it and to one that is not there."""
    hub, beside, hidden = (memory(library, title) for title in ("Hub", "Beside", "Hidden"))
    for item in (hub, beside):
        file_item(library, item.pk, [shelf.pk])
    for source, target in ((hub, beside), (hub, hidden), (hidden, hub), (beside, hub)):
        relate(library, source.pk, target.pk, type="contradicts")
    return hub


def titled(title: str) -> Item:
    return Item.objects.get(content__title=title)


def test_only_relations_with_both_ends_in_reach_are_told(
    mint: Mint, shelf: Folder, hub: Item, library: Access
) -> None:
    narrow = mint(shelf)
    seen = listed(narrow, hub.pk)
    assert seen["total"] == len(seen["relations"]) == 2
    assert "Hidden" not in str(seen)
    assert relations_of(library, hub.pk).total == 4


def test_an_item_is_contested_only_by_what_the_caller_sees(
    mint: Mint, shelf: Folder, hub: Item, library: Access
) -> None:
    beside, hidden = titled("Beside"), titled("Hidden")
    asked = [hub.pk, hidden.pk, uuid4()]
    assert contradictions_among(mint(shelf).access, asked) == {hub.pk: [beside.pk]}
    assert contradictions_among(library, asked) == {
        hub.pk: sorted([beside.pk, hidden.pk]),
        hidden.pk: [hub.pk],
    }


def test_a_hidden_end_is_missing_in_every_word(mint: Mint, shelf: Folder, hub: Item) -> None:
    narrow, hidden = mint(shelf), titled("Hidden")
    for source, target in ((hub.pk, hidden.pk), (hidden.pk, hub.pk)):
        code, said = related(narrow, source, target, type="supports")
        assert code == "not_found"
        missing = [MISSING if each == hidden.pk else each for each in (source, target)]
        assert said["message"] == related(narrow, *missing)[1]["message"]
    assert not Relation.objects.filter(type="supports").exists()


def test_a_relation_with_a_hidden_end_is_not_ended(mint: Mint, shelf: Folder, hub: Item) -> None:
    relation = Relation.objects.get(source=hub, target=titled("Hidden"))
    narrow = mint(shelf)
    code, said = ended(narrow, relation.pk)
    assert (code, said["message"]) == ("not_found", ended(narrow, MISSING)[1]["message"])
    relation.refresh_from_db()
    assert relation.valid_until is None


def test_nothing_leads_from_one_owner_to_another(
    mint: Mint, stranger: User, pair: tuple[Item, Item]
) -> None:
    theirs = memory(Access.whole_library(stranger.pk), "Theirs")
    eve = mint(by=stranger)
    assert related(eve, theirs.pk, pair[0].pk)[0] == "not_found"
    assert related(mint(), pair[0].pk, theirs.pk)[0] == "not_found"
    with pytest.raises(NotFound):
        relations_of(eve.access, pair[0].pk)


def test_what_is_not_in_the_knowledge_base_is_no_end_for_a_kb_only_token(
    mint: Mint, add: Add, agent: Minted, pair: tuple[Item, Item]
) -> None:
    kept_out = add("Kept out", in_kb=False)
    assert related(agent, pair[0].pk, kept_out.pk)[0] == "ok"
    narrow = mint(kb_only=True)
    assert listed(narrow, pair[0].pk)["total"] == 0
    assert related(narrow, pair[0].pk, kept_out.pk)[0] == "not_found"


# Undo -----------------------------------------------------------------------------------------


def test_relating_and_ending_are_undone_in_one_step(
    agent: Minted, library: Access, pair: tuple[Item, Item]
) -> None:
    one, other = pair
    kept = relate(library, one.pk, other.pk, type="supports", weight=0.5)
    before = everything()
    related(agent, one.pk, other.pk)
    related(agent, one.pk, other.pk, type="supports", weight=0.9)
    related(agent, one.pk, other.pk, type="supports", weight=0.1)
    related(agent, other.pk, one.pk, type="supersedes")
    for relation in Relation.objects.in_force():
        assert ended(agent, relation.pk)[0] == "ok"
    assert undo_all(agent).skipped == []
    assert everything() == before
    assert unrelate(library, kept.pk).valid_until is not None


def test_only_tasks_depend_on_each_other(agent: Minted, library: Access) -> None:
    its = project(library)
    first, note = task(library, "First", its), memory(library, "A note")
    for source, target in ((first, note), (note, first)):
        code, said = related(agent, source.pk, target.pk, type="depends_on")
        assert (code, said["field"]) == ("invalid_body", "type")
        assert "requires" in said["message"]
