"""Agents, and the picture of who vouches for whom."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.admin.graph import Vote, draw
from knowledge.memory.graph_layout import HEIGHT, WIDTH
from knowledge.models import Agent, Item
from tests.support.admin import HOSTILE, Share, judge
from tests.support.admin_pages import jobs, page_of, sent

GRAPH = "admin:knowledge_agent_graph"


# Agents ----------------------------------------------------------------------------------


def test_an_agent_is_trusted_beforehand_and_reputations_are_computed_anew(
    admin_client: Client,
) -> None:
    form = {"agent_id": "ada/laptop", "is_trusted": "on"}
    page = sent(admin_client, "admin:knowledge_agent_add", **form)
    assert "being recomputed" in page
    assert Agent.objects.get().is_trusted
    assert jobs() == ["sweep_reputation"]
    change = {"action": "distrust_selected", "_selected_action": ["ada/laptop"]}
    sent(admin_client, "admin:knowledge_agent_changelist", **change)
    assert not Agent.objects.get().is_trusted
    assert len(jobs()) == 2


def test_a_form_that_changes_nothing_computes_nothing(admin_client: Client) -> None:
    Agent.objects.create(agent_id="ada/laptop", score=0.5)
    sent(admin_client, "admin:knowledge_agent_change", "ada_2Flaptop", score="1")
    assert Agent.objects.get().score == 0.5
    assert jobs() == []


def test_recomputing_asks_first(admin_client: Client) -> None:
    assert "Recompute all reputations?" in page_of(admin_client, "admin:knowledge_agent_recompute")
    assert jobs() == []
    sent(admin_client, "admin:knowledge_agent_recompute")
    assert jobs() == ["sweep_reputation"]


def test_an_agents_page_tells_what_its_score_is_made_of(admin_client: Client, share: Share) -> None:
    judge(share(), "bob/ci", valid=False, feedback="It fails.")
    received = {"valid": 0, "not_valid": 1}
    Agent.objects.update_or_create(
        agent_id="ada/laptop", defaults={"parts": {"received": received}}
    )
    page = page_of(admin_client, "admin:knowledge_agent_change", "ada_2Flaptop")
    assert "valid: 0, not valid: 1" in page
    assert "It fails." in page


# The picture -----------------------------------------------------------------------------


def agents_named(*scores: float) -> list[Agent]:
    return [Agent(agent_id=f"a/{n}", score=score) for n, score in enumerate(scores)]


def test_the_same_agents_and_votes_give_the_same_picture() -> None:
    agents = agents_named(*(n / 60 for n in range(60)))
    votes = [Vote(f"a/{n}", f"a/{n * 7 % 60}", n % 3 > 0, n) for n in range(1, 60)]
    picture = draw(agents, votes)
    assert draw(agents, votes) == picture
    for node in picture.nodes:
        assert 0 < node.x < WIDTH
        assert 0 < node.y < HEIGHT
    assert len({(node.x, node.y) for node in picture.nodes}) == 60


def test_a_higher_score_is_drawn_larger() -> None:
    radii = [node.radius for node in draw(agents_named(0, 0.25, 1), []).nodes]
    assert radii == sorted(radii)
    assert radii[0] < radii[1] < radii[2]
    assert draw(agents_named(-1, 7), []).nodes[1].radius == radii[2]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_few_agents_or_none_are_drawn_too(count: int) -> None:
    picture = draw(agents_named(*[0.5] * count), [Vote("a/0", "a/1", True, 1)])
    assert len(picture.nodes) == count
    assert len(picture.edges) == (count > 1)
    assert "nan" not in str(picture)


def test_the_graph_shows_who_vouches_for_whom(admin_client: Client, share: Share) -> None:
    Agent.objects.all().delete()
    for agent_id, is_trusted in (("ada/laptop", False), ("bob/ci", True), ("eve/x", False)):
        Agent.objects.update_or_create(agent_id=agent_id, defaults={"is_trusted": is_trusted})
    skill, private = share(), share("private", visibility="private")
    judge(skill, "bob/ci")
    judge(skill, "eve/x", valid=False)
    judge(private, "bob/ci", valid=False)
    page = page_of(admin_client, GRAPH)
    drawn = page.partition("<figcaption>")[0]
    assert sorted(re.findall(r'class="edge (\w+)"', drawn)) == ["invalid", "valid"]
    titles = re.findall(r"<title>([^<]+)</title></path>", page)
    assert sorted(titles) == [
        "bob/ci → ada/laptop: 1 × valid",
        "eve/x → ada/laptop: 1 × not valid",
    ]
    assert page.count('class="node trusted"') == 2  # and once in the legend
    assert reverse("admin:knowledge_agent_change", args=["ada_2Flaptop"]) in page


def test_a_graph_without_agents_says_so(admin_client: Client) -> None:
    page = page_of(admin_client, GRAPH)
    assert "No agent has contributed or judged anything yet." in page
    assert "<circle" not in page


def test_a_graph_of_many_agents_shows_the_foremost(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.admin.reputation.DRAWN", 2)
    for number in range(5):
        Agent.objects.create(agent_id=f"a/{number}", score=number / 5)
    page = page_of(admin_client, GRAPH)
    assert "The 2 agents with the highest reputation, of 5." in page
    assert "a/4: 0.800" in page
    assert "a/2: " not in page


def test_markup_in_an_agents_name_is_never_markup_in_the_picture(
    admin_client: Client, full_house: Item
) -> None:
    page = admin_client.get(reverse(GRAPH)).content.decode()
    assert "&lt;script&gt;" in page
    assert HOSTILE not in page
