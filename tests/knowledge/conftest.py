"""A second embedder to change to, texts to fill a library with, and the index as it is."""

from collections.abc import Iterator

import pytest

from knowledge import providers
from knowledge.providers.fake import FakeEmbedder
from tests.support.index import Register


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Make an embedder known to the settings by a name."""

    def register_one(name: str, embedder: FakeEmbedder) -> FakeEmbedder:
        monkeypatch.setitem(providers._EMBEDDERS, name, lambda: embedder)
        providers._load_embedder.cache_clear()
        return embedder

    yield register_one
    providers._load_embedder.cache_clear()


@pytest.fixture
def other(register: Register) -> FakeEmbedder:
    """An embedder whose vectors cannot even be compared with the first one's."""
    return register("other", FakeEmbedder(dimensions=32))
