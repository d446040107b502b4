"""Who sees a contribution: over every tool and every route, and no further."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from knowledge.access import Access
from knowledge.library.items import create_folder
from knowledge.models import Folder, Item, Version
from tests.support.contributions import (
    SKILL_MD,
    TRACE,
    agent_of,
    contributed_skill,
    contributed_unit,
    found,
    refused,
    rest,
    skill,
    unit,
)
from tests.support.edges import MISSING, over_mcp, over_rest
from tests.support.library import Mint, Minted

ROUTES = (
    *("skills/{id}", "skills/{id}?version=1", "skills/{id}/versions"),
    *("skills/{id}/archive", "skills/{id}/archive?as_json=true"),
    *("knowledge/{id}", "knowledge/{id}?version=1", "knowledge/{id}/versions"),
)


@pytest.fixture
def ada(mint: Mint) -> Minted:
    return agent_of(mint)


@pytest.fixture
def eve(mint: Mint, stranger: User) -> Minted:
    return agent_of(mint, by=stranger, name="other")


def made(agent: Minted, visibility: str) -> tuple[str, str]:
    """A skill and a unit of this visibility."""
    one = contributed_skill(agent, visibility=visibility)["id"]
    return one, contributed_unit(agent, TRACE, visibility)["id"]


def seen_by(agent: Minted) -> set[str]:
    """The ids that any search or listing answers with."""
    everything = {"min_quality": 0.0}
    results = [
        *found(agent, "kp_search_skill", "review the build", **everything),
        *found(agent, "kp_search_knowledge", "review the build", **everything),
        *rest(agent, "skills", query="review the build", min_quality=0)["results"],
        *rest(agent, "knowledge", query="review the build", min_quality=0)["results"],
        *rest(agent, "skills")["results"],
        *rest(agent, "knowledge")["results"],
    ]
    return {each["id"] for each in results}


def statuses(agent: Minted, *ids: str) -> set[int]:
    """How every route about one contribution ends, each asked about what is of its kind."""
    paths = [route.format(id=ids[0] if route.startswith("skills") else ids[-1]) for route in ROUTES]
    return {agent.client.get(f"/api/v1/{path}").status_code for path in paths}


def assert_nothing_is_known(agent: Minted, one: str, two: str) -> None:
    assert seen_by(agent) & {one, two} == set()
    assert statuses(agent, one, two) == {404}
    for route in ROUTES:
        hidden = one if route.startswith("skills") else two
        by_id = agent.client.get(f"/api/v1/{route.format(id=hidden)}").json()
        by_none = agent.client.get(f"/api/v1/{route.format(id=MISSING)}").json()
        assert {**by_id, "request_id": ""} == {**by_none, "request_id": ""}


def test_what_is_private_is_its_owner_s_alone(ada: Minted, eve: Minted) -> None:
    one, two = made(ada, "private")
    assert seen_by(ada) == {one, two}
    assert statuses(ada, one, two) == {200}
    assert_nothing_is_known(eve, one, two)


def test_what_is_of_the_organization_is_its_members_(
    ada: Minted, eve: Minted, owner: User, stranger: User
) -> None:
    one, two = made(ada, "org")
    assert_nothing_is_known(eve, one, two)
    group = Group.objects.create(name="Quarriers")
    owner.groups.add(group)
    assert_nothing_is_known(eve, one, two)
    stranger.groups.add(group)
    assert seen_by(eve) == {one, two}
    assert statuses(eve, one, two) == {200}


def test_what_is_of_the_network_is_everybody_s(ada: Minted, eve: Minted) -> None:
    one, two = made(ada, "network")
    assert seen_by(eve) == {one, two}
    assert statuses(eve, one, two) == {200}


def test_what_waits_for_a_verdict_is_its_owner_s_to_find_and_read_and_nobody_else_s(
    ada: Minted, eve: Minted
) -> None:
    one, two = made(ada, "network")
    Item.objects.update(quarantined=True)
    assert_nothing_is_known(eve, one, two)
    assert statuses(ada, one, two) == {200}
    assert [own["id"] for own in found(ada, "kp_search_skill", "review")] == [one]
    assert rest(ada, f"skills/{one}")["quarantined"] is True


def test_what_is_archived_is_gone_for_others(ada: Minted, eve: Minted) -> None:
    one, two = made(ada, "network")
    for each in (one, two):
        ada.client.patch(f"/api/v1/items/{each}", {"archived": True}, format="json")
    assert_nothing_is_known(eve, one, two)
    assert seen_by(ada) == set()


def test_a_skill_is_no_unit_and_a_document_is_neither(ada: Minted, add: Any) -> None:
    one, two = made(ada, "network")
    document = str(add("Granite").pk)
    for path in (f"knowledge/{one}", f"skills/{two}", f"skills/{document}", "skills/7"):
        assert ada.client.get(f"/api/v1/{path}").status_code in (400, 404)


def test_its_owner_changes_who_sees_it(ada: Minted, eve: Minted) -> None:
    one, two = made(ada, "private")
    for wide in ("network", "private"):
        for each in (one, two):
            answer = ada.client.patch(f"/api/v1/items/{each}", {"visibility": wide}, format="json")
            assert answer.json()["visibility"] == wide
        assert seen_by(eve) == ({one, two} if wide == "network" else set())
    other = eve.client.patch(f"/api/v1/items/{one}", {"visibility": "network"}, format="json")
    assert other.status_code == 404


def test_a_past_that_was_private_stays_so(ada: Minted, eve: Minted) -> None:
    contributed_skill(ada, skill(text="The draft."), visibility="private")
    one = contributed_skill(ada, skill(text="For all."), visibility="network")["id"]
    numbers = lambda agent: [  # noqa: E731
        each["number"] for each in rest(agent, f"skills/{one}/versions")["versions"]
    ]
    assert (numbers(ada), numbers(eve)) == ([2, 1], [2])
    assert eve.client.get(f"/api/v1/skills/{one}?version=1").status_code == 404
    assert eve.client.get(f"/api/v1/skills/{one}/archive?version=1").status_code == 404
    assert "The draft." in rest(ada, f"skills/{one}", version=1)["content"]
    contributed_skill(ada, skill(text="For all again."), visibility="network")
    assert numbers(eve) == [3, 2]


# Whose it is -----------------------------------------------------------------------------------


def test_an_id_of_another_s_that_is_seen_cannot_be_taken(ada: Minted, eve: Minted) -> None:
    two = contributed_unit(ada, TRACE)["id"]
    error = refused(eve, "kp_contribute_knowledge", unit=TRACE, visibility="network")
    assert (error.code, error.details["reason"]) == ("conflict", "id_taken")
    sent = {"unit": unit(task={"objective": "Mine now."}), "visibility": "private"}
    assert over_rest(eve, "POST", "knowledge", **sent)[0] == "conflict"
    assert rest(ada, f"knowledge/{two}")["content"] == TRACE
    assert Version.objects.count() == 1


@pytest.mark.parametrize("state", ["quarantined", "archived"])
def test_an_id_stays_taken_while_its_unit_is_held_back_or_put_away(
    ada: Minted, eve: Minted, state: str
) -> None:
    Item.objects.filter(pk=contributed_unit(ada, TRACE)["id"]).update(**{state: True})
    error = refused(eve, "kp_contribute_knowledge", unit=TRACE, visibility="network")
    assert (error.code, error.details["reason"]) == ("conflict", "id_taken")


def test_an_id_of_another_s_that_is_not_seen_is_not_told(ada: Minted, eve: Minted) -> None:
    hidden = contributed_unit(ada, TRACE, "private")["id"]
    mine = contributed_unit(eve, unit(task={"objective": "A build of my own."}), "network")
    assert mine["id"] != hidden
    assert mine["version"] == 1
    assert rest(ada, f"knowledge/{hidden}")["content"] == TRACE
    assert rest(eve, f"knowledge/{mine['id']}")["unit_id"] == TRACE["id"]
    assert contributed_unit(ada, unit(extra=1), "private")["id"] == hidden


def test_a_name_of_another_s_is_another_skill(ada: Minted, eve: Minted) -> None:
    assert contributed_skill(ada)["id"] != contributed_skill(eve)["id"]
    assert len(rest(eve, "skills")["results"]) == 2


@pytest.fixture
def folder(library: Access) -> Callable[[str], Folder]:
    return lambda name: create_folder(library, name)


def test_a_scoped_token_reads_what_all_may_and_writes_within_its_folder(
    mint: Mint, ada: Minted, folder: Callable[[str], Folder]
) -> None:
    mine = folder("Mine")
    narrow = agent_of(mint, name="narrow")  # of the whole library, for comparison
    scoped = agent_of(lambda **how: mint(mine, **how), name="scoped")
    one, two = made(ada, "network")
    assert seen_by(scoped) == seen_by(narrow) == {one, two}
    assert refused(scoped, "kp_contribute_knowledge", unit=TRACE, visibility="org").code == (
        "conflict"
    )
    own = contributed_skill(scoped)
    assert own["id"] != one
    assert Item.objects.get(pk=own["id"]).folders.get() == mine
    hidden = contributed_skill(ada, skill("Hidden"), visibility="private")["id"]
    assert scoped.client.get(f"/api/v1/skills/{hidden}").status_code == 404
    assert contributed_skill(scoped, skill("Hidden"))["id"] != hidden


def test_without_a_token_nothing_is_told(ada: Minted) -> None:
    one, _ = made(ada, "network")
    nobody = ada.client
    nobody.credentials()
    for path in ("skills", "knowledge", f"skills/{one}", f"skills/{one}/archive"):
        assert nobody.get(f"/api/v1/{path}").status_code == 401


def test_a_token_without_the_toolset_is_refused_the_tools(mint: Mint) -> None:
    plain = mint(toolsets=["library"])
    for tool, arguments in (
        ("kp_search_skill", {"query": "x"}),
        ("kp_contribute_skill", {"skill_md_content": SKILL_MD}),
    ):
        assert over_mcp(plain, tool, **arguments)[0] == "capability_denied"
