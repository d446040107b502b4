from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from knowledge.access import Access
from knowledge.errors import InvalidToken
from knowledge.ingest.adding import add_text
from knowledge.library.items import create_folder
from knowledge.models import Chunk, Content, Folder, IndexStatus, Item
from tests.support.library import LONG_ENOUGH, Add, Mint
from tokens.authentication import authenticate

ITEMS = "admin:knowledge_item_changelist"
Shelve = Callable[[str], Folder]


def form_of(item: Item, **changes: Any) -> dict[str, Any]:
    form = {
        "title": item.title,
        "tags": "\n".join(item.tags),
        "folder_ids": [folder.pk for folder in item.folders.all()],
        "in_kb": "on" if item.in_kb else "",
        "archived": "on" if item.archived else "",
        **changes,
    }
    return {name: value for name, value in form.items() if value != ""}


def change(client: Client, item: Item, **changes: Any) -> str:
    address = reverse("admin:knowledge_item_change", args=[item.pk])
    answer = client.post(address, form_of(item, **changes), follow=True)
    assert answer.status_code == 200
    item.refresh_from_db()
    return unescape(answer.content.decode())


# Items -----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["Sourdough", "flour water", "bread-tag", "BREAD crumbs"])
def test_items_are_found_by_title_text_and_tag(
    admin_client: Client, library: Access, add: Add, words: str
) -> None:
    text = "Needs flour, water and salt, and leaves bread crumbs." + LONG_ENOUGH
    item = add_text(library, title="Sourdough", text=text, tags=["bread-tag"])
    add("Consent", "The user consents at the authorize page.")
    found = admin_client.get(reverse(ITEMS), {"q": words}).context["cl"].queryset
    assert list(found) == [item]


def test_an_item_is_found_by_its_id_and_by_its_own_title(admin_client: Client, add: Add) -> None:
    item, other = add("First"), add("Second")
    change(admin_client, item, title="Renamed by me")
    for words in (str(item.pk), "renamed by"):
        found = admin_client.get(reverse(ITEMS), {"q": words}).context["cl"].queryset
        assert list(found) == [item]
    assert other.pk != item.pk


def test_leaving_the_knowledge_base_leaves_no_chunk_and_joining_makes_them(
    admin_client: Client, add: Add
) -> None:
    item = add("Consent")
    change(admin_client, item, in_kb="")
    assert item.index_status == IndexStatus.NONE
    assert not Chunk.objects.filter(item=item).exists()
    change(admin_client, item, in_kb="on")
    assert item.index_status == IndexStatus.DONE
    assert Chunk.objects.filter(item=item).exists()


def test_a_new_title_is_what_search_finds(admin_client: Client, add: Add, mint: Mint) -> None:
    item = add("Consent")
    change(admin_client, item, title="Zeppelin")
    answer = mint().client.get("/api/v1/search", {"query": "zeppelin", "mode": "keyword"})
    assert [hit["user_item_id"] for hit in answer.json()["results"]] == [str(item.pk)]


def test_tags_are_kept_whole_and_only_what_was_touched_is_logged(
    admin_client: Client, add: Add
) -> None:
    item = add("Consent")
    change(admin_client, item, tags="one, two\r\n\r\n  three  ")
    assert item.tags == ["one, two", "three"]
    change(admin_client, item, archived="on")
    assert item.archived
    assert item.tags == ["one, two", "three"]
    history = reverse("admin:knowledge_item_history", args=[item.pk])
    page = admin_client.get(history).content.decode()
    assert "Changed Archived." in page


def test_filing_hides_an_item_from_the_token_that_left_it_unfiled(
    admin_client: Client, add: Add, folder: Shelve, mint: Mint
) -> None:
    one, two, shelf = folder("One"), folder("Two"), folder("Shelf")
    minted = mint(one, two)
    item = add_text(minted.access, title="Mine", text="Mine." + LONG_ENOUGH)
    assert item.unfiled_by == minted.row.pk
    change(admin_client, item, folder_ids=[shelf.pk])
    assert Item.objects.get(pk=item.pk).unfiled_by is None
    assert list(item.folders.all()) == [shelf]
    assert minted.client.get(f"/api/v1/items/{item.pk}").status_code == 404
    change(admin_client, item, folder_ids=[])
    assert not item.folders.exists()


def test_an_item_is_not_filed_with_somebody_else(
    admin_client: Client, add: Add, stranger: User
) -> None:
    item = add("Consent")
    foreign = create_folder(Access.whole_library(stranger.pk), "Theirs")
    page = change(admin_client, item, folder_ids=[foreign.pk])
    assert "is not one of the available choices" in page
    assert not item.folders.exists()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"tags": "x" * 101}, "at most 100 characters"),
        ({"tags": "a\x00b"}, "NUL"),
        ({"title": "y" * 501}, "at most 500"),
    ],
)
def test_a_wrong_change_comes_back_with_the_reason_and_changes_nothing(
    admin_client: Client, add: Add, changes: dict[str, str], complaint: str
) -> None:
    item = add("Consent")
    page = change(admin_client, item, archived="on", **changes)
    assert complaint in page
    assert not item.archived


def test_deleting_takes_the_text_and_the_chunks_along(admin_client: Client, add: Add) -> None:
    item, kept = add("Consent"), add("Kept")
    address = reverse("admin:knowledge_item_delete", args=[item.pk])
    assert "Its text is deleted too" in admin_client.get(address).content.decode()
    admin_client.post(address, {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [item.pk, kept.pk], "post": "yes"}
    assert [each.pk for each in Item.objects.all()] == [kept.pk]
    admin_client.post(reverse(ITEMS), chosen)
    assert not Item.objects.exists()
    assert not Content.objects.exists()
    assert not Chunk.objects.exists()


def added(client: Client, owner: User, **changes: Any) -> str:
    form = {"owner": owner.pk, "title": "Note", "text": "Zebra." + LONG_ENOUGH, "in_kb": "on"}
    answer = client.post(reverse("admin:knowledge_item_add"), {**form, **changes}, follow=True)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_a_text_added_here_is_filed_and_found(
    admin_client: Client, owner: User, folder: Shelve, mint: Mint
) -> None:
    shelf = folder("Shelf")
    added(admin_client, owner, folder_ids=[shelf.pk], tags="a\nb", text=f"Zebra.\r\n{LONG_ENOUGH}")
    item = Item.objects.get()
    assert (item.title, item.tags, item.owner) == ("Note", ["a", "b"], owner)
    assert item.content.text == f"Zebra.\n{LONG_ENOUGH}"
    answer = mint(shelf).client.get("/api/v1/search", {"query": "zebra"})
    assert [hit["user_item_id"] for hit in answer.json()["results"]] == [str(item.pk)]


def test_a_refused_text_comes_back_whole(
    admin_client: Client, owner: User, stranger: User, folder: Shelve
) -> None:
    page = added(admin_client, owner, text="too short")
    assert "between 20 and 500,000" in page
    assert "too short</textarea>" in page
    page = added(admin_client, stranger, folder_ids=[folder("Ada's").pk])
    assert "Not a folder of eve" in page
    assert "Zebra." in page
    assert not Item.objects.exists()
    assert not Content.objects.exists()


def test_the_longest_text_in_a_script_of_three_bytes_is_taken(
    admin_client: Client, owner: User
) -> None:
    added(admin_client, owner, text="知识库。" * 125_000, in_kb="")
    assert len(Item.objects.get().content.text) == 500_000


# Folders ---------------------------------------------------------------------------------


def folder_page(client: Client, name: str, owner: User, folder: Folder | None = None) -> str:
    address = reverse("admin:knowledge_folder_add")
    if folder:
        address = reverse("admin:knowledge_folder_change", args=[folder.pk])
    answer = client.post(address, {"name": name, "owner": owner.pk}, follow=True)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_a_folder_is_made_and_renamed_but_never_given_away(
    admin_client: Client, owner: User, stranger: User
) -> None:
    folder_page(admin_client, "  Research   notes ", owner)
    folder = Folder.objects.get()
    assert (folder.name, folder.owner) == ("Research notes", owner)
    folder_page(admin_client, "Papers", stranger, folder)
    folder.refresh_from_db()
    assert (folder.name, folder.owner) == ("Papers", owner)


def test_a_name_is_taken_once_per_owner_in_any_case(
    admin_client: Client, owner: User, stranger: User, folder: Shelve
) -> None:
    folder("Papers")
    notes = folder("Notes")
    assert "of that name already" in folder_page(admin_client, "PAPERS", owner)
    assert "of that name already" in folder_page(admin_client, "papers", owner, notes)
    folder_page(admin_client, "PAPERS", stranger)
    assert sorted(Folder.objects.values_list("name", flat=True)) == ["Notes", "PAPERS", "Papers"]


def test_a_folder_tells_how_many_items_it_has_and_leads_to_them(
    admin_client: Client, add: Add, folder: Shelve
) -> None:
    shelf = folder("Shelf")
    item, _ = add("In", "", shelf), add("Out")
    link = f"{reverse(ITEMS)}?folders__id__exact={shelf.pk}"
    page = admin_client.get(reverse("admin:knowledge_folder_changelist")).content.decode()
    assert f'href="{link}">1</a>' in page
    assert list(admin_client.get(link).context["cl"].queryset) == [item]


def test_deleting_a_folder_warns_of_tokens_that_lose_their_last_one(
    admin_client: Client, add: Add, folder: Shelve, mint: Mint
) -> None:
    shelf, other = folder("Shelf"), folder("Other")
    item = add("In", "", shelf)
    lost, kept = mint(shelf), mint(shelf, other)
    address = reverse("admin:knowledge_folder_delete", args=[shelf.pk])
    page = admin_client.get(address).content.decode()
    assert f"{lost.row} has no other folder" in page
    assert f"{kept.row} has no other folder" not in page
    admin_client.post(address, {"post": "yes"})
    assert not Folder.objects.filter(pk=shelf.pk).exists()
    assert Item.objects.filter(pk=item.pk).exists()
    authenticate(kept.secret)
    with pytest.raises(InvalidToken):
        authenticate(lost.secret)
