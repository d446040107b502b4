"""A second embedder to change to, texts to fill a library with, and the index as it is."""

import io
import threading
from collections.abc import Callable, Iterator

import pytest
from django.core.management import call_command
from django.db import connection

from knowledge import providers
from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.maintenance.checking import check
from knowledge.models import ChunkEmbedding, Generation, Item
from knowledge.providers.fake import FakeEmbedder

SENTENCE = "The harbour keeps its lights on while the ships come home. "
WORDS = ["harbour", "glacier", "orchestra", "satellite", "vineyard", "locomotive", "cathedral"]

Register = Callable[[str, FakeEmbedder], FakeEmbedder]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Make an embedder known to the settings by a name."""

    def register_one(name: str, embedder: FakeEmbedder) -> FakeEmbedder:
        monkeypatch.setitem(providers._EMBEDDERS, name, lambda: embedder)
        providers._loaded.cache_clear()
        return embedder

    yield register_one
    providers._loaded.cache_clear()


@pytest.fixture
def other(register: Register) -> FakeEmbedder:
    """An embedder whose vectors cannot even be compared with the first one's."""
    return register("other", FakeEmbedder(dimensions=32))


def faults() -> dict[str, int]:
    return {fault.about: fault.rows for fault in check().faults}


def text_of(chunks: int) -> str:
    return "\n\n".join(f"# Part {n}\n\n{SENTENCE * 18}" for n in range(chunks))


def reindex(*options: str) -> str:
    out = io.StringIO()
    call_command("reindex", *options, stdout=out)
    return out.getvalue()


def fill(access: Access, count: int) -> list[Item]:
    return [
        add_text(
            access,
            title=f"On the {WORDS[n % len(WORDS)]}",
            text=f"Note {n} about the {WORDS[n % len(WORDS)]}, which nobody has read. " * (n + 1),
        )
        for n in range(count)
    ]


def vectors_by_state() -> dict[str, int]:
    return {
        generation.state: ChunkEmbedding.objects.filter(generation=generation).count()
        for generation in Generation.objects.all()
    }


def in_threads(works: list[Callable[[], None]]) -> None:
    failures: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
