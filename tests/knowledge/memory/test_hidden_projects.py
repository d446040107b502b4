"""A task names its project to those who see that too, and to nobody else."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from knowledge.access import Access
from knowledge.library.items import file_item
from knowledge.models import Folder, Item
from tests.support.library import Mint, Minted
from tests.support.writing import by_mcp, by_rest, project, task
from tokens.models import Toolset

QUERY = "lamps of the pier"


@pytest.fixture
def shelf(folder: Callable[[str], Folder]) -> Folder:
    return folder("Shelf")


@pytest.fixture
def its(library: Access) -> Item:
    return project(library, "Harbour")


@pytest.fixture
def lamps(library: Access, its: Item, shelf: Folder) -> Item:
    made = task(library, "Lamps of the pier", its, assignees=["Ada"])
    file_item(library, made.pk, [shelf.pk])
    return made


@pytest.fixture
def scoped(mint: Mint, shelf: Folder) -> Minted:
    return mint(shelf, toolsets=[Toolset.MEMORY])


def told(token: Minted, item: Item) -> list[dict[str, Any]]:
    """What each answer says of the item itself."""
    walk = {"mode": "dependencies", "entity_id": str(item.pk)}
    answers = [
        by_rest(token, "GET", f"items/{item.pk}"),
        by_rest(token, "PATCH", f"items/{item.pk}", tags=["pier"]),
        by_rest(token, "POST", "memory/search", query=QUERY, types=["task"]),
        by_rest(token, "GET", "explore?types=task"),
        by_mcp(token, "search", query=QUERY, types=["task"]),
        by_mcp(token, "explore", types=["task"]),
        by_mcp(token, "explore", **walk),
        by_mcp(token, "fetch", id=str(item.pk)),
    ]
    return [_attributes(answer) for _, answer in answers]


def _attributes(answer: dict[str, Any]) -> dict[str, Any]:
    if "attributes" in (read := answer.get("metadata", answer)):
        return dict(read["attributes"])
    (only,) = answer.get("results") or answer["entities"]
    return dict(only["metadata"])


def found(token: Minted, project_id: object) -> list[int]:
    narrowed = {"project": str(project_id)}
    answers = [
        by_rest(token, "POST", "memory/search", query=QUERY, **narrowed),
        by_rest(token, "GET", f"explore?project={project_id}"),
        by_mcp(token, "search", query=QUERY, **narrowed),
        by_mcp(token, "explore", **narrowed),
    ]
    return [answer["total"] for _, answer in answers]


def test_a_project_out_of_reach_is_not_named(scoped: Minted, lamps: Item) -> None:
    for each in told(scoped, lamps):
        assert each["assignees"] == ["Ada"]
        assert "project" not in each


def test_a_project_within_reach_is_named(
    library: Access, scoped: Minted, lamps: Item, its: Item, shelf: Folder
) -> None:
    file_item(library, its.pk, [shelf.pk])
    assert {each["project"] for each in told(scoped, lamps)} == {str(its.pk)}


def test_a_project_out_of_reach_narrows_as_one_that_never_was(
    library: Access, scoped: Minted, lamps: Item, its: Item, shelf: Folder
) -> None:
    assert found(scoped, its.pk) == found(scoped, uuid4()) == [0] * 4
    file_item(library, its.pk, [shelf.pk])
    assert found(scoped, its.pk) == [1] * 4
