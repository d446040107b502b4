"""What is remembered between searches: never too much, and gone when told."""

from knowledge.access import Access
from knowledge.retrieval import caches
from knowledge.retrieval.caches import Cache, empty_caches
from tests.support.library import Add
from tests.support.searching import search


def test_the_oldest_makes_room_and_what_is_put_again_is_new() -> None:
    cache = Cache[str, int](2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        cache.put(key, value)
    assert [cache.get(key) for key in "abc"] == [3, None, 4]


def test_one_function_empties_every_cache(library: Access, add: Add) -> None:
    add("Stones", "granite and marble")
    search(library, query="granite")
    every = [each for each in vars(caches).values() if isinstance(each, Cache)]
    assert all(cache._values for cache in every)
    empty_caches()
    assert not any(cache._values for cache in every)
