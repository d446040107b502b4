"""What REST has beside the tools: listings by pages, the record, and two callers at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from knowledge.access import Access
from knowledge.api.registry_shapes import SkillOutput
from knowledge.models import Item, Provider, Version
from knowledge.registry.contributing import contribute_knowledge, contribute_skill
from knowledge.registry.offering import register_provider
from knowledge.registry.searching import find_skills
from tests.support.contributions import (
    PATTERN,
    SKILL_MD,
    SOP,
    TRACE,
    agent_of,
    contributed_skill,
    contributed_unit,
    rest,
    skill,
    unit,
)
from tests.support.edges import over_mcp
from tests.support.library import Mint, Minted
from tests.support.rollback import each_case
from tokens.models import Event


@pytest.fixture
def agent(mint: Mint) -> Minted:
    return agent_of(mint)


def test_a_listing_is_newest_first_by_pages_and_has_what_no_search_shows(agent: Minted) -> None:
    made = [contributed_skill(agent, skill(f"Skill {n}"))["id"] for n in range(5)]
    pages = [rest(agent, "skills", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [[each["id"] for each in page["results"]] for page in pages] == [
        [made[4], made[3]],
        [made[2], made[1]],
        [made[0]],
        [],
    ]
    assert [page["has_more"] for page in pages] == [True, True, False, False]
    assert {each["score"] for page in pages for each in page["results"]} == {None}
    assert rest(agent, "skills", min_quality=0.7)["results"] != pages[0]["results"]


@pytest.mark.parametrize("query", [None, "review"])
def test_a_page_loads_no_column_that_it_does_not_show(agent: Minted, query: str | None) -> None:
    contributed_skill(agent)
    find_skills(agent.access, query=query)  # so that only its own queries are counted below
    with CaptureQueriesContext(connection) as captured:
        (found,) = find_skills(agent.access, query=query, min_quality=0.0).results
        assert SkillOutput(found).data["content"]
    items, versions = captured.captured_queries[-2:]
    assert len(captured) == (3 if query is None else 4)
    assert found.item.get_deferred_fields() >= {"index_error", "half_screened", "unfiled_by"}
    assert '"knowledge_content"."text"' not in items["sql"]
    assert '"knowledge_version"."created_at"' not in versions["sql"]


def test_a_skill_that_was_imported_without_a_version_shows_its_text(agent: Minted) -> None:
    contributed_skill(agent)
    Version.objects.all().delete()
    (found,) = rest(agent, "skills")["results"]
    assert found["version"] == 0
    assert found["content"] == Item.objects.get(pk=found["id"]).content.text


def test_a_search_goes_on_by_pages_too(agent: Minted) -> None:
    for n in range(4):
        contributed_skill(agent, skill(f"Skill {n}"))
    pages = [
        rest(agent, "skills", query="review", min_quality=0, limit=2, offset=offset)
        for offset in (0, 2, 4)
    ]
    ids = [each["id"] for page in pages for each in page["results"]]
    assert len(ids) == len(set(ids)) == 4
    assert [page["has_more"] for page in pages] == [True, False, False]
    scores = [each["score"] for page in pages for each in page["results"]]
    assert scores == sorted(scores, reverse=True)


def test_every_filter_narrows_a_listing(agent: Minted) -> None:
    trace, pattern, sop = (contributed_unit(agent, each)["id"] for each in (TRACE, PATTERN, SOP))
    one = contributed_skill(agent)["id"]

    def listed(route: str, **asked: Any) -> set[str]:
        return {each["id"] for each in rest(agent, route, **asked)["results"]}

    assert listed("knowledge") == {trace, pattern, sop}
    assert listed("knowledge", types=["ExpertSOP", "ToolCallPattern"]) == {pattern, sop}
    assert listed("knowledge", domain="Debugging") == {trace}
    assert listed("knowledge", schema_version="1.0", min_quality=0.1) == {trace, pattern, sop}
    assert listed("knowledge", schema_version="2.0") == set()
    assert listed("skills", tags=["code-review", "best-practices"]) == {one}
    assert listed("skills", tags=["unheard-of"]) == set()
    assert listed("skills", tags=["Code-Review"]) == set()  # a tag is as it was written
    assert listed("skills", domain="software-engineering") == {one}


@each_case(
    "path",
    [
        *("skills?offset=501", "skills?offset=-1", "skills?limit=21", "skills?order=asc"),
        *("knowledge?limit=11", "knowledge?min_quality=two", "knowledge?types=Poem"),
        *("skills?query=", "skills/not-an-id", "knowledge/not-an-id/versions"),
    ],
)
def test_a_wrong_listing_is_refused(agent: Minted, path: str) -> None:
    assert agent.client.get(f"/api/v1/{path}").status_code == 400


def test_the_record_names_what_was_contributed_and_read(agent: Minted) -> None:
    one = contributed_skill(agent)["id"]
    rest(agent, f"skills/{one}")
    agent.client.get(f"/api/v1/skills/{one}/archive")
    events = Event.objects.filter(token=agent.row).order_by("at")
    assert [(event.edge, event.action, event.target) for event in events] == [
        ("mcp", "contribute", one),
        ("rest", "get_item", one),
        ("rest", "registry", one),
    ]


def test_a_call_that_is_repeated_with_its_key_runs_once(agent: Minted) -> None:
    key = {"Idempotency-Key": "same"}
    body = {"unit": TRACE, "visibility": "private"}
    answers = [
        agent.client.post("/api/v1/knowledge", body, format="json", headers=key) for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()


def test_what_is_contributed_is_also_an_item_of_the_library(agent: Minted) -> None:
    one = contributed_skill(agent)["id"]
    item = rest(agent, f"items/{one}")
    assert (item["type"], item["title"]) == ("skill", "Code Review Checklist")
    assert item["text"].startswith("Review a pull request")
    code, answer = over_mcp(agent, "search_knowledge_base", query="review a pull request")
    assert (code, answer["results"][0]["user_item_id"]) == ("ok", one)


# At once ---------------------------------------------------------------------------------------


def at_once(*work: Any) -> list[Any]:
    def run(each: Any) -> Any:
        try:
            return each()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(work)) as threads:
        return list(threads.map(run, work))


@pytest.mark.django_db(transaction=True)
def test_contributed_at_once_under_one_name_they_are_versions_of_one_skill(owner: User) -> None:
    access = Access.whole_library(owner.pk)
    for texts, last in (([f"{SKILL_MD}\nNo. {n}.\n" for n in range(4)], 4), ([SKILL_MD] * 4, 5)):
        done = at_once(
            *(lambda text=text: contribute_skill(access, skill_md_content=text) for text in texts)
        )
        assert {each.id for each in done} == {Item.objects.get().pk}
        numbers = Version.objects.values_list("number", flat=True)
        assert sorted(numbers) == list(range(1, last + 1))


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_at_once_one_gets_the_id(owner: User, stranger: User) -> None:
    done = at_once(
        *(
            lambda who=who: contribute_knowledge(
                Access.whole_library(who.pk), unit=unit(extra=who.pk), visibility="network"
            )
            for who in (owner, stranger)
        )
    )
    assert sorted(getattr(each, "code", "made") for each in done) == ["conflict", "made"]
    assert Item.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_registered_at_once_an_agent_is_one_provider(owner: User) -> None:
    access = replace(Access.whole_library(owner.pk), agent_id="ada/reviewer")
    offer = partial(register_provider, access, name="Reviewer", capabilities=["code-review"])
    done = at_once(*[offer] * 4)
    assert sorted(is_new for _, is_new in done) == [False, False, False, True]
    assert Provider.objects.count() == 1
