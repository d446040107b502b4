"""A deterministic embedder for tests and trials: texts that share words lie near each other."""

import re
import time
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from knowledge.providers.protocols import Vector, Vectors

_WORD = re.compile(r"\w+")
_STEM_LETTERS = 5


class FakeEmbedder:
    """Hashes each word's stem to a signed place in the vector; unrelated texts lie near 0."""

    name = "fake"
    background = 0.0

    def __init__(
        self, dimensions: int = 64, *, failure: Exception | None = None, delay: float = 0.0
    ) -> None:
        self.dimensions = dimensions
        self.failure = failure
        self.delay = delay

    def embed_document(self, chunks: Sequence[str]) -> Vectors:
        """Embed each chunk by its own words alone."""
        self._misbehave()
        vectors = np.zeros((len(chunks), self.dimensions), np.float32)
        for row, text in enumerate(chunks):
            vectors[row] = self._embed(text)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Embed a question just as a chunk."""
        self._misbehave()
        return self._embed(text)

    def _misbehave(self) -> None:
        if self.delay:
            time.sleep(self.delay)
        if self.failure:
            raise self.failure

    def _embed(self, text: str) -> Vector:
        vector = np.zeros(self.dimensions, np.float32)
        for stem in {word[:_STEM_LETTERS] for word in _WORD.findall(text.lower())}:
            number = _number(stem)
            vector[(number >> 1) % self.dimensions] += 1 if number & 1 else -1
        length = float(np.linalg.norm(vector))
        if not length:
            vector[0] = length = 1.0
        return vector / np.float32(length)


@lru_cache(maxsize=65_536)
def _number(stem: str) -> int:
    digest = blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
