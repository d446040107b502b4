"""The page Changes: what one did stays within reach after the message is gone."""

from django.test import Client

from knowledge.access import Access
from knowledge.library.items import delete_item
from knowledge.models import Folder, Item
from tests.support.library import Add, Mint


def page_of(visitor: Client, address: str = "/changes/") -> str:
    return visitor.get(address).content.decode()


def test_a_change_is_undone_long_after_its_message(visitor: Client, add: Add) -> None:
    granite, basalt = add("Granite"), add("Basalt")
    visitor.post("/items/actions", {"action": "tag", "tags": "x", "item": [granite.pk, basalt.pk]})
    visitor.post(f"/items/{granite.pk}/change", {"title": "<b>Hard stone</b>"})
    visitor.get("/")

    page = page_of(visitor)

    assert "Tags changed" in page
    assert "Renamed" in page
    assert "&lt;b&gt;Hard stone" in page
    assert f'href="/items/{granite.pk}"' in page
    actions = [each.split('"')[0] for each in page.split('action="/undo/')[1:]]
    assert len(actions) == 2
    visitor.post(f"/undo/{actions[1]}")
    assert list(Item.objects.filter(tags__contains=["x"])) == []
    assert '<span class="badge plain">Undone</span>' in page_of(visitor)


def test_what_was_deleted_is_found_by_its_title_and_brought_back(
    visitor: Client, library: Access, mint: Mint, add: Add
) -> None:
    agent = mint(name="Curator").access
    mine, theirs = add("My old notes"), add("Field report")
    visitor.post(f"/items/{mine.pk}/do/delete")
    delete_item(agent, theirs.pk)

    page = page_of(visitor, "/changes/?show=deleted")
    found = page_of(visitor, "/changes/?show=deleted&q=report")

    assert "My old notes" in page
    assert "by you" in page
    assert "My old notes" not in found.split("<main")[1]
    assert "by Curator" in found
    address = found.split('action="/changes/')[1].split('"')[0]
    visitor.post(f"/changes/{address}")
    assert Item.objects.get(pk=theirs.pk).title == "Field report"
    assert "Field report" not in page_of(visitor, "/changes/?show=deleted").split("<main")[1]


def test_many_actions_have_pages_and_an_action_of_many_one_line(visitor: Client, add: Add) -> None:
    items = [add(f"Stone {number}") for number in range(5)]
    visitor.post("/items/actions", {"action": "delete", "item": [item.pk for item in items]})
    for number in range(30):
        visitor.post("/folders/", {"name": f"Folder {number}"})
    first, second = page_of(visitor), page_of(visitor, "/changes/?page=2")
    assert "Folder 29" in first
    assert "and 2 more" not in first
    assert 'href="?page=2"' in first
    assert "Deleted" in second
    assert "and 2 more" in second
    assert page_of(visitor, "/changes/?page=0&q=%00") != ""


def test_nothing_of_anybody_else_is_listed_or_undone(
    visitor: Client, other_visitor: Client, add: Add
) -> None:
    visitor.post("/folders/", {"name": "Ada's folder"})
    item = add("Ada's notes")
    visitor.post(f"/items/{item.pk}/do/delete")
    deleted = page_of(visitor, "/changes/?show=deleted")
    address = "/changes/" + deleted.split('action="/changes/')[1].split('"')[0]

    for page in (page_of(other_visitor), page_of(other_visitor, "/changes/?show=deleted")):
        assert "Ada" not in page
    assert other_visitor.post(address).status_code == 404
    assert not Item.objects.exists()
    assert Folder.objects.count() == 1


def test_a_message_with_an_undo_leads_to_all_changes(visitor: Client) -> None:
    visitor.post("/folders/", {"name": "Stones"})
    assert 'href="/changes/">All changes</a>' in page_of(visitor, "/folders/")
    empty = page_of(visitor, "/changes/?show=deleted")
    assert "Nothing was deleted" in empty
