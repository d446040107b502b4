"""What a scoped token learns of what lies out of its reach, and does to it: nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from knowledge.models import Filing, Folder, Provider, Source
from tests.support.contributions import SKILL_MD
from tests.support.edges import MISSING, over_mcp, over_rest
from tests.support.library import Add, Mint, Minted
from tests.support.undo import snapshot, undo_all

FolderOf = Callable[[str], Folder]


def read_on_both_edges(token: Minted, item_id: str) -> set[str]:
    rest, _ = over_rest(token, "GET", f"items/{item_id}")
    mcp, _ = over_mcp(token, "get_item", item_id=item_id)
    return {rest, mcp}


# Deleting what is also elsewhere ----------------------------------------------------------------


@pytest.mark.parametrize("reached", [("Shelf",), ("Shelf", "Pile")])
def test_an_item_that_is_also_filed_out_of_reach_only_leaves_the_folders_within_it(
    mint: Mint, folder: FolderOf, add: Add, reached: tuple[str, ...]
) -> None:
    within, attic = [folder(name) for name in reached], folder("Attic")
    item_id = str(add("Both", "granite of both", *within, attic).pk)
    scoped, whole = mint(*within), mint()
    before = snapshot()
    assert over_rest(scoped, "DELETE", f"items/{item_id}") == ("ok", None)
    assert read_on_both_edges(scoped, item_id) == {"not_found"}
    assert over_rest(scoped, "DELETE", f"items/{item_id}")[0] == "not_found"
    assert read_on_both_edges(whole, item_id) == {"ok"}
    assert over_rest(whole, "GET", f"items/{item_id}")[1]["folder_ids"] == [str(attic.pk)]
    assert undo_all(scoped).skipped == []
    assert snapshot() == before


def test_an_item_of_no_other_folder_is_deleted_and_the_answers_are_the_same(
    mint: Mint, folder: FolderOf, add: Add
) -> None:
    shelf, attic = folder("Shelf"), folder("Attic")
    alone, both = (add(name, f"granite of {name}", shelf) for name in ("one", "two"))
    Filing.objects.create(item=both, folder=attic)
    scoped, whole = mint(shelf), mint()
    answers = [
        (over_rest(scoped, "DELETE", f"items/{item.pk}"), read_on_both_edges(scoped, str(item.pk)))
        for item in (alone, both)
    ]
    assert answers[0] == answers[1] == (("ok", None), {"not_found"})
    assert read_on_both_edges(whole, str(alone.pk)) == {"not_found"}
    assert over_rest(whole, "DELETE", f"items/{both.pk}") == ("ok", None)
    assert read_on_both_edges(whole, str(both.pk)) == {"not_found"}


# Names and ids that exist out of reach ---------------------------------------------------------


def test_a_scoped_token_renames_no_folder_so_no_name_tells_of_a_hidden_one(
    mint: Mint, folder: FolderOf
) -> None:
    shelf, _attic = folder("Shelf"), folder("Attic")
    scoped = mint(shelf)
    answers = [
        over_rest(scoped, "PATCH", f"folders/{folder_id}", name=name)
        for folder_id in (shelf.pk, MISSING)
        for name in ("Attic", "Free")
    ]
    assert answers == [answers[0]] * 4
    assert answers[0][0] == "capability_denied"
    assert over_rest(mint(), "PATCH", f"folders/{shelf.pk}", name="Attic")[0] == "name_taken"


def test_only_a_source_that_a_token_sees_takes_its_name(mint: Mint, folder: FolderOf) -> None:
    shelf, attic = folder("Shelf"), folder("Attic")
    scoped, whole = mint(shelf, toolsets=["memory"]), mint(toolsets=["memory"])
    site = {"name": "Wiki", "start_url": "https://wiki.example.org/docs/"}
    assert over_rest(whole, "POST", "sources", **site, folder_id=str(attic.pk))[0] == "ok"
    [(_, added), (other, _)] = [
        over_rest(scoped, "POST", "sources", **{**site, "name": name}) for name in ("Wiki", "Free")
    ]
    assert (added["name"], other) == ("Wiki", "ok")
    assert over_mcp(scoped, "crawl_source", **site)[0] == "name_taken"
    assert over_rest(whole, "POST", "sources", **{**site, "name": "WIKI"})[0] == "name_taken"
    [hidden] = Source.objects.filter(folder=attic)
    route = f"sources/{hidden.pk}"
    assert over_rest(whole, "PATCH", route, name="Handbook")[0] == "ok"
    assert over_rest(scoped, "PATCH", f"sources/{added['id']}", name="Handbook")[0] == "ok"
    assert over_rest(scoped, "PATCH", f"sources/{added['id']}", name="free")[0] == "name_taken"


def test_a_scoped_token_is_told_of_its_own_agents_provider_and_of_no_private_one_beside_it(
    mint: Mint, folder: FolderOf
) -> None:
    shelf = folder("Shelf")
    scoped, whole, other = mint(shelf), mint(name="Whole"), mint(shelf, name="Other")
    for token in (scoped, whole):
        offer = {"name": token.row.agent_id, "capabilities": ["cut"], "visibility": "private"}
        assert over_rest(token, "POST", "providers", **offer)[0] == "ok"
    public = Provider.objects.create(
        owner=scoped.row.owner,
        agent_id="ada/public",
        name="Public",
        capabilities=["cut"],
        last_seen_at=timezone.now(),
        visibility="network",
    )
    hidden = Provider.objects.get(agent_id=whole.row.agent_id)
    assert offered(scoped) == {scoped.row.agent_id, "ada/public"}
    assert offered(other) == {"ada/public"}
    assert offered(whole) == {scoped.row.agent_id, whole.row.agent_id, "ada/public"}
    assert over_rest(scoped, "GET", f"providers/{hidden.pk}") == over_rest(
        scoped, "GET", f"providers/{MISSING}"
    )
    assert over_rest(scoped, "GET", f"providers/{public.pk}")[0] == "ok"


def offered(token: Minted) -> set[str]:
    """By both edges, which agree."""
    _, by_rest = over_rest(token, "GET", "providers", capability="cut")
    _, by_mcp = over_mcp(token, "kp_provider_discover", capability="cut")
    told = [{each["agent_id"] for each in answer["providers"]} for answer in (by_rest, by_mcp)]
    assert told[0] == told[1]
    return told[0]


# Visibility ---------------------------------------------------------------------------------------


def test_only_what_can_be_shared_takes_a_visibility(mint: Mint, add: Add) -> None:
    token = mint()
    note = {"title": "A rule", "content": "Cut along the grain.", "entity_type": "rule"}
    remembered = over_rest(token, "POST", "memory", **note)[1]["id"]
    for item_id in (str(add("A document").pk), remembered):
        for wanted in ("org", "network"):
            refused = patch(token, item_id, visibility=wanted, title="New")
            assert refused["error"] == "invalid_body"
            assert refused["field"] == "visibility"
        assert patch(token, item_id, visibility="private")["visibility"] == "private"
        assert patch(token, item_id)["title"] != "New"
    _, skill = over_rest(token, "POST", "skills", skill_md_content=SKILL_MD, visibility="private")
    assert patch(token, skill["id"], visibility="org")["visibility"] == "org"


def patch(token: Minted, item_id: str, **changes: Any) -> Any:
    return token.client.patch(f"/api/v1/items/{item_id}", changes, format="json").json()
