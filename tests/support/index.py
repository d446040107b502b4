"""Texts to fill a library with, and the index as it is."""

import io
from collections.abc import Callable

from django.core.management import call_command

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.maintenance.checking import check
from knowledge.models import ChunkEmbedding, Generation, Item
from knowledge.providers.fake import FakeEmbedder

SENTENCE = "The harbour keeps its lights on while the ships come home. "
WORDS = ["harbour", "glacier", "orchestra", "satellite", "vineyard", "locomotive", "cathedral"]
Register = Callable[[str, FakeEmbedder], FakeEmbedder]


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
