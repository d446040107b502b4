"""The library's page: what it lists and finds, what it does to many items, and whose they are."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import Folder, Item
from tests.support.library import LONG_ENOUGH, Add

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/"}
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

MakeFolder = Callable[[str], Folder]


def shown(client: Client, address: str = "/", **headers: str) -> str:
    return client.get(address, headers=headers).content.decode()


def titles(page: str) -> list[str]:
    return re.findall(r'class="line-title"[^>]*>([^<]*)<', page)


def act(client: Client, action: str, *items: Item, **fields: Any) -> Any:
    asked = {"action": action, "item": [str(item.pk) for item in items], **fields}
    return client.post("/items/actions", asked, headers=HTMX)


def undo(client: Client, page: str) -> None:
    found = re.search(r'action="(/undo/[^"]+)"', page)
    assert found, page
    client.post(found[1])


def test_an_empty_library_greets_with_three_steps(visitor: Client) -> None:
    page = shown(visitor)
    assert "Add something" in page
    assert "Search it" in page
    assert "Connect an agent" in page


def test_recent_items_and_folders_are_shown_when_nothing_is_asked(
    visitor: Client, add: Add, folder: MakeFolder
) -> None:
    add("Granite", "", folder("Stones"))
    add("Basalt")
    page = shown(visitor)
    assert titles(page) == ["Basalt", "Granite"]
    assert re.search(r"Stones</span> <span class=\"muted\">1</span>", page)


def test_a_question_finds_passages_that_lead_to_their_very_place(visitor: Client, add: Add) -> None:
    item = add("Etna", "Etna rests. The next explosion comes when the chamber is full.")
    page = shown(visitor, "/?q=next+explosion&mode=keyword")
    assert titles(page) == ["Etna"]
    assert "<mark>explosion</mark>" in page
    assert re.search(rf'href="/items/{item.pk}\?at=0,\d+#char=0,\d+"', page)


def test_a_keystroke_gets_only_the_results_and_a_clean_address(visitor: Client, add: Add) -> None:
    add("Etna", "The next explosion comes soon enough.")
    asked = "/?q=explosion&mode=keyword&folder=&type=&tag=&since="
    answer = visitor.get(asked, headers={"HX-Request": "true"})
    assert answer["HX-Replace-Url"] == "/?q=explosion&mode=keyword"
    page = answer.content.decode()
    assert "<html" not in page
    assert titles(page) == ["Etna"]


def test_half_a_word_finds_titles(visitor: Client, add: Add) -> None:
    add("Thermodynamics")
    assert "Thermodynamics" in titles(shown(visitor, "/?q=thermod&mode=keyword"))


def test_folder_type_tag_and_age_narrow_both_list_and_search(
    visitor: Client, library: Access, add: Add, folder: MakeFolder
) -> None:
    stones = folder("Stones")
    granite = add("Granite stone", "", stones)
    update_item(library, granite.pk, ItemChanges(tags=["hard"]))
    add("Chalk stone")
    for limit in (f"folder={stones.pk}", "tag=hard"):
        assert titles(shown(visitor, f"/?{limit}")) == ["Granite stone"]
        assert titles(shown(visitor, f"/?q=stone&mode=keyword&{limit}")) == ["Granite stone"]
    assert titles(shown(visitor, "/?type=skill")) == []
    assert len(titles(shown(visitor, "/?since=1d&type=document"))) == 2


@pytest.mark.parametrize(
    "address",
    [
        "/?mode=odd&since=never&type=none&page=x",
        "/?page=99999",
        "/?q=%00a",
        "/?folder=nonsense",
        "/?folder=00000000-0000-0000-0000-000000000000",
        "/?q=stone&folder=00000000-0000-0000-0000-000000000000",
        "/?q=" + "word+" * 3000,
    ],
)
def test_an_address_with_mistakes_still_shows_the_library(
    visitor: Client, add: Add, address: str
) -> None:
    add("Granite")
    answer = visitor.get(address)
    assert answer.status_code == 200
    assert "token" not in answer.content.decode().replace("csrfmiddlewaretoken", "")


def test_a_library_that_is_all_archived_is_not_new(visitor: Client, add: Add) -> None:
    act(visitor, "archive", add("Granite"))
    assert "Welcome" not in shown(visitor)


def test_a_listing_has_pages(visitor: Client, library: Access, add: Add) -> None:
    for number in range(41):
        add_text(library, title=f"Stone {number:02}", text=LONG_ENOUGH * 3, in_kb=False)
    page = shown(visitor)
    assert len(titles(page)) == 40
    assert 'href="/?page=2"' in page
    assert titles(shown(visitor, "/?page=2")) == ["Stone 00"]


def test_ticked_items_are_archived_and_the_undo_brings_them_back(visitor: Client, add: Add) -> None:
    one, two = add("Granite"), add("Basalt")
    page = act(visitor, "archive", one, two).content.decode()
    assert "2 items archived." in page
    assert titles(page) == []
    assert titles(shown(visitor, "/?archived=1")) == ["Basalt", "Granite"]
    undo(visitor, page)
    assert titles(shown(visitor)) == ["Basalt", "Granite"]


def test_deleted_items_come_back_whole(
    visitor: Client, library: Access, add: Add, folder: MakeFolder
) -> None:
    item = add("Granite", "Granite is an igneous rock.", folder("Stones"))
    update_item(library, item.pk, ItemChanges(tags=["hard"]))
    page = act(visitor, "delete", item).content.decode()
    assert not Item.objects.exists()
    undo(visitor, page)
    page = shown(visitor, "/?q=igneous&mode=keyword")
    assert titles(page) == ["Granite"]
    assert "#hard" in page
    assert "Stones" in page


def test_ticked_items_are_tagged_and_filed(visitor: Client, add: Add) -> None:
    item, other = add("Granite"), add("Basalt")
    act(visitor, "tag", item, other, tags="hard, #grey")
    page = act(visitor, "file", item, new_folder="Stones").content.decode()
    item.refresh_from_db()
    assert item.tags == ["hard", "grey"]
    assert [each.name for each in item.folders.all()] == ["Stones"]
    undo(visitor, page)
    assert not Folder.objects.exists()


def test_one_item_that_is_not_there_stops_all_of_them(
    visitor: Client, other_visitor: Client, stranger: User, add: Add
) -> None:
    theirs = add_text(Access.whole_library(stranger.pk), title="Theirs", text=LONG_ENOUGH * 3)
    mine = add("Mine")
    for action in ("archive", "delete", "tag", "file"):
        answer = act(visitor, action, mine, theirs, tags="x", new_folder="New")
        assert answer.status_code == 404
    assert {item.title for item in Item.objects.filter(archived=False, tags=[])} == {
        "Mine",
        "Theirs",
    }
    assert not Folder.objects.exists()


def test_actions_work_without_scripts(visitor: Client, add: Add) -> None:
    item = add("Granite")
    asked = {"action": "archive", "item": [str(item.pk)]}
    answer = visitor.post("/items/actions", asked, headers={"Referer": "http://testserver/?q=g"})
    assert answer["Location"] == "http://testserver/?q=g"
    assert "1 item archived." in shown(visitor)


def test_nothing_of_somebody_else_is_on_the_page(
    visitor: Client, stranger: User, add: Add, folder: MakeFolder
) -> None:
    theirs = Access.whole_library(stranger.pk)
    item = add_text(theirs, title="Secret quarry", text="The secret quarry lies in the north.")
    update_item(theirs, item.pk, ItemChanges(tags=["hidden-tag"]))
    hers = Folder.objects.create(owner=stranger, name="Hers")
    add("Mine")
    for address in ("/", "/?q=secret+quarry", "/?tag=hidden-tag", f"/?folder={hers.pk}"):
        page = shown(visitor, address).replace("/?tag=hidden-tag", "")
        assert "Secret" not in page
        assert "Hers" not in page
        assert 'value="hidden-tag"></option>' not in page
    assert "1 item" in shown(visitor)


def test_hostile_words_are_only_words(visitor: Client, library: Access, add: Add) -> None:
    item = add(HOSTILE, f"{HOSTILE} volcano {HOSTILE}")
    update_item(library, item.pk, ItemChanges(tags=[HOSTILE[:100]]))
    visitor.post("/folders/", {"name": HOSTILE})
    for address in ("/", "/?q=volcano&mode=keyword", f"/?q={HOSTILE}", f"/?tag={HOSTILE}"):
        page = shown(visitor, address)
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    assert "<script>alert" not in act(visitor, "archive", item).content.decode()
