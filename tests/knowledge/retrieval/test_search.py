"""The engine: plans for every size of scope, folding, explanations, patience with embedders."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.db import connection

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.indexing import generations
from knowledge.library.editing import ItemChanges, update_item
from knowledge.models import Folder
from knowledge.providers.fake import FakeEmbedder
from knowledge.providers.protocols import Vector
from knowledge.retrieval import caches, keyword, plans, semantic, statement
from knowledge.retrieval import search as search_module
from knowledge.retrieval.plans import KeywordPlan, SemanticPlan, keyword_plan, semantic_plan
from knowledge.retrieval.scope import Narrowing, scope_of
from tests.support.library import Add, Mint
from tests.support.packing import pack
from tests.support.searching import search

MakeFolder = Callable[[str], Folder]
STONES = [
    "granite",
    "marble",
    "basalt",
    "slate",
    "chalk",
    "flint",
    "quartz",
    "gneiss",
    "schist",
    "tuff",
]


@pytest.fixture
def shelves(add: Add, folder: MakeFolder) -> tuple[Folder, Folder]:
    """Sixty chunks in one folder and four in another."""
    rng = np.random.default_rng(7)
    large, small = folder("Large"), folder("Small")
    for number in range(64):
        text = " ".join(rng.choice(STONES, size=12))
        add(f"Stone {number}", text, small if number % 16 == 0 else large)
    return large, small


def ranking(access: Access, **asked: Any) -> list[tuple[int, float]]:
    """Chunks of the same score by their number: plans add up in other orders."""
    hits = search(access, **asked, fold=False).hits
    scored = [(hit.chunk.pk, round(hit.score, 9)) for hit in hits]
    return sorted(scored, key=lambda each: (-each[1], each[0]))


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_every_plan_gives_the_same_ranking(
    library: Access,
    shelves: tuple[Folder, Folder],
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rankings() -> list[list[tuple[int, float]]]:
        return [
            ranking(library, query=query, mode=mode, limit=20, narrowing=narrowing)
            for query in ("granite marble", "quartz", '"slate chalk" -tuff', "flint gnei*")
            for narrowing in (Narrowing(), *(Narrowing(folder_id=each.pk) for each in shelves))
        ]

    expected = rankings()
    assert sum(map(bool, expected)) > 8
    monkeypatch.setattr(statement, "semantic_plan", lambda *_, **__: SemanticPlan.BITS)
    assert rankings() == expected
    for packed in (0, 20, 40, 64):  # in segments that grow, beside chunks that are fresh
        pack(library.owner_id, most=packed)
        for plan in KeywordPlan:
            monkeypatch.setattr(statement, "keyword_plan", lambda *_, plan=plan, **__: plan)
            assert rankings() == expected, (packed, plan)


@pytest.mark.usefixtures("shelves")
def test_a_search_is_soon_planned_no_more_however_many_words_it_has(library: Access) -> None:
    def planned_anew() -> list[int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT custom_plans FROM pg_prepared_statements "
                "WHERE statement LIKE '%knowledge_wordpostings%'"
            )
            return [plans for (plans,) in cursor.fetchall()]

    def search_for(*queries: str) -> None:
        for query in queries:
            assert ranking(library, query=query, mode="hybrid")

    pack(library.owner_id, most=60)
    search_for(*["granite marble quartz slate"] * 7)  # Postgres compares plans five times
    before = planned_anew()
    search_for("tuff", "chalk marble quartz slate granite tuff", "gneiss " * 9 + "chalk", "flint")
    assert planned_anew() == before != []


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_looking_into_long_lists_scores_as_reading_them_does(
    library: Access,
    shelves: tuple[Folder, Folder],
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rankings() -> list[list[tuple[int, float]]]:
        queries = ("granite marble", "quartz", "slate chalk tuff flints")
        return [ranking(library, query=query, mode=mode, limit=10) for query in queries]

    pack(library.owner_id, most=40)  # the others are fresh
    for change in ("nothing", "a hidden item", "a second language"):
        if change == "a hidden item":
            update_item(library, shelves[1].items.all()[0].pk, ItemChanges(in_kb=False))
        if change == "a second language":
            monkeypatch.setattr(search_module, "configurations_of", lambda _: ("english", "german"))
        expected = rankings()
        with monkeypatch.context() as patched:
            patched.setattr(keyword, "MANY_CHUNKS", 0)
            patched.setattr(keyword, "_short_entries", lambda *_: 0)  # only the rarest term's
            assert rankings() == expected, change


def test_the_plan_follows_the_size_of_the_scope() -> None:
    assert semantic_plan(2_000, has_graph=True) is SemanticPlan.EXACT
    assert semantic_plan(2_001, has_graph=False) is SemanticPlan.BITS
    assert semantic_plan(500_000, has_graph=True) is SemanticPlan.GRAPH
    assert keyword_plan(1_500, library_chunks=1_500) is KeywordPlan.PACKED
    assert keyword_plan(1_500, library_chunks=50_000) is KeywordPlan.READ
    assert keyword_plan(5_000, library_chunks=50_000) is KeywordPlan.PACKED
    assert plans.candidates_by_bits(1024, wanted=100) == 200
    assert plans.candidates_by_bits(384, wanted=100) == 800
    assert plans.candidates_by_bits(1024, wanted=5_000) == 10_000


def test_a_narrow_scope_gets_all_its_hits(
    library: Access, shelves: tuple[Folder, Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statement, "semantic_plan", lambda *_, **__: SemanticPlan.BITS)
    narrow = Narrowing(folder_id=shelves[1].pk)
    assert len(search(library, query="granite", mode="semantic", narrowing=narrow).hits) == 4


def test_hits_of_one_item_that_say_the_same_are_folded_and_can_be_seen_all(
    library: Access, add: Add
) -> None:
    paragraph = "The charter of the quarry says that granite is cut on Mondays only. " * 18
    item = add("Charter", "\n\n".join([paragraph] * 3))
    add("Other", "granite in another item")
    asked = {"query": "granite charter", "mode": "keyword"}
    everything = [hit for hit in search(library, **asked, fold=False).hits if hit.item == item]
    assert len(everything) >= 2
    folded = [hit for hit in search(library, **asked).hits if hit.item == item]
    assert len(folded) < len(everything)
    shown = {folded[0].chunk.pk, *folded[0].similar_chunk_ids}
    assert shown <= {hit.chunk.pk for hit in everything}
    assert len(shown) >= 2


def test_an_explanation_names_the_words_and_what_makes_the_hit_visible(
    library: Access, add: Add, mint: Mint, folder: MakeFolder
) -> None:
    shelf = folder("Shelf")
    add("Stones", "granite and marble", shelf)
    (hit,) = search(library, query="marbles of obsidian", explain=True).hits
    assert hit.explanation is not None
    assert hit.explanation.matched_terms == ["marbles"]
    assert hit.explanation.visible_by == "whole_library"
    (hit,) = search(mint(shelf).access, query="granite marble", explain=True).hits
    assert hit.explanation is not None
    assert hit.explanation.visible_by == "folder"
    assert hit.explanation.folder_id == shelf.pk
    assert hit.explanation.matched_terms == ["granite", "marble"]


def test_a_slow_embedder_turns_hybrid_into_keyword(
    library: Access, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Stones", "granite and marble")
    slow = FakeEmbedder(delay=5)
    monkeypatch.setattr(semantic, "PATIENCE_SEC", 0.05)
    monkeypatch.setattr(generations, "embedder_named", lambda name: slow)
    answer = search(library, query="granite")
    assert answer.hits
    assert answer.mode == "keyword"
    assert answer.degraded is not None
    with pytest.raises(ProviderUnavailable, match="longer than"):
        search(library, query="granite", mode="semantic")


def test_a_query_is_embedded_once(
    library: Access, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Stones", "granite and marble")
    counting = FakeEmbedder()
    asked: list[str] = []
    embed = counting.embed_query

    def counted(text: str) -> Vector:
        asked.append(text)
        return embed(text)

    monkeypatch.setattr(counting, "embed_query", counted)
    monkeypatch.setattr(generations, "embedder_named", lambda name: counting)
    for _ in range(3):
        search(library, query="granite")
    assert asked == ["granite"]
    monkeypatch.setattr(caches.query_vectors, "_most", 1)
    search(library, query="marble")
    search(library, query="granite")
    assert asked == ["granite", "marble", "granite"]


def test_an_embedder_of_other_dimensions_is_refused_not_mixed(
    library: Access, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Stones", "granite and marble")
    other = FakeEmbedder(dimensions=32)
    monkeypatch.setattr(generations, "embedder_named", lambda name: other)
    with pytest.raises(ProviderUnavailable, match="dimensions"):
        search(library, query="granite", mode="semantic")
    assert search(library, query="granite").degraded is not None


def test_a_token_without_folders_finds_nothing(library: Access, add: Add) -> None:
    add("Stones", "granite and marble")
    nobody = replace(library, folder_ids=frozenset())
    somebody = replace(library, folder_ids=frozenset({uuid4()}))
    for mode in ("semantic", "keyword", "hybrid"):
        assert search(nobody, query="granite", mode=mode).hits == []
        assert search(somebody, query="granite", mode=mode).hits == []


def test_an_item_hidden_after_its_scope_was_measured_is_no_hit(
    library: Access, add: Add, mint: Mint, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = folder("Shelf")
    item = add("Stones", "granite and marble", shelf)
    reader = mint(shelf).access
    measured = scope_of

    def measure_then_unfile(*args: Any, **kwargs: Any) -> Any:
        scope = measured(*args, **kwargs)
        item.filings.all().delete()
        return scope

    monkeypatch.setattr(search_module, "scope_of", measure_then_unfile)
    assert search(reader, query="granite").hits == []
