"""Reputation as it is kept: from the log, exactly and vote by vote, and told over both edges."""

import io
import json
from random import Random

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries

from knowledge.access import Access
from knowledge.models import Agent, Content, Item, ItemType, Quality, Validation, Visibility
from knowledge.registry.validating import validate_unit
from knowledge.trust import reputation
from knowledge.trust.actors import sweep_reputation
from tests.support.edges import over_mcp, over_rest
from tests.support.judged_contributions import PATTERN, SKILL, SOP, TRACE, publish
from tests.support.library import Mint, Minted

REGISTRY = ["registry"]


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def author(mint: Mint) -> Minted:
    return mint(name="author", toolsets=REGISTRY)


def agent(name: str) -> Agent:
    return Agent.objects.get(agent_id=name)


def scores() -> dict[str, float]:
    return {each.agent_id: each.score for each in Agent.objects.all() if each.score}


def made_item(owner: User, contributor: str, visibility: str = Visibility.NETWORK) -> Item:
    content = Content.objects.create(owner=owner, kind="text", title="t", text="t")
    item = Item.objects.create(
        owner=owner,
        content=content,
        type=ItemType.SKILL,
        visibility=visibility,
        added_by_agent=contributor,
        quality=0.8,
    )
    Quality.objects.create(item=item, profile="skill", factors={}, intrinsic=0.8, score=0.8)
    return item


def judged(item: Item, judge: str, valid: bool = True) -> Validation:
    return Validation.objects.create(
        item=item, agent_id=judge, contributor=item.added_by_agent, valid=valid
    )


def test_an_agent_judged_well_twice_by_the_servers_owner_is_above_one_half_at_once(
    author: Minted, root: User, mint: Mint
) -> None:
    for name, given in (("first", TRACE), ("second", SKILL)):
        validate_unit(mint(by=root, name=name).access, publish(author, given).pk, valid=True)
    assert agent(author.access.agent_id).score > 0.5
    assert agent("root/first").score >= 0.95


def test_a_thousand_sybils_stay_below_a_twentieth(owner: User, root: User) -> None:
    rows = []
    items = [made_item(owner, f"eve/s{n}") for n in range(100)]
    for n in range(1000):
        for k in (1, 2, 3):
            item = items[(n + k) % 100]
            if item.added_by_agent != f"eve/s{n}":
                rows.append((item, f"eve/s{n}"))
    Validation.objects.bulk_create(
        Validation(item=item, agent_id=judge, contributor=item.added_by_agent, valid=True)
        for item, judge in rows
    )
    good = made_item(owner, "ada/good")
    judged(good, "root/one")
    judged(good, "root/two")
    reputation.recompute()
    assert agent("ada/good").score > 0.5
    assert not Agent.objects.filter(agent_id__startswith="eve/", score__gte=0.05).exists()


def test_the_operator_chooses_where_trust_begins(owner: User, root: User) -> None:
    judged(made_item(owner, "ada/good"), "bob/careful")
    reputation.recompute()
    assert agent("ada/good").score == 0
    reputation.trust(["bob/careful"])
    reputation.recompute()
    assert agent("bob/careful").score >= 0.95
    assert agent("ada/good").score > 0
    reputation.end_initial_trust(["bob/careful"])
    reputation.recompute()
    assert agent("ada/good").score == 0


def test_only_judgments_of_what_everybody_may_read_make_a_reputation(
    owner: User, root: User
) -> None:
    for visibility in (Visibility.PRIVATE, Visibility.ORG):
        judged(made_item(owner, "ada/quiet", visibility), "root/one")
    reputation.recompute()
    assert scores() == {}


def test_nor_do_they_make_one_vote_by_vote(author: Minted, root: User, mint: Mint) -> None:
    group = Group.objects.create(name="colleagues")
    group.user_set.add(root, author.row.owner)
    unit = publish(author, TRACE, "org")
    judgment = validate_unit(mint(by=root, name="one").access, unit.pk, valid=False)
    assert scores() == {}
    sweep_reputation.fn()
    unit.refresh_from_db()
    assert unit.quality == pytest.approx(judgment.quality_score)


def test_a_log_gives_the_same_reputations_every_time(owner: User, root: User) -> None:
    random = Random(3)
    items = [made_item(owner, f"ada/a{n}") for n in range(12)]
    for item in items:
        for judge in random.sample(["root/x", "root/y", *(f"ada/a{n}" for n in range(12))], 5):
            if judge != item.added_by_agent:
                judged(item, judge, valid=random.random() < 0.7)
    reputation.recompute()
    first = scores()
    Agent.objects.all().delete()
    reputation.recompute()
    assert scores() == first
    assert len(first) > 5


def test_counted_vote_by_vote_it_agrees_with_the_exact_count(owner: User, root: User) -> None:
    random = Random(11)
    names = [f"ada/a{n}" for n in range(10)]
    items = [made_item(owner, random.choice(names)) for _ in range(25)]
    judges = ["root/x", "root/y", "root/z", *names]
    for _ in range(150):
        item, judge = random.choice(items), random.choice(judges)
        if judge == item.added_by_agent:
            continue
        with reputation.recount_judgments(judge, item.added_by_agent):
            Validation.objects.filter(item=item, agent_id=judge).update(is_current=False)
            judged(item, judge, valid=random.random() < 0.75)
    incremental = {each.agent_id: (each.trust, each.score) for each in Agent.objects.all()}
    reputation.recompute()
    for each in Agent.objects.all():
        trust, score = incremental[each.agent_id]
        assert trust == pytest.approx(each.trust, abs=0.01)
        assert score == pytest.approx(each.score, abs=0.02)


def test_one_vote_does_not_read_the_whole_log(
    owner: User, root: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    item = made_item(owner, "ada/good")
    with django_assert_max_num_queries(20), reputation.recount_judgments("root/one", "ada/good"):
        judged(item, "root/one")
    assert agent("ada/good").score > 0.3


def test_the_sweep_weighs_judgments_by_the_reputations_there_are_then(
    owner: User, root: User
) -> None:
    item = made_item(owner, "ada/good")
    judged(item, "bob/careful", valid=False)
    sweep_reputation.fn()
    item.refresh_from_db()
    assert item.quality == pytest.approx(0.8, abs=0.01)
    reputation.trust(["bob/careful"])
    sweep_reputation.fn()
    item.refresh_from_db()
    assert item.quality == pytest.approx(0.8 * 8 / 8.95, abs=0.01)
    assert Quality.objects.get(item=item).score == item.quality


def test_the_sweep_explains_anew_what_no_judgment_moves(owner: User, root: User) -> None:
    item = made_item(owner, "ada/good")
    Quality.objects.filter(item=item).update(intrinsic=1.0, score=1.0)
    judged(item, "bob/careful")
    sweep_reputation.fn()
    assert Quality.objects.get(item=item).validations["weight_for"] == pytest.approx(0.05)
    reputation.trust(["bob/careful"])
    sweep_reputation.fn()
    assert Quality.objects.get(item=item).validations["weight_for"] > 0.9


# Over both edges ------------------------------------------------------------------------------


def test_a_reputation_is_told_alike_on_both_edges_with_its_parts(
    author: Minted, root: User, mint: Mint, stranger: User
) -> None:
    unit = publish(author)
    publish(author, SKILL)
    validate_unit(mint(by=root, name="first").access, unit.pk, valid=True)
    reader = mint(by=stranger, write=False, toolsets=REGISTRY)
    agent_id = author.access.agent_id
    outcome, told = over_mcp(reader, "kp_reputation_query", agent_id=agent_id)
    assert outcome == "ok"
    assert over_rest(reader, "GET", f"reputation/{agent_id}") == ("ok", told)
    assert told["contributions"] == 2
    assert told["contributions_by_type"] == {"reasoning_trace": 1, "skill": 1}
    assert (told["valid"], told["not_valid"], told["from_the_start"]) == (1, 0, False)
    [voice] = told["judged_by"]
    assert voice["agent_id"] == "root/first"
    assert voice["brings"] == pytest.approx(told["trust"])


def test_an_agent_that_nobody_knows_has_no_reputation(mint: Mint) -> None:
    reader = mint(toolsets=REGISTRY)
    for agent_id in ("nobody/at-all", "kp:agent:unknown", "नमस्ते", "a/b/c"):
        outcome, told = over_mcp(reader, "kp_reputation_query", agent_id=agent_id)
        assert (outcome, told["score"], told["contributions"]) == ("ok", 0, 0)
        assert over_rest(reader, "GET", f"reputation/{agent_id}") == ("ok", told)


@pytest.mark.parametrize("wrong", ["", " ", "x" * 201, None, 7])
def test_an_agent_id_must_be_one(mint: Mint, wrong: object) -> None:
    outcome, _ = over_mcp(mint(toolsets=REGISTRY), "kp_reputation_query", agent_id=wrong)
    assert outcome == "invalid_body"


def test_hiding_what_was_judged_in_public_changes_no_reputation(
    author: Minted, root: User, mint: Mint
) -> None:
    judge = mint(by=root, name="judge")
    good, bad = publish(author, TRACE), publish(author, PATTERN)
    validate_unit(judge.access, good.pk, valid=True)
    validate_unit(judge.access, bad.pk, valid=False)
    agent_id = author.access.agent_id
    assert agent(agent_id).score == 0
    assert over_rest(author, "PATCH", f"items/{bad.pk}", visibility="private")[0] == "ok"
    reputation.recompute()
    assert agent(agent_id).score == 0
    assert agent(agent_id).parts["received"] == {"valid": 1, "not_valid": 1}


def test_a_judgment_of_what_colleagues_share_counts_from_when_it_is_published(
    author: Minted, root: User, mint: Mint
) -> None:
    Group.objects.create(name="colleagues").user_set.add(root, author.row.owner)
    item = publish(author, TRACE, "org")
    validate_unit(mint(by=root, name="colleague").access, item.pk, valid=True)
    reputation.recompute()
    assert agent(author.access.agent_id).score == 0
    Item.objects.filter(pk=item.pk).update(visibility="network")
    reputation.recompute()
    assert agent(author.access.agent_id).score > 0


def test_private_contributions_are_counted_for_nobody_else(
    author: Minted, mint: Mint, stranger: User
) -> None:
    publish(author, TRACE, "private")
    publish(author, PATTERN, "org")
    publish(author, SOP, "network")
    agent_id = author.access.agent_id
    other = mint(by=stranger, toolsets=REGISTRY)
    assert over_mcp(other, "kp_reputation_query", agent_id=agent_id)[1]["contributions"] == 1
    assert over_mcp(author, "kp_reputation_query", agent_id=agent_id)[1]["contributions"] == 3
    [row] = over_rest(other, "GET", "leaderboard")[1]["agents"]
    assert row == {"agent_id": agent_id, "score": row["score"], "contributions": 1}


def test_an_agent_whose_work_is_all_private_is_on_no_leaderboard(
    author: Minted, mint: Mint
) -> None:
    publish(author, TRACE, "private")
    assert over_rest(author, "GET", "leaderboard")[1]["agents"] == []


def test_the_leaderboard_is_paged_best_first(owner: User, root: User, mint: Mint) -> None:
    for n in range(5):
        item = made_item(owner, f"ada/a{n}")
        for k in range(n):
            judged(item, f"root/judge{k}")
    reputation.recompute()
    reader = mint(toolsets=REGISTRY)
    _, first = over_rest(reader, "GET", "leaderboard", per_page=3)
    _, second = over_rest(reader, "GET", "leaderboard", per_page=3, page=2)
    names = [row["agent_id"] for row in (*first["agents"], *second["agents"])]
    assert names == ["ada/a4", "ada/a3", "ada/a2", "ada/a1", "ada/a0"]
    assert (first["total"], second["page"]) == (5, 2)
    assert over_rest(reader, "GET", "leaderboard", per_page=0)[0] == "invalid_body"


def test_no_item_of_another_shows_through_a_reputation(
    author: Minted, mint: Mint, stranger: User
) -> None:
    hidden = publish(author, TRACE, "private")
    other = mint(by=stranger, toolsets=REGISTRY)
    _, told = over_mcp(other, "kp_reputation_query", agent_id=author.access.agent_id)
    assert str(hidden.pk) not in json.dumps(told)
    assert told["contributions"] == 0


# The command ----------------------------------------------------------------------------------


def test_the_command_recomputes_and_prints_the_best(
    owner: User, root: User, library: Access
) -> None:
    judged(made_item(owner, "ada/good"), "root/one")
    out = io.StringIO()
    call_command("reputation", "--top", "1", stdout=out)
    assert "1 judged contributions" in out.getvalue()
    assert "root/one" in out.getvalue()
    assert "ada/good" not in out.getvalue()
    out = io.StringIO()
    call_command("reputation", "--trust", "bob/x", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert {row["agent_id"]: row["from_the_start"] for row in told["agents"]}["bob/x"] is True
    assert agent("ada/good").score == 0
