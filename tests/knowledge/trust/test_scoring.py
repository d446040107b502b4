"""Scores as they are kept: with their reasons, found by the default search, and made anew."""

from math import fsum

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.models import Item, Quality
from knowledge.providers import embedder_named
from knowledge.registry.searching import find_knowledge, find_skills
from knowledge.retrieval.caches import empty_caches
from knowledge.trust import scoring
from knowledge.trust.actors import rescore_item, sweep_scores
from knowledge.trust.novelty import UNKNOWN, novelty_of, novelty_of_text
from tests.support.judged_contributions import (
    PATTERN,
    SKILL,
    SOP,
    SPAM,
    TRACE,
    Json,
    pattern_of,
    publish,
    skill_of,
    sop_of,
    trace_of,
)
from tests.support.library import Mint, Minted

UNITS = {"ReasoningTrace": TRACE, "ToolCallPattern": PATTERN, "ExpertSOP": SOP}
SPAM_OF = {"ReasoningTrace": trace_of, "ToolCallPattern": pattern_of, "ExpertSOP": sop_of}


@pytest.fixture
def author(mint: Mint) -> Minted:
    return mint(name="author", toolsets=["registry"])


@pytest.fixture
def reader(mint: Mint, stranger: object) -> Access:
    return mint(by=stranger, toolsets=["registry"]).access


def score_of(item: Item) -> float:
    assert item.quality is not None
    return item.quality


def test_a_well_made_new_skill_is_found_by_the_default_search_at_once(
    author: Minted, reader: Access
) -> None:
    skill = publish(author, SKILL)
    found = find_skills(reader, query="a migration hangs on a lock")
    assert [each.id for each in found.results] == [skill.pk]


@pytest.mark.parametrize("type", UNITS)
def test_a_well_made_new_unit_is_found_by_the_default_search_at_once(
    author: Minted, reader: Access, type: str
) -> None:
    for unit in UNITS.values():
        publish(author, unit)
    query = UNITS[type].get("name") or TRACE["task"]["objective"]
    found = find_knowledge(reader, query=query, types=[type])
    assert [each.type for each in found.results] == [type]


@pytest.mark.parametrize("kind", ["filler", "keywords", "one line again and again", "only links"])
def test_spam_is_not(author: Minted, reader: Access, kind: str) -> None:
    publish(author, skill_of(SPAM[kind]))
    for make in SPAM_OF.values():
        publish(author, make(SPAM[kind]))
    query = SPAM[kind][:200]
    assert find_skills(reader, query=query).results == []
    assert find_knowledge(reader, query=query, limit=10).results == []


def test_a_copy_is_not_and_takes_nothing_from_the_original(
    author: Minted, mint: Mint, reader: Access
) -> None:
    original = publish(author)
    score = original.quality
    copycat = User.objects.create_user("copycat")
    copy = publish(mint(by=copycat, name="copycat", toolsets=["registry"]))
    assert score_of(copy) < 0.75
    scoring.rescore(original.pk)
    original.refresh_from_db()
    assert original.quality == pytest.approx(score)
    found = find_knowledge(reader, query=TRACE["task"]["objective"])
    assert [each.id for each in found.results] == [original.pk]


def test_the_kept_breakdown_adds_up_to_the_score(author: Minted) -> None:
    units: list[Json | str] = [SKILL, *UNITS.values(), trace_of(SPAM["filler"])]
    for unit in units:
        item = publish(author, unit)
        quality = Quality.objects.get(item=item)
        shares = [factor["value"] * factor["weight"] for factor in quality.factors.values()]
        assert quality.intrinsic == pytest.approx(fsum(shares))
        assert quality.score == pytest.approx(quality.intrinsic) == pytest.approx(item.quality)
        assert all(factor["because"] for factor in quality.factors.values())


def test_what_a_reader_may_not_know_of_takes_nothing_from_what_it_reads(
    author: Minted, mint: Mint, stranger: object
) -> None:
    theirs = mint(by=stranger, name="theirs", toolsets=["registry"])
    publish(theirs, TRACE, "private")
    public = publish(author, TRACE)
    assert novelty_of(public).value == pytest.approx(1.0)


def test_an_owner_may_publish_what_it_kept_as_a_draft(author: Minted) -> None:
    publish(author, {**TRACE, "id": "draft"}, "private")
    assert novelty_of(publish(author, {**TRACE, "id": "final"})).value == pytest.approx(1.0)


def test_a_new_version_is_not_compared_with_the_one_before(author: Minted) -> None:
    first = publish(author, {**TRACE, "id": "backups"})
    outcome = {**TRACE["outcome"], "confidence": 0.95}
    second = publish(author, {**TRACE, "id": "backups", "outcome": outcome})
    assert second.pk == first.pk
    assert score_of(second) > score_of(first)


def test_without_an_embedder_half_is_assumed_and_a_job_asks_again(
    author: Minted, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = embedder_named("fake")
    monkeypatch.setattr(failing, "failure", ProviderUnavailable("It is away."))
    item = publish(author)
    novelty = Quality.objects.get(item=item).factors["novelty"]
    assert (novelty["value"], novelty["is_known"]) == (UNKNOWN, False)
    assert "It is away." in novelty["because"]
    assert scoring.items_without_score(10) == [item.pk]
    monkeypatch.setattr(failing, "failure", None)
    empty_caches()
    sweep_scores.fn()
    rescore_item.fn(str(item.pk))
    assert Quality.objects.get(item=item).factors["novelty"]["is_known"] is True
    assert scoring.items_without_score(10) == []


def test_a_long_text_is_compared_from_its_beginning_to_its_end(author: Minted) -> None:
    publish(author, SKILL)
    body = SKILL.partition("---\n\n")[2]
    grown = "\n\n".join(
        f"# Part {n}\n\nQuartz {n} and feldspar {n} differ by hue." for n in range(60)
    )

    def novelty(text: str) -> float:
        title, owner_id = "Postgres lock triage", author.access.owner_id
        return novelty_of_text(owner_id, title=title, text=text, visibility="network").value

    assert novelty(body) < 0.2 < novelty(body + grown) < novelty(grown)


def test_a_deleted_item_is_rescored_by_nobody(author: Minted) -> None:
    item = publish(author)
    Item.objects.filter(pk=item.pk).delete()
    rescore_item.fn(str(item.pk))
    assert not Quality.objects.exists()


def test_a_domain_chooses_its_weights(author: Minted) -> None:
    finance: Json = {**TRACE, "metadata": {**TRACE["metadata"], "task_domain": "Finance"}}
    assert Quality.objects.get(item=publish(author, finance)).profile == "regulated"
