from collections.abc import Callable

import pytest

from knowledge.models import Folder, Item
from tests.support.library import Add, Mint

MakeFolder = Callable[[str], Folder]


def test_folders_come_by_name_with_what_is_in_them(
    mint: Mint, add: Add, folder: MakeFolder
) -> None:
    shelf = folder("b shelf")
    folder("A shelf")
    add("One", "", shelf)
    add("Two", "", shelf, in_kb=False)
    rows = mint().client.get("/api/v1/folders").json()["folders"]
    assert [(row["name"], row["item_count"]) for row in rows] == [("A shelf", 0), ("b shelf", 2)]
    assert rows[0]["last_added_at"] is None
    assert rows[1]["last_added_at"] is not None
    seen = mint(kb_only=True).client.get("/api/v1/folders").json()["folders"]
    assert seen[1]["item_count"] == 1


@pytest.mark.parametrize("name", ["Inbox", "inbox", "INBOX", " Inbox "])
def test_a_name_is_taken_whatever_its_case(mint: Mint, folder: MakeFolder, name: str) -> None:
    folder("Inbox")
    answer = mint().client.post("/api/v1/folders", {"name": name}, format="json")
    assert (answer.status_code, answer.json()["error"]) == (409, "name_taken")


def test_renaming_keeps_the_rule_and_may_change_the_case(mint: Mint, folder: MakeFolder) -> None:
    one = folder("One")
    folder("Two")
    client = mint().client
    route = f"/api/v1/folders/{one.pk}"
    assert client.patch(route, {"name": "two"}, format="json").status_code == 409
    assert client.patch(route, {"name": "ONE"}, format="json").json()["name"] == "ONE"
    assert client.patch(route, {"name": ""}, format="json").status_code == 400


def test_deleting_a_folder_keeps_its_items_unless_told_otherwise(
    mint: Mint, add: Add, folder: MakeFolder
) -> None:
    first, second = folder("First"), folder("Second")
    kept, gone = add("Kept", "", first), add("Gone", "", second)
    client = mint().client
    assert client.delete(f"/api/v1/folders/{first.pk}").status_code == 204
    assert client.delete(f"/api/v1/folders/{second.pk}?cascade_items=true").status_code == 204
    assert list(Item.objects.values_list("pk", flat=True)) == [kept.pk]
    assert client.get(f"/api/v1/items/{gone.pk}").status_code == 404


def test_only_a_whole_library_token_makes_renames_and_deletes_folders(
    mint: Mint, folder: MakeFolder
) -> None:
    shelf = folder("Shelf")
    client = mint(shelf).client
    made = client.post("/api/v1/folders", {"name": "More"}, format="json")
    assert (made.status_code, made.json()["error"]) == (403, "capability_denied")
    assert client.delete(f"/api/v1/folders/{shelf.pk}").status_code == 403
    renamed = client.patch(f"/api/v1/folders/{shelf.pk}", {"name": "Shelves"}, format="json")
    assert renamed.status_code == 403
