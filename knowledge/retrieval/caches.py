"""All that a process remembers between searches, with one function that empties it.

Loaded models are not among this: the providers keep those for as long as the process runs.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

from knowledge.access import Access
from knowledge.indexing.keyword_rows import empty_dictionaries
from knowledge.providers.protocols import Embedder, Vector

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """At most so many values; the oldest make room for new ones."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[K, V] = {}
        self._writing = Lock()

    def get(self, key: K) -> V | None:
        return self._values.get(key)

    def put(self, key: K, value: V) -> V:
        with self._writing:
            self._values.pop(key, None)  # what is read anew counts as new
            while len(self._values) >= self._most:
                del self._values[next(iter(self._values))]
            self._values[key] = value
        return value

    def empty(self) -> None:
        with self._writing:
            self._values.clear()


query_vectors = Cache[tuple[Embedder, str], Vector](4_096)
stems = Cache[tuple[str, str], list[str]](200_000)
"""By dictionary and word: a dictionary always gives a word the same stems."""
door_queries = Cache[tuple[Access, Callable[..., Any], str], tuple[str, dict[str, Any]]](512)
"""The SQL of the one door, by the kind of caller and what is asked for."""


def empty_caches() -> None:
    """Ask the database and the embedder for everything anew, in searching and in indexing."""
    for cache in (query_vectors, stems, door_queries):
        cache.empty()
    empty_dictionaries()
