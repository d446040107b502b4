"""The registry's tools as a real client meets them."""

import json
from typing import Any

import pytest

from tests.conftest import Mint
from tests.mcp_gateway.conftest import AgentWith, text_of
from tests.registry.contributions_for_tests import SKILL_MD, TRACE, agent_of, unit

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
        assert json.loads(text_of(found)) == found.structured_content["results"]
        assert found.structured_content["results"][0]["id"] == id_


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
    assert tools["kp_contribute_skill"].input_schema["required"] == ["skill_md_content"]
