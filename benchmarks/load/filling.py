"""The library that is called: the synthetic one under the server's own embedder, and tokens."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import harness
from benchmarks.synthetic import Library

TOKENS = 64
QUESTIONS = 40
DIMENSIONS = 384  # as the embedder that the server runs


@dataclass(frozen=True)
class Loaded:
    """What a filled library is called by: tokens of its owners, and what to ask of each."""

    home: Path
    chunks: int
    tokens: list[str]
    owners: list[int]
    items: list[list[str]]
    questions: list[str]
    vectors: list[list[float]]

    @classmethod
    def read(cls, home: Path, chunks: int) -> "Loaded":
        return cls(home, chunks, **json.loads((home / "loaded.json").read_text()))


def fill(home: Path, chunks: int) -> None:
    """Write the library and what it is called by."""
    library = Library(chunks, dimensions=DIMENSIONS)
    harness.start_product(home, fresh=True)
    from django.contrib.auth import get_user_model

    from benchmarks.loading import load
    from knowledge.models import Item
    from tokens.minting import TokenRequest, mint_token

    load(library)
    names = dict.fromkeys(block.owner for block in library.blocks)
    owners = [get_user_model().objects.get(username=name) for name in names]
    request = TokenRequest(
        name="load", toolsets=["library", "memory", "registry"], folder_ids=None, can_write=True
    )
    tokens = [mint_token(owners[at % len(owners)], request)[1] for at in range(TOKENS)]
    block = library.blocks[0]
    questions = library.questions(block.start, block.stop, QUESTIONS)
    items = [
        [
            str(pk)
            for pk in Item.objects.filter(owner=owner).values_list("pk", flat=True)[:QUESTIONS]
        ]
        for owner in owners[:TOKENS]
    ]
    loaded = {
        "tokens": tokens,
        "owners": [owner.pk for owner in owners],
        "items": [items[at % len(items)] for at in range(TOKENS)],
        "questions": [question.text for question in questions],
        "vectors": [np.round(question.vector, 5).tolist() for question in questions],
    }
    (home / "loaded.json").write_text(json.dumps(loaded))


if __name__ == "__main__":
    fill(Path(sys.argv[1]), int(sys.argv[2]))
