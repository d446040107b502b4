"""The registry's tools as a real client meets them."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.support.contributions import SKILL_MD, TRACE, agent_of, unit
from tests.support.library import Mint
from tests.support.mcp_agent import AgentWith, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_agent_contributes_and_finds(mint: Mint, agent_with: AgentWith) -> None:
    agent = agent_with(agent_of(mint).secret)
    made = agent.call("kp_contribute_skill", skill_md_content=SKILL_MD, visibility="private")
    assert json.loads(text_of(made)) == made.structured_content
    shared = agent.call("kp_contribute_knowledge", unit=TRACE, visibility="network")
    assert json.loads(text_of(shared)) == shared.structured_content
    for tool, query, id_ in (
        ("kp_search_skill", "review a pull request", made.structured_content["id"]),
        ("kp_search_knowledge", "build timeout", shared.structured_content["id"]),
    ):
        found = agent.call(tool, query=query)
        assert len(found.content) == 1
        [told], [row] = json.loads(text_of(found)), found.structured_content["results"]
        assert told.items() <= row.items()
        assert {"id", "quality_score", "content"} <= told.keys()
        assert found.structured_content["results"][0]["id"] == id_


def test_the_text_is_json_that_begins_as_in_the_reference(
    mint: Mint, stranger: User, agent_with: AgentWith
) -> None:
    author, judge = agent_of(mint), agent_with(agent_of(mint, by=stranger).secret)
    shared = agent_with(author.secret).call(
        "kp_contribute_knowledge", unit=TRACE, visibility="network"
    )
    offer = {"name": "Рецензент", "capabilities": ["code-review"]}
    author.client.post("/api/v1/providers", offer, format="json")
    unit_id = shared.structured_content["id"]
    judged = judge.call("kp_validate_unit", unit_id=unit_id, valid=True)
    known = judge.call("kp_reputation_query", agent_id=author.access.agent_id)
    found = judge.call("kp_provider_discover", capability="code review")
    nobody = judge.call("kp_provider_discover", capability="cooking")
    for answer in (judged, known, found, nobody):
        assert len(answer.content) == 1
        assert json.loads(text_of(answer)) == answer.structured_content
    assert text_of(judged).startswith('{"validated":true,')
    assert list(json.loads(text_of(known)))[:2] == ["score", "contributions"]
    [provider] = json.loads(text_of(found))["providers"]
    assert list(provider)[:4] == ["id", "name", "capabilities", "reputation_score"]
    assert provider["name"] == "Рецензент"
    assert json.loads(text_of(nobody)) == {"providers": [], "untrusted": True}


@pytest.mark.parametrize(
    ("unit_", "code", "told"),
    [
        (unit(steps=[]), "invalid_body", {"path": "steps"}),
        ({**TRACE, "@type": 7}, "invalid_body", {"path": "@type"}),
    ],
)
def test_a_refusal_lists_what_is_wrong(
    mint: Mint, agent_with: AgentWith, unit_: dict[str, Any], code: str, told: dict[str, str]
) -> None:
    agent = agent_with(agent_of(mint).secret)
    refused = agent.refused("kp_contribute_knowledge", unit=unit_, visibility="private")
    assert (refused.code, refused.data["error"]) == (-32602, code)
    assert refused.data["errors"][0].items() >= told.items()


def test_the_schema_shows_ranges_and_defaults(mint: Mint, agent_with: AgentWith) -> None:
    tools = agent_with(agent_of(mint).secret).tools()
    skills = tools["kp_search_skill"].input_schema["properties"]
    units = tools["kp_search_knowledge"].input_schema["properties"]
    assert (skills["min_quality"]["default"], units["min_quality"]["default"]) == (0.7, 0.75)
    assert (skills["limit"]["maximum"], units["limit"]["maximum"]) == (20, 10)
    assert (skills["limit"]["default"], units["limit"]["default"]) == (5, 5)
    assert units["types"]["items"]["enum"] == ["ReasoningTrace", "ToolCallPattern", "ExpertSOP"]
    contributing = tools["kp_contribute_knowledge"].input_schema
    assert contributing["required"] == ["unit", "visibility"]
    skill = tools["kp_contribute_skill"].input_schema
    assert skill["required"] == ["skill_md_content"]
    assert "default" not in skill["properties"]["visibility"]
    assert "else network" in skill["properties"]["visibility"]["description"]
