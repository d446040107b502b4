"""Folders: made, renamed, deleted, and back again."""

import re
from collections.abc import Callable

from django.contrib.auth.models import User
from django.test import Client

from knowledge.models import Folder, Item
from tests.support.library import Add

MakeFolder = Callable[[str], Folder]


def names() -> list[str]:
    return [folder.name for folder in Folder.objects.all()]


def undo(client: Client, page: str) -> None:
    found = re.search(r'action="(/undo/[^"]+)"', page)
    assert found
    client.post(found[1])


def test_a_folder_is_made_and_the_same_name_is_refused_in_place(visitor: Client) -> None:
    visitor.post("/folders/", {"name": "Stones"})
    answer = visitor.post("/folders/", {"name": "stones"})
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    assert names() == ["Stones"]


def test_a_folder_is_renamed_and_undo_gives_the_old_name_back(
    visitor: Client, folder: MakeFolder
) -> None:
    stones = folder("Stones")
    page = visitor.post(f"/folders/{stones.pk}", {"name": "Rocks"}, follow=True)
    assert names() == ["Rocks"]
    undo(visitor, page.content.decode())
    assert names() == ["Stones"]


def test_a_deleted_folder_comes_back_with_what_was_in_it(
    visitor: Client, folder: MakeFolder, add: Add
) -> None:
    stones = folder("Stones")
    add("Granite", "", stones)
    asked = {"action": "delete", "items": "1"}
    page = visitor.post(f"/folders/{stones.pk}", asked, follow=True).content.decode()
    assert names() == []
    assert not Item.objects.exists()
    undo(visitor, page)
    assert [item.title for item in Folder.objects.get().items.all()] == ["Granite"]


def test_a_taken_name_is_refused_in_place(visitor: Client, folder: MakeFolder) -> None:
    folder("Stones")
    rocks = folder("Rocks")
    assert 'value="Rocks"' in visitor.get(f"/folders/{rocks.pk}").content.decode()
    answer = visitor.post(f"/folders/{rocks.pk}", {"name": "STONES"})
    assert answer.status_code == 422
    assert 'value="STONES"' in answer.content.decode()


def test_somebody_elses_folder_is_not_there(visitor: Client, stranger: User) -> None:
    hers = Folder.objects.create(owner=stranger, name="Hers")
    assert "Hers" not in visitor.get("/folders/").content.decode()
    assert visitor.get(f"/folders/{hers.pk}").status_code == 404
    for asked in ({"name": "Mine"}, {"action": "delete"}):
        assert visitor.post(f"/folders/{hers.pk}", asked).status_code == 404
    assert names() == ["Hers"]
