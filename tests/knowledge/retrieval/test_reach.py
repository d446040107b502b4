"""What a search may find: nothing put away or superseded, and of others what they publish."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.models import Folder, Item, ItemType, Relation, RelationType, Visibility
from knowledge.retrieval.scope import Narrowing, Reach
from knowledge.retrieval.search import MODES, rank
from knowledge.retrieval.statement import Shown
from tests.support.library import LONG_ENOUGH, Add, Mint
from tests.support.searching import search

QUERY = "granite quarry"
every_mode = pytest.mark.parametrize("mode", MODES)


def titles(access: Access, *, mode: str = "hybrid", **narrowing: Any) -> set[str]:
    answer = search(
        access, query=QUERY, mode=mode, limit=20, narrowing=Narrowing(**narrowing), fold=False
    )
    return {hit.item.title for hit in answer.hits}


def published(access: Access, *, mode: str = "hybrid", **narrowing: Any) -> set[str]:
    ranking = rank(
        access,
        query=QUERY,
        mode=mode,
        limit=20,
        narrowing=Narrowing(**narrowing),
        reach=Reach.REGISTRY,
        shown=Shown.IN_FULL,
    )
    return {row["title"] for row in ranking.rows}


def supersede(new: Item, old: Item, **fields: Any) -> Relation:
    return Relation.objects.create(
        owner_id=new.owner_id, source=new, target=old, type=RelationType.SUPERSEDES, **fields
    )


@pytest.fixture
def old_and_new(add: Add, folder: Callable[[str], Folder]) -> tuple[Item, Item]:
    shared, own = folder("shared"), folder("own")
    return add("old", QUERY, shared), add("new", QUERY, own)


@every_mode
def test_what_is_superseded_is_not_found(
    library: Access, old_and_new: tuple[Item, Item], mode: str
) -> None:
    old, new = old_and_new
    supersede(new, old)
    assert titles(library, mode=mode) == {"new"}
    assert titles(library, mode=mode, types=["document"]) == {"new"}


def test_who_cannot_see_the_successor_still_finds_what_it_has(
    mint: Mint, old_and_new: tuple[Item, Item]
) -> None:
    old, new = old_and_new
    supersede(new, old)
    shared, own = old.folders.get(), new.folders.get()
    assert titles(mint(shared).access) == {"old"}
    assert titles(mint(shared, own).access) == {"new"}


def test_a_successor_that_is_put_away_hides_nothing(
    library: Access, old_and_new: tuple[Item, Item]
) -> None:
    old, new = old_and_new
    supersede(new, old)
    Item.objects.filter(pk=new.pk).update(archived=True)
    assert titles(library) == {"old"}


@pytest.mark.parametrize("valid", ["ended", "to come"])
def test_only_what_is_in_force_supersedes(
    library: Access, old_and_new: tuple[Item, Item], valid: str
) -> None:
    old, new = old_and_new
    day = timedelta(days=1)
    now = timezone.now()
    if valid == "ended":
        supersede(new, old, valid_from=now - 2 * day, valid_until=now - day)
    else:
        supersede(new, old, valid_from=now + day)
    assert titles(library) == {"old", "new"}


@every_mode
def test_its_owner_finds_what_is_held_back_from_others(
    library: Access, add: Add, mode: str
) -> None:
    add("clean", QUERY)
    Item.objects.filter(pk=add("suspect", QUERY).pk).update(quarantined=True)
    assert titles(library, mode=mode) == {"clean", "suspect"}


def publish(owner: User, title: str, **fields: Any) -> Item:
    access = Access.whole_library(owner.pk)
    item = add_text(access, title=title, text=QUERY + LONG_ENOUGH)
    values = {"type": ItemType.SKILL, "quality": 0.9, **fields}
    Item.objects.filter(pk=item.pk).update(**values)
    return item


@pytest.fixture
def colleague(owner: User) -> User:
    colleague = User.objects.create_user("grace")
    group = Group.objects.create(name="masons")
    group.user_set.add(owner, colleague)
    return colleague


@pytest.fixture
def others(owner: User, stranger: User, colleague: User) -> None:
    for user in (owner, stranger, colleague):
        for visibility in Visibility.values:
            publish(user, f"{user.username} {visibility}", visibility=visibility)
    publish(stranger, "held back", visibility=Visibility.NETWORK, quarantined=True)
    publish(stranger, "put away", visibility=Visibility.NETWORK, archived=True)
    publish(stranger, "a note", visibility=Visibility.NETWORK, type=ItemType.DOCUMENT)


@every_mode
@pytest.mark.usefixtures("others")
def test_the_registry_finds_what_is_published_to_the_caller(library: Access, mode: str) -> None:
    own = {f"ada {visibility}" for visibility in Visibility.values}
    expected = own | {"grace org", "grace network", "eve network"}
    assert published(library, mode=mode) == expected
    assert published(library, mode=mode, types=["skill"]) == expected
    assert published(library, mode=mode, min_quality=0.95) == set()


@pytest.mark.usefixtures("others")
def test_the_library_holds_nobody_else_s(library: Access) -> None:
    assert titles(library) == {f"ada {visibility}" for visibility in Visibility.values}


@pytest.mark.usefixtures("others")
def test_a_scoped_token_reads_what_everybody_may(
    mint: Mint, folder: Callable[[str], Folder]
) -> None:
    access = mint(folder("empty")).access
    assert published(access) == {
        *("ada org", "ada network", "grace org", "grace network", "eve network")
    }


def test_attributes_and_tags_narrow(library: Access, add: Add) -> None:
    memory = add("memory", QUERY)
    attributes = {"languages": ["python"], "category": "safety", "status": "todo"}
    Item.objects.filter(pk=memory.pk).update(attributes=attributes)
    Item.objects.filter(pk=add("tagged", QUERY).pk).update(tags=["python", "safety"])
    add("plain", QUERY)
    assert titles(library, language="Python") == {"memory", "tagged"}
    assert titles(library, category="Safety") == {"memory", "tagged"}
    assert titles(library, statuses=["todo", "doing"]) == {"memory"}
    assert titles(library, statuses=["done"]) == set()
