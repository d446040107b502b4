"""Embeddings by Voyage: the chunks of a document are read together, so each knows its context."""

import time
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Any

import numpy as np

from knowledge.errors import ProviderUnavailable
from knowledge.providers.protocols import Vector, Vectors
from knowledge.providers.retrying import ask_with_retries
from knowledge.providers.voyage_api import REFUSED, bad_key, error_of_status, unusable
from knowledge.text.token_estimate import token_count

GROUP_TOKENS = 28_000
"""Voyage reads up to 32,000 tokens together, by its own count; ours is an estimate."""

GROUP_CHUNKS = 1_000

DOCUMENT_ATTEMPTS = 5

QUERY_ATTEMPTS = 2

QUERY_TIMEOUT = 8.0
"""Somebody waits for a query, and search can do without its vector."""


class VoyageEmbedder:
    """Asks Voyage's API; whatever goes wrong there is a ProviderUnavailable here."""

    # Unrelated texts lie somewhat above this. Too low only flatters the scores, too high cuts
    # true hits off; `reindex` may measure it on the library's own chunks.
    background = 0.2
    languages: frozenset[str] | None = None
    reads_neighbours = True

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str | None = None,
        timeout: float = 60.0,
        model: str = "voyage-context-3",
        dimensions: int = 1024,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.name = model
        self.dimensions = dimensions
        self._api_key = api_key
        self._base_url = base_url.rstrip("/") if base_url else None
        self._timeout = timeout
        self._sleep = sleep

    def embed_document(self, chunks: Sequence[str]) -> Vectors:
        """Embed a document's chunks together; a very long one in consecutive groups."""
        nothing = np.empty((0, self.dimensions), np.float32)
        return np.concatenate([nothing, *map(self._embed_group, _groups(chunks))])

    def embed_query(self, text: str) -> Vector:
        """Embed what somebody asks, or give up soon."""
        timeout = min(self._timeout, QUERY_TIMEOUT)
        vector: Vector = self._embed([text], "query", QUERY_ATTEMPTS, timeout)[0]
        return vector

    def _embed_group(self, chunks: Sequence[str]) -> Vectors:
        try:
            return self._embed(chunks, "document", DOCUMENT_ATTEMPTS, self._timeout)
        except ProviderUnavailable as error:
            if error.details.get("status") != REFUSED or len(chunks) == 1:
                raise
        # The likeliest reason is that Voyage counts more tokens than we do.
        half = len(chunks) // 2
        return np.concatenate([self._embed_group(chunks[:half]), self._embed_group(chunks[half:])])

    def _embed(
        self, texts: Sequence[str], input_type: str, attempts: int, timeout: float
    ) -> Vectors:
        return ask_with_retries(
            lambda: self._ask(texts, input_type, timeout), attempts, self._sleep
        )

    def _ask(self, texts: Sequence[str], input_type: str, timeout: float) -> Vectors:
        if not self._api_key:
            raise bad_key("Voyage needs a key")
        # Here, because it takes more than half a second. Not its client class, which does not
        # retry a 500 and does not say which vector is whose.
        from voyageai.api_resources.contextualized_embedding import ContextualizedEmbedding
        from voyageai.error import VoyageError

        create: Any = ContextualizedEmbedding.create
        try:
            answer = create(
                inputs=[list(texts)],
                model=self.name,
                input_type=input_type,
                output_dimension=self.dimensions,
                api_key=self._api_key,
                base_url=self._base_url,
                request_timeout=timeout,
            )
            return _vectors(answer, len(texts), self.dimensions)
        except VoyageError as error:
            raise error_of_status(error.http_status, error.headers) from error
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise unusable() from error


def _groups(chunks: Sequence[str]) -> Iterator[list[str]]:
    """Consecutive groups of about the same size, each small enough to be read together."""
    sizes = [token_count(text) for text in chunks]
    share = sum(sizes) / max(1, ceil(sum(sizes) / GROUP_TOKENS))
    group: list[str] = []
    filled = 0.0
    for text, size in zip(chunks, sizes, strict=True):
        group.append(text)
        filled += size
        if filled >= share or len(group) == GROUP_CHUNKS:
            yield group
            group, filled = [], 0.0
    if group:
        yield group


def _vectors(answer: Any, count: int, dimensions: int) -> Vectors:
    """The vectors in the order of their texts; anything unexpected is a ValueError."""
    rows = {row["index"]: row["embedding"] for row in answer["data"][0]["data"]}
    if set(rows) != set(range(count)):
        raise ValueError(f"{len(rows)} vectors for {count} texts")
    vectors = np.array([rows[index] for index in range(count)], np.float32)
    if vectors.shape != (count, dimensions):
        raise ValueError(f"vectors of shape {vectors.shape}")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.allclose(lengths, 1, atol=0.01):  # false for infinities and NaN as well
        raise ValueError("vectors that are not of unit length")
    unit: Vectors = vectors / lengths
    return unit
