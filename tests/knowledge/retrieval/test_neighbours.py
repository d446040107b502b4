"""The chunks around a hit, for those who ask for them, as far as they see its item."""

from collections.abc import Callable
from typing import Any

import pytest

from knowledge.access import Access
from knowledge.errors import InvalidInput
from knowledge.models import Chunk, Folder, Item
from knowledge.retrieval.neighbours import chunks_around
from knowledge.retrieval.scope import Narrowing, scope_of
from mcp_gateway.payloads.search import SearchResults
from tests.support.edges import over_mcp, over_rest
from tests.support.library import Add, Mint
from tests.support.searching import search

STONES = ("granite", "marble", "basalt", "slate", "chalk")


def article() -> str:
    """Five sections, each a chunk of its own."""
    said = "is cut in the quarry and carried down the hill by the railway. "
    return "\n\n".join(f"## On {stone}\n\n{f'{stone} {said}' * 12}" for stone in STONES)


@pytest.fixture
def item(add: Add) -> Item:
    return add("Stones", article())


def stones(access: Access, query: str, **asked: Any) -> list[str]:
    [hit, *_] = search(access, query=query, mode="keyword", **asked).hits
    return [chunk.text.split()[2] for chunk in hit.chunks]


@pytest.mark.usefixtures("item")
def test_a_hit_comes_with_its_whole_chunk_and_those_around_it(library: Access) -> None:
    assert stones(library, "basalt") == []
    assert stones(library, "basalt", window=1) == ["marble", "basalt", "slate"]
    assert stones(library, "basalt", window=2) == list(STONES)
    assert stones(library, "granite", window=1) == ["granite", "marble"]
    assert stones(library, "chalk", window=2) == ["basalt", "slate", "chalk"]


@pytest.mark.parametrize("window", [-1, 3])
def test_a_wider_window_is_refused(library: Access, window: int) -> None:
    with pytest.raises(InvalidInput, match="window"):
        search(library, query="granite", window=window)


def test_both_edges_give_the_same_chunks_which_are_the_source_to_the_character(
    mint: Mint, item: Item
) -> None:
    asked = {"query": "marble", "mode": "keyword", "window": 1}
    _, by_rest = over_rest(mint(), "POST", "search", **asked)
    _, in_address = over_rest(mint(), "GET", "search", **asked)
    _, by_mcp = over_mcp(mint(), "search_knowledge_base", **asked)
    [hit, *_] = by_rest["results"]
    assert hit["chunks"] == in_address["results"][0]["chunks"] == by_mcp["results"][0]["chunks"]
    assert hit["chunk_id"] == hit["chunks"][1]["chunk_id"]
    for chunk in hit["chunks"]:
        start, end = chunk["char_span"]
        assert item.content.text[start:end] == chunk["text"]


@pytest.mark.usefixtures("item")
def test_a_model_reads_the_chunks_in_the_text_as_well(library: Access) -> None:
    answer = search(library, query="basalt", mode="keyword", limit=1, window=1)
    text = " ".join(SearchResults.of(answer).as_text().split())
    for chunk in answer.hits[0].chunks:
        assert " ".join(chunk.text.split()) in text


def test_what_is_out_of_reach_or_just_hidden_has_no_chunks(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    shelf, other = folder("Shelf"), folder("Other")
    item, away = add("Stones", article(), shelf), add("Away", article(), other)
    scope, _ = scope_of(mint(shelf).access, Narrowing())
    ids = list(Chunk.objects.filter(item__in=[item, away], position=2).values_list("pk", flat=True))
    around = chunks_around(scope, ids, window=2)
    assert set(around) == set(
        Chunk.objects.filter(item=item, position=2).values_list("pk", flat=True)
    )
    Item.objects.filter(pk=item.pk).update(archived=True)
    assert chunks_around(scope, ids, window=2) == {}
