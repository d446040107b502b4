"""The four tools in the shapes that their reference documents, and every parameter's range."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from knowledge.models import Item, Version
from tests.support.contributions import (
    PATTERN,
    SKILL_MD,
    SOP,
    TRACE,
    UNITS,
    agent_of,
    contributed_skill,
    contributed_unit,
    found,
    refused,
    rest,
    said,
    skill,
    unit,
)
from tests.support.edges import over_mcp, over_rest
from tests.support.library import Mint, Minted
from tests.support.rollback import each_case


@pytest.fixture
def agent(mint: Mint) -> Minted:
    return agent_of(mint)


@pytest.fixture
def other(mint: Mint, stranger: User) -> Minted:
    return agent_of(mint, by=stranger)


def test_a_contributed_skill_is_found_at_once_in_the_documented_shape(agent: Minted) -> None:
    made = contributed_skill(agent)
    told = {"id", "quality_score", "version", "quarantined", "findings", "brought_back"}
    told |= {"suspected", "copy_of"}
    assert made.keys() == told
    [told_in_text] = json.loads(said(agent, "kp_search_skill", query="review a pull request"))
    (result,) = found(agent, "kp_search_skill", "review a pull request")
    documented = ("id", "name", "domain", "tags", "quality_score", "content")
    assert told_in_text == {name: result[name] for name in (*documented, "contributor")}
    assert {name: result[name] for name in documented} == {
        "id": made["id"],
        "name": "Code Review Checklist",
        "domain": "software-engineering",
        "tags": ["code-review", "best-practices"],
        "quality_score": made["quality_score"],
        "content": SKILL_MD,
    }
    assert 0.7 <= result["quality_score"] <= 1
    assert (result["version"], result["version_label"], result["visibility"]) == (
        *(1, "1.2"),
        "network",
    )
    assert (result["contributor"], result["untrusted"]) == ("ada/agent", True)
    assert 0 < result["score"] <= 1


@pytest.mark.parametrize("name", UNITS)
def test_a_contributed_unit_is_found_at_once_in_the_documented_shape(
    agent: Minted, name: str
) -> None:
    made = contributed_unit(agent, UNITS[name])
    assert {"id", "quality_score", "factors"} <= made.keys()
    query = {"ReasoningTrace": "build timeout", "ToolCallPattern": "migrate a table"}.get(
        name, "answer a chargeback"
    )
    [told] = json.loads(said(agent, "kp_search_knowledge", query=query))
    (result,) = found(agent, "kp_search_knowledge", query)
    assert told.items() <= result.items()
    domain = {"ReasoningTrace": "debugging", "ToolCallPattern": "databases"}.get(name, "payments")
    documented = ("id", "type", "domain", "quality_score", "content")
    assert {each: result[each] for each in documented} == {
        "id": made["id"],
        "type": name,
        "domain": domain,
        "quality_score": made["quality_score"],
        "content": UNITS[name],
    }
    assert 0.75 <= result["quality_score"] <= 1
    assert (result["schema_version"], result["untrusted"]) == ("1.0", True)


def test_the_breakdown_of_a_score_adds_up_to_it(agent: Minted) -> None:
    made = contributed_unit(agent, TRACE)
    shares = [factor["share"] for factor in made["factors"].values()]
    assert sum(shares) == pytest.approx(made["quality_score"])
    whole = rest(agent, f"knowledge/{made['id']}")
    assert whole["quality"]["factors"] == made["factors"]
    assert whole["quality"]["score"] == whole["quality_score"] == made["quality_score"]


EMPTY_SKILL = "---\nname: nothing\ndescription: nothing\n---\n"
SPAM_SKILL = "---\nname: deals\ndescription: best best deals\n---\n" + "buy cheap deals now! " * 99
EMPTY_TRACE = unit(
    id="empty",
    task={"objective": "Do it."},
    steps=[{"type": "thought"}],
    outcome={"result_summary": "Done.", "confidence": 1},
)


@pytest.mark.parametrize("text", [EMPTY_SKILL, SPAM_SKILL])
def test_an_empty_or_spammy_skill_is_found_by_its_owner_and_not_by_others_by_default(
    agent: Minted, other: Minted, text: str
) -> None:
    made = contributed_skill(agent, text, visibility="network")
    assert made["quality_score"] < 0.7
    query = "nothing best cheap deals"
    assert found(other, "kp_search_skill", query) == []
    (low,) = found(other, "kp_search_skill", query, min_quality=0)
    (own,) = found(agent, "kp_search_skill", query)
    assert low["id"] == own["id"] == made["id"]


def test_an_empty_trace_is_found_by_its_owner_and_not_by_others_by_default(
    agent: Minted, other: Minted
) -> None:
    made = contributed_unit(agent, EMPTY_TRACE, visibility="network")
    assert made["quality_score"] < 0.75
    assert found(other, "kp_search_knowledge", "do it") == []
    assert found(other, "kp_search_knowledge", "do it", min_quality=0.0) != []
    assert found(agent, "kp_search_knowledge", "do it") != []


def test_every_filter_of_a_skill_search_narrows(agent: Minted) -> None:
    one = contributed_skill(agent)["id"]
    other = SKILL_MD.replace("Code Review Checklist", "Release notes").replace(
        "domain: Software-Engineering", "domain: writing"
    )
    two = contributed_skill(agent, other.replace("best-practices", "releases"))["id"]

    def ids(**how: Any) -> set[str]:
        return {each["id"] for each in found(agent, "kp_search_skill", "checklist", **how)}

    everything = {"min_quality": 0.0}
    assert ids(**everything) == {one, two}
    assert ids(domain="WRITING", **everything) == {two}
    assert ids(tags=["code-review"], **everything) == {one, two}
    assert ids(tags=["code-review", "releases"], **everything) == {two}
    assert ids(tags=["unheard-of"], **everything) == set()
    assert len(ids(limit=1, **everything)) == 1
    assert ids(min_quality=0.9) == {one}, "a copy has no novelty"


ASKED = "a table, a build, a refund"


def test_what_shares_nothing_with_the_question_is_no_result(agent: Minted) -> None:
    for each in (TRACE, PATTERN, SOP):
        contributed_unit(agent, each)
    results = found(agent, "kp_search_knowledge", "zebra quokka", min_quality=0.0)
    assert len(results) < 3
    assert all(each["score"] > 0 for each in results)


def test_every_filter_of_a_knowledge_search_narrows(agent: Minted) -> None:
    trace, pattern, sop = (contributed_unit(agent, each)["id"] for each in (TRACE, PATTERN, SOP))

    def ids(**how: Any) -> set[str]:
        how = {"min_quality": 0.0, **how}
        return {each["id"] for each in found(agent, "kp_search_knowledge", ASKED, **how)}

    assert ids() == {trace, pattern, sop}
    assert ids(types=["ReasoningTrace", "ExpertSOP"]) == {trace, sop}
    assert ids(domain="payments") == {sop}
    assert ids(schema_version="1.0") == {trace, pattern, sop}
    assert ids(schema_version="0.9") == set()
    assert ids(min_quality=1.0) == set()
    assert len(ids(limit=2)) == 2


def test_a_long_skill_is_one_result_and_hides_no_other(agent: Minted) -> None:
    parts = "\n\n".join(f"## Part {n}\n\n" + "Review the diff again. " * 60 for n in range(60))
    contributed_skill(agent, skill("Long", parts))
    contributed_skill(agent, skill("Short"))
    results = found(agent, "kp_search_skill", "review the diff", min_quality=0.0, limit=2)
    assert {each["name"] for each in results} == {"Long", "Short"}
    assert results[0]["score"] >= results[1]["score"]


def test_an_answer_has_the_first_whole_and_of_others_what_there_is_room_for(
    agent: Minted, monkeypatch: pytest.MonkeyPatch
) -> None:
    contributed_skill(agent, skill("One"))
    contributed_skill(agent, skill("Two"))
    monkeypatch.setattr("knowledge.registry.published_items.MAX_CONTENT", 10)
    results = found(agent, "kp_search_skill", "review", min_quality=0.0)
    assert [each["content"] is None for each in results] == [False, True]


SKILL_SEARCHES = [
    ({"query": ""}, "query"),
    ({"query": "x" * 10_001}, "query"),
    ({"query": 5}, "query"),
    ({}, "query"),
    ({"query": "x", "limit": 0}, "limit"),
    ({"query": "x", "limit": 21}, "limit"),
    ({"query": "x", "limit": "many"}, "limit"),
    ({"query": "x", "min_quality": -0.1}, "min_quality"),
    ({"query": "x", "min_quality": 1.1}, "min_quality"),
    ({"query": "x", "min_quality": float("nan")}, "min_quality"),
    ({"query": "x", "min_quality": "high"}, "min_quality"),
    ({"query": "x", "domain": ""}, "domain"),
    ({"query": "x", "tags": "a"}, "tags"),
    ({"query": "x", "tags": ["a"] * 51}, "tags"),
    ({"query": "x", "types": []}, "types"),
]
UNIT_SEARCHES = [
    ({}, "query"),
    ({"query": "x", "limit": 0}, "limit"),
    ({"query": "x", "limit": 11}, "limit"),
    ({"query": "x", "types": ["Poem"]}, "types"),
    ({"query": "x", "types": "ReasoningTrace"}, "types"),
    ({"query": "x", "min_quality": 2}, "min_quality"),
    ({"query": "x", "schema_version": ""}, "schema_version"),
    ({"query": "x", "tags": ["a"]}, "tags"),
]


@each_case(
    "tool, arguments, field",
    [
        *(("kp_search_skill", *each) for each in SKILL_SEARCHES),
        *(("kp_search_knowledge", *each) for each in UNIT_SEARCHES),
    ],
)
def test_a_search_out_of_its_ranges_is_refused_by_its_field(
    agent: Minted, tool: str, arguments: dict[str, Any], field: str
) -> None:
    error = refused(agent, tool, **arguments)
    assert (error.code, error.details["field"]) == ("invalid_body", field)


@each_case(
    "route, arguments, field",
    [
        *(("skills", *each) for each in SKILL_SEARCHES if each[0] not in ({}, {"query": 5})),
        *(("knowledge", *each) for each in UNIT_SEARCHES if each[0]),
    ],
)
def test_the_same_holds_over_rest(
    agent: Minted, route: str, arguments: dict[str, Any], field: str
) -> None:
    if arguments.get("tags") == "a" or arguments.get("types") in ("ReasoningTrace", []):
        return  # an address has no other way to write a list of one, or of none
    answer = agent.client.get(f"/api/v1/{route}", arguments)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_the_ends_of_every_range_are_taken(agent: Minted) -> None:
    for limit in (1, 20, 5.0):
        for least in (0, 0.0, 1, 1.0):
            found(agent, "kp_search_skill", "x", limit=limit, min_quality=least)
    found(agent, "kp_search_knowledge", "x", limit=10, types=list(UNITS), domain=None)


def test_both_edges_find_and_contribute_the_same(agent: Minted) -> None:
    _, by_rest = over_rest(agent, "POST", "skills", skill_md_content=SKILL_MD)
    by_mcp = contributed_skill(agent)
    assert (by_rest["id"], by_rest["version"]) == (by_mcp["id"], by_mcp["version"])
    _, unit_by_rest = over_rest(agent, "POST", "knowledge", unit=TRACE, visibility="org")
    assert unit_by_rest["id"] == contributed_unit(agent, TRACE, "org")["id"]
    for route, tool in (("skills", "kp_search_skill"), ("knowledge", "kp_search_knowledge")):
        over = rest(agent, route, query="review the build")["results"]
        results = found(agent, tool, "review the build")
        assert results
        assert [{name: each[name] for name in results[0]} for each in over] == results


def test_a_contribution_that_is_wrong_is_refused_alike_over_both_edges(agent: Minted) -> None:
    for tool, route, given in (
        ("kp_contribute_skill", "skills", {"skill_md_content": "# No frontmatter"}),
        ("kp_contribute_skill", "skills", {"skill_md_content": SKILL_MD, "visibility": "all"}),
        ("kp_contribute_knowledge", "knowledge", {"unit": {}, "visibility": "org"}),
        ("kp_contribute_knowledge", "knowledge", {"unit": TRACE, "visibility": "all"}),
        ("kp_contribute_knowledge", "knowledge", {"unit": TRACE}),
    ):
        by_mcp = over_mcp(agent, tool, **given)
        assert by_mcp == over_rest(agent, "POST", route, **given)
        assert by_mcp[0] == "invalid_body"
    assert not Item.objects.exists()


def test_a_reader_may_search_but_not_contribute(mint: Mint) -> None:
    reader = agent_of(mint, write=False)
    assert refused(reader, "kp_contribute_skill", skill_md_content=SKILL_MD).code == (
        "capability_denied"
    )
    assert over_rest(reader, "POST", "knowledge", unit=TRACE, visibility="org")[0] == (
        "capability_denied"
    )
    assert found(reader, "kp_search_skill", "x") == []
    assert not Version.objects.exists()
