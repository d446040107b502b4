"""What Quarry asks of the vendors and models behind it; vendors raise only our own errors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One embedding of unit length, shape (dimensions,)."""

Vectors = NDArray[np.float32]
"""Embeddings of unit length, shape (count, dimensions)."""


class Embedder(Protocol):
    """Turns text into vectors whose cosine says how near two meanings are."""

    name: str
    dimensions: int
    background: float
    """The cosine at which unrelated texts lie; scores are counted from here."""

    def embed_document(self, chunks: Sequence[str]) -> Vectors:
        """Embed the chunks of one document together, so that context can inform each."""

    def embed_query(self, text: str) -> Vector:
        """Embed what somebody asks, to be compared with document chunks."""
