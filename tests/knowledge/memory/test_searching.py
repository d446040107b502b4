"""Memory's search: what it finds, in which order, and what each switch does."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from knowledge.access import Access
from knowledge.errors import InvalidInput, ProviderUnavailable
from knowledge.library.editing import ItemChanges, update_item
from knowledge.library.items import file_item
from knowledge.memory import ranking
from knowledge.memory.relations import relate, unrelate
from knowledge.memory.remembering import add as remember
from knowledge.memory.searching import MemoryAnswer
from knowledge.models import Folder, Item, Relation, Source, SourcePage
from knowledge.providers.fake import FakeEmbedder
from tests.support.library import Add, Mint
from tests.support.searching import search, search_memory

Remember = Callable[..., Item]

PLAIN: dict[str, Any] = {"use_enhanced": False, "boost_recent": False}
MAY_7, MAY_21, JUNE_7 = (datetime(2023, *day, tzinfo=UTC) for day in ((5, 7), (5, 21), (6, 7)))


@pytest.fixture
def note(library: Access) -> Remember:
    """Remember something as the owner in person, in any folders."""

    def note_one(title: str, text: str = "", *folders: Folder, **given: object) -> Item:
        item = remember(library, title=title, content=text or title, **given).item  # type: ignore[arg-type]
        if folders:
            file_item(library, item.pk, [folder.pk for folder in folders])
        return item

    return note_one


def found(answer: MemoryAnswer) -> list[UUID]:
    return [result.id for result in answer.results]


def scores(answer: MemoryAnswer) -> dict[UUID, float]:
    return {result.id: result.score for result in answer.results}


def aged(item: Item, days: float) -> None:
    then = timezone.now() - timedelta(days=days)
    Item.objects.filter(pk=item.pk).update(updated_at=then, created_at=then)


def test_memory_and_documents_are_ranked_together(
    library: Access, note: Remember, add: Add
) -> None:
    pattern = note("Granite", "Granite is cut wet.", entity_type="pattern")
    document = add("Granite quarries", "Where granite is found.")
    answer = search_memory(library, query="granite")
    assert {result.id: result.result_origin for result in answer.results} == {
        pattern.pk: "graph",
        document.pk: "document",
    }
    assert (answer.total, answer.graph_count, answer.document_count) == (2, 1, 1)
    assert not answer.has_more
    assert answer.filters == {}
    assert "get_item" in answer.usage_hint


def test_an_item_comes_once_however_many_of_its_passages_match(library: Access, add: Add) -> None:
    parts = [f"# Part {n}\n\n" + f"Granite of quarry {n} is hard. " * 200 for n in range(4)]
    item = add("Granite", "\n\n".join(parts))
    assert item.chunk_count > 1
    [result] = search_memory(library, query="granite").results
    assert result.id == result.user_item_id == item.pk
    assert result.chunk_id in item.chunks.values_list("pk", flat=True)
    assert len(result.content) <= 2_000
    [short] = search_memory(library, query="granite", include_content=False).results
    assert len(short.content) <= 200


def test_a_result_tells_what_its_item_is(library: Access, note: Remember) -> None:
    item = note(
        "OAuth 2.0 PKCE Flow",
        "Public clients use PKCE.",
        entity_type="pattern",
        category="Authentication",
        languages=["TypeScript", "Python"],
        tags=["web"],
        metadata={"nested": {"kept": "with the item"}},
    )
    [result] = search_memory(library, query="PKCE").results
    assert (result.type, result.name, result.title) == ("pattern", item.title, item.title)
    assert result.url == f"quarry://items/{item.pk}"
    assert result.source is None
    assert result.untrusted is True
    assert result.metadata["category"] == "authentication"
    assert result.metadata["languages"] == ["typescript", "python"]
    assert result.metadata["tags"] == ["web"]
    assert result.metadata["chunk_id"] == result.chunk_id
    assert "metadata" not in result.metadata
    assert result.metadata["contested"] is False


def test_a_language_or_category_narrows_documents_by_their_tags(
    library: Access, note: Remember, add: Add
) -> None:
    remembered = note("Errors", "Errors in python", languages=["python"], category="style")
    tagged, other = add("Errors of Python"), add("Errors of Rust")
    update_item(library, tagged.pk, ItemChanges(tags=["Python", "style"]))
    for narrowed in ({"language": "Python"}, {"language": "python"}, {"category": "Style"}):
        answer = search_memory(library, query="errors", **narrowed)
        assert set(found(answer)) == {remembered.pk, tagged.pk}
        assert answer.filters == narrowed
    assert other.pk in found(search_memory(library, query="errors"))


def test_tasks_are_narrowed_by_status_project_and_assignee(library: Access, note: Remember) -> None:
    project = note("Login", entity_type="project")
    mine = note("Login form", entity_type="task", project=project.pk, assignees=["Ada"])
    other = note("Login page", entity_type="task", project=project.pk)
    Item.objects.filter(pk=other.pk).update(attributes=other.attributes | {"status": "doing"})

    def tasks(**narrowed: str) -> set[UUID]:
        return set(found(search_memory(library, query="login", types=["task"], **narrowed)))

    assert tasks(project=str(project.pk)) == {mine.pk, other.pk}
    assert tasks(status="backlog") == {mine.pk}
    assert tasks(status="doing, backlog") == {mine.pk, other.pk}
    assert tasks(status="review") == set()
    assert tasks(assignee="Ada") == {mine.pk}
    assert tasks(project=str(mine.pk)) == set()


def test_a_source_narrows_to_its_pages_and_is_named(library: Access, add: Add) -> None:
    page, other = add("Middleware of Next"), add("Middleware of others")
    source = Source.objects.create(
        owner_id=library.owner_id, name="Next docs", start_url="https://next.example"
    )
    SourcePage.objects.create(source=source, key="a", url="https://next.example/a", item=page)
    for narrowed in ({"source": "next"}, {"source_name": "DOCS"}, {"source_id": str(source.pk)}):
        answer = search_memory(library, query="middleware", **narrowed)
        assert [(result.id, result.source) for result in answer.results] == [(page.pk, "Next docs")]
    assert other.pk in found(search_memory(library, query="middleware"))


def test_a_source_out_of_reach_is_neither_named_nor_searched(
    library: Access, mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf = folder("Shelf")
    page = add("Middleware", "", shelf)
    source = Source.objects.create(
        owner_id=library.owner_id, name="Next docs", start_url="https://next.example"
    )
    SourcePage.objects.create(source=source, key="a", url="https://next.example/a", item=page)
    scoped = mint(shelf).access
    assert [result.source for result in search_memory(scoped, query="middleware").results] == [None]
    assert found(search_memory(scoped, query="middleware", source_id=source.pk)) == []


def test_include_flags_choose_between_memory_and_documents(
    library: Access, note: Remember, add: Add
) -> None:
    remembered, document = note("Granite"), add("Granite quarries")
    assert found(search_memory(library, query="granite", include_documents=False)) == [
        remembered.pk
    ]
    answer = search_memory(library, query="granite", include_graph=False)
    assert found(answer) == [document.pk]
    assert (answer.graph_count, answer.document_count) == (0, 1)
    with pytest.raises(InvalidInput, match="both false"):
        search_memory(library, query="granite", include_graph=False, include_documents=False)
    with pytest.raises(InvalidInput, match="include_graph false leaves out"):
        search_memory(library, query="granite", types=["task"], include_graph=False)


def test_temporal_decay_days_is_a_half_life(library: Access, note: Remember) -> None:
    item = note("Granite")
    aged(item, 30)
    [plain] = search_memory(
        library, query="granite", use_enhanced=False, boost_recent=False
    ).results
    assert plain.metadata["recency_boost"] == 1
    [boosted] = search_memory(
        library, query="granite", temporal_decay_days=30, use_enhanced=False
    ).results
    assert boosted.metadata["recency_boost"] == pytest.approx(0.5, abs=1e-4)
    assert boosted.score == pytest.approx(plain.score / 2, rel=1e-3)
    aged(item, 3_650)
    [old] = search_memory(library, query="granite", temporal_decay_days=30).results
    assert old.metadata["recency_boost"] == 0.1


def test_of_two_alike_the_newer_comes_first_unless_told_otherwise(
    library: Access, note: Remember
) -> None:
    old, new = note("Granite one"), note("Granite two")
    aged(old, 400)
    assert found(search_memory(library, query="granite")) == [new.pk, old.pk]
    both = search_memory(library, query="granite", boost_recent=False)
    assert scores(both)[old.pk] == scores(both)[new.pk]


def test_what_answers_better_stays_first_however_old_unless_a_half_life_is_named(
    library: Access, note: Remember
) -> None:
    asked = {"query": "granite saw blade", "use_enhanced": False}
    better, newer = note("Granite saw blade", "The granite saw has a blade."), note("Granite")
    aged(better, 2_000)
    assert found(search_memory(library, **asked)) == [better.pk, newer.pk]
    plain = scores(search_memory(library, **asked, boost_recent=False))
    assert scores(search_memory(library, **asked))[better.pk] >= 0.95 * plain[better.pk]
    in_full = search_memory(library, **asked, temporal_decay_days=30)
    assert found(in_full) == [newer.pk, better.pk]


def test_what_is_of_the_day_or_month_that_a_question_names_comes_first(
    library: Access, note: Remember
) -> None:
    notes = {day: note(f"Granite of day {day.toordinal()}") for day in (MAY_7, MAY_21, JUNE_7)}
    for day, item in notes.items():
        Item.objects.filter(pk=item.pk).update(created_at=day)

    def first(question: str, **asked: Any) -> UUID:
        return found(search_memory(library, query=question, **asked))[0]

    assert first("What granite came on 7 May 2023?") == notes[MAY_7].pk
    assert first("What granite came in June 2023?") == notes[JUNE_7].pk
    assert first("granite 2023-05-21") == notes[MAY_21].pk
    nobodys = search_memory(library, query="granite of May 7th, 1999")
    plain = search_memory(library, query=nobodys.query, boost_recent=False)
    assert scores(nobodys) == pytest.approx(scores(plain), rel=1e-3)


def test_with_both_switches_off_the_order_is_that_of_the_library_s_search(
    library: Access, note: Remember, add: Add
) -> None:
    made = [
        note(f"Stone {n}", "granite " * (n % 3) + "basalt slate " * (n % 5) + f"s{n}")
        for n in range(9)
    ]
    made += [
        add(f"Rock {n}", "granite " * (n % 4) + "chalk " * (n % 2) + f"r{n}") for n in range(9)
    ]
    for one, other in zip(made, made[5:], strict=False):
        relate(library, one.pk, other.pk, type="supports")
    aged(made[0], 500)
    for query in ("granite basalt", "slate", "chalk stone", "rock 3"):
        hits = search(library, query=query, limit=20, fold=False).hits
        answer = search_memory(library, query=query, limit=50, **PLAIN)
        assert found(answer) == list(dict.fromkeys(hit.item.pk for hit in hits))
        assert [r.score for r in answer.results] == pytest.approx([hit.score for hit in hits])


def test_what_the_strongest_hits_are_related_to_is_raised(library: Access, note: Remember) -> None:
    hit = note("Granite saw", "Cut granite with water.")
    related, alike = note("Dust mask"), note("Ear plugs")
    before = scores(search_memory(library, query="granite saw", boost_recent=False))
    relation = relate(library, related.pk, hit.pk, type="supports", weight=0.5)
    answer = search_memory(library, query="granite saw", boost_recent=False)
    assert before.keys() == {hit.pk}  # what no signal calls related comes by its relation alone
    assert scores(answer)[related.pk] > 0
    assert alike.pk not in scores(answer)
    told = {result.id: result.metadata["related"] for result in answer.results}
    assert told[related.pk]["id"] == str(hit.pk)
    assert told[related.pk]["type"] == "supports"
    assert 0 < told[related.pk]["boost"] < 0.3
    unrelate(library, relation.pk)
    assert scores(search_memory(library, query="granite saw", boost_recent=False)) == before


@pytest.mark.parametrize("kind", ["contradicts", "supersedes"])
def test_to_contradict_or_to_replace_raises_nothing(
    library: Access, note: Remember, kind: str
) -> None:
    hit, other = note("Granite saw"), note("Dust mask")
    before = scores(search_memory(library, query="granite saw", boost_recent=False))
    relate(library, hit.pk, other.pk, type=kind)
    after = scores(search_memory(library, query="granite saw", boost_recent=False))
    assert after.items() <= before.items()


def test_a_related_item_that_was_not_among_the_ranked_is_brought_in(
    library: Access, note: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit, related, loud = note("Granite saw"), note("Dust mask"), note("Ear plugs", tags=["loud"])
    for other in (related, loud):
        relate(library, hit.pk, other.pk, type="requires")
    monkeypatch.setattr(ranking, "POOL", 1)
    monkeypatch.setattr(ranking, "FEWEST_ITEMS", 1)
    answer = search_memory(library, query="granite saw")
    assert set(found(answer)) == {hit.pk, related.pk, loud.pk}
    assert answer.total == 3
    assert found(search_memory(library, query="granite saw", use_enhanced=False)) == [hit.pk]
    narrowed = search_memory(library, query="granite saw", category="none such")
    assert found(narrowed) == []


def test_what_is_brought_in_is_within_the_filters(
    library: Access, note: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit, task_like = note("Granite saw", entity_type="rule"), note("Dust mask")
    relate(library, hit.pk, task_like.pk, type="requires")
    monkeypatch.setattr(ranking, "POOL", 1)
    monkeypatch.setattr(ranking, "FEWEST_ITEMS", 1)
    assert found(search_memory(library, query="granite saw", types=["rule"])) == [hit.pk]


def test_a_pool_that_one_long_item_fills_is_made_wider(
    library: Access, note: Remember, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = add("Granite", "\n\n".join(f"# Granite {n}\n\n" + "Granite. " * 300 for n in range(6)))
    short = note("Granite in brief")
    assert long.chunk_count > 3
    monkeypatch.setattr(ranking, "POOL", 3)
    assert found(search_memory(library, query="granite")) == [long.pk, short.pk]


def test_every_page_is_cut_from_the_same_ranking(
    library: Access, note: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {note(f"Granite {n}").pk for n in range(3)}
    monkeypatch.setattr(ranking, "POOL", 1)
    monkeypatch.setattr(ranking, "FEWEST_ITEMS", 1)
    pages = [search_memory(library, query="granite", limit=1, offset=n) for n in range(3)]
    assert {page.total for page in pages} == {3}
    assert {pk for page in pages for pk in found(page)} == kept


def test_a_hidden_relation_or_item_changes_nothing(
    library: Access, mint: Mint, note: Remember, folder: Callable[[str], Folder]
) -> None:
    shelf, away = folder("Shelf"), folder("Away")
    hit = note("Granite saw", "", shelf)
    seen = note("Dust mask", "", shelf)
    hidden = note("Granite secrets", "", away)
    scoped = mint(shelf).access
    before = search_memory(scoped, query="granite saw", boost_recent=False)
    relate(library, hidden.pk, seen.pk, type="supports")
    relate(library, hidden.pk, hit.pk, type="supersedes")
    contested = relate(library, hidden.pk, seen.pk, type="contradicts")
    after = search_memory(scoped, query="granite saw", boost_recent=False)
    assert after == before
    whole = search_memory(library, query="granite saw", boost_recent=False)
    assert hit.pk not in found(whole)
    assert contested.source_id in found(whole)


def test_what_is_superseded_is_not_found_and_what_is_contested_says_so(
    library: Access, note: Remember
) -> None:
    old = note("Cut granite dry")
    new = note("Cut granite wet", related_to=[f"supersedes:{old.pk}"])
    rival = note("Cut granite never", related_to=[f"contradicts:{new.pk}"])
    answer = search_memory(library, query="cut granite")
    assert set(found(answer)) == {new.pk, rival.pk}
    told = {r.id: (r.metadata["contested"], r.metadata["contested_with"]) for r in answer.results}
    assert told == {new.pk: (True, [str(rival.pk)]), rival.pk: (True, [str(new.pk)])}


def test_a_failing_embedder_leaves_words_and_says_so(
    library: Access, note: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = note("Granite")
    broken = FakeEmbedder(failure=ProviderUnavailable("The model is away."))
    monkeypatch.setattr("knowledge.indexing.generations.embedder_named", lambda name: broken)
    answer = search_memory(library, query="granite")
    assert found(answer) == [item.pk]
    assert "The model is away" in (answer.degraded or "")


def test_another_owner_s_memory_is_not_found(note: Remember, stranger: User) -> None:
    note("Granite")
    assert search_memory(Access.whole_library(stranger.pk), query="granite").total == 0


def test_scores_are_within_0_and_1_and_fall_with_rank_over_random_queries(
    library: Access, note: Remember, add: Add
) -> None:
    chance = random.Random(7)
    words = ["granite", "basalt", "slate", "chalk", "saw", "wet", "dust", "mask", "vein", "ore"]
    made = [note(" ".join(chance.choices(words, k=5)), entity_type="rule") for _ in range(12)]
    made += [add(" ".join(chance.choices(words, k=6))) for _ in range(8)]
    for _ in range(15):
        one, other = chance.sample(made, 2)
        weight = chance.random()
        Relation.objects.get_or_create(
            owner_id=library.owner_id, source=one, target=other, defaults={"weight": weight}
        )
    for item in made[::3]:
        aged(item, chance.randint(0, 900))
    for _ in range(150):
        query = " ".join(chance.choices([*words, "?", "unknown"], k=chance.randint(1, 6)))
        switches: dict[str, Any] = {name: chance.random() < 0.7 for name in PLAIN}
        answer = search_memory(library, query=query, limit=50, **switches)
        order = [result.score for result in answer.results]
        assert order == sorted(order, reverse=True)
        assert all(0 <= score <= 1 for score in order)
