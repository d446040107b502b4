"""Searches and walks by plain keywords, as tests ask for them."""

from typing import Any

from knowledge.access import Access
from knowledge.memory import exploring, searching
from knowledge.memory.exploring import Exploration, ExploreRequest
from knowledge.memory.requests import SearchRequest
from knowledge.memory.searching import MemoryAnswer
from knowledge.retrieval import search as library
from knowledge.retrieval.search import Answer, LibrarySearchRequest


def search(access: Access, **asked: Any) -> Answer:
    return library.search(access, LibrarySearchRequest(**asked))


def search_memory(access: Access, **asked: Any) -> MemoryAnswer:
    return searching.search_memory(access, SearchRequest(**asked))


def explore(access: Access, **asked: Any) -> Exploration:
    return exploring.explore(access, ExploreRequest(**asked))
