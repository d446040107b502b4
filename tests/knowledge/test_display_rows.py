"""What is read without the ORM is what the ORM reads."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Model

from knowledge.access import Access
from knowledge.errors import NotFound
from knowledge.library.items import file_item, get_folder, get_item, list_folders
from knowledge.models import Content, Folder, Item, Transform
from tests.support.admin import furnish
from tests.support.library import Add, Mint


def columns(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_an_item_is_whole_with_its_content_and_summary(
    owner: User, library: Access, add: Add
) -> None:
    furnished = furnish(owner, "mark")
    found = get_item(library, furnished.pk)
    assert columns(found) == columns(Item.objects.get(pk=furnished.pk))
    assert columns(found.content) == columns(Content.objects.get(pk=furnished.content_id))
    assert found.summary is not None
    assert columns(found.summary) == columns(Transform.objects.get(item=furnished))
    assert found.told_attributes == {}
    assert found.folder_ids == [Folder.objects.get(name="Shelf mark").pk]
    assert get_item(library, add("Plain").pk).summary is None


def test_a_folder_out_of_reach_is_not_told_of_and_hides_what_is_in_it_alone(
    library: Access, mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf, away = folder("Shelf"), folder("Away")
    shared, hidden = add("Granite", "", shelf, away), add("Slate", "", away)
    scoped = mint(shelf).access
    assert get_item(scoped, shared.pk).folder_ids == [shelf.pk]
    with pytest.raises(NotFound):
        get_item(scoped, hidden.pk)
    assert len(get_item(library, shared.pk).folder_ids) == 2


def test_folders_come_by_name_in_any_case_with_what_the_caller_sees_there(
    library: Access, mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    names = [folder(name) for name in ("beta", "Alpha", "Gamma")]
    item = add("Granite", "", names[0])
    file_item(library, item.pk, [names[1].pk])
    found = list_folders(library)
    assert [each.name for each in found] == ["Alpha", "beta", "Gamma"]
    for each in found:
        same = get_folder(library, each.pk)
        assert vars(each) | {"_state": None} == vars(same) | {"_state": None}
    assert [each.name for each in list_folders(mint(names[0]).access)] == ["beta"]
