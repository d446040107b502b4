"""Embeddings by any server that speaks OpenAI's protocol."""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from knowledge.errors import ProviderUnavailable
from knowledge.providers.known_models import languages_of, prefixes_of
from knowledge.providers.measuring import Figures, measure
from knowledge.providers.openai_api import OpenAIServer
from knowledge.providers.protocols import Vector, Vectors
from knowledge.providers.retrying import ask_with_retries

AT_ONCE = 32
"""Texts of one request: as many as TEI takes unless it is told otherwise."""

DOCUMENT_ATTEMPTS, QUERY_ATTEMPTS = 5, 1
DOCUMENT_SEC, QUERY_SEC = 120.0, 8.0
SHORTEST_CUT = 200
"""Characters; a text that a model calls too long is cut in halves, but no shorter than this."""


class OpenAIEmbedder:
    """Embeds each chunk by itself; dimensions and background are measured when first asked for."""

    reads_neighbours = False

    def __init__(
        self,
        server: OpenAIServer,
        *,
        dimensions: int | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Ask for vectors of so many dimensions, or take them as the model gives them."""
        self.name = server.model
        self.languages = languages_of(server.model)
        self._server = server
        self._asked_dimensions = dimensions
        self._sleep = sleep
        self._at_once = AT_ONCE
        self._measuring = Lock()
        self._before_query, self._before_document = prefixes_of(server.model)

    @property
    def dimensions(self) -> int:
        return self._figures.dimensions

    @property
    def background(self) -> float:
        return self._figures.background

    def embed_document(self, chunks: Sequence[str]) -> Vectors:
        """Embed chunks in requests of as many as the server takes."""
        vectors, at = [], 0
        while at < len(chunks):
            texts = chunks[at : at + self._at_once]
            vectors.append(self._embed_some(self._as_documents(texts)))
            at += len(texts)
        return np.concatenate(vectors) if vectors else np.empty((0, self.dimensions), np.float32)

    def embed_query(self, text: str) -> Vector:
        """Embed what somebody asks, or give up soon."""
        vector: Vector = self._ask([self._before_query + text], QUERY_ATTEMPTS, QUERY_SEC)[0]
        return vector

    @property
    def _figures(self) -> Figures:
        with self._measuring:
            return self._measured_figures

    @cached_property
    def _measured_figures(self) -> Figures:
        """Asked for once: a search or an addition waits for it, and all the others behind them."""
        return measure(
            lambda texts: self._ask(self._as_documents(texts), QUERY_ATTEMPTS, DOCUMENT_SEC),
            self.embed_query,
        )

    def _as_documents(self, texts: Sequence[str]) -> list[str]:
        return [self._before_document + text for text in texts]

    def _embed_some(self, texts: Sequence[str]) -> Vectors:
        """What a server calls too much is asked for in halves, and a text too long is cut."""
        try:
            return self._ask(texts, DOCUMENT_ATTEMPTS, DOCUMENT_SEC)
        except ProviderUnavailable as error:
            if not error.details.get("is_too_much"):
                raise
            if len(texts) == 1 and len(texts[0]) <= SHORTEST_CUT:
                raise
        if len(texts) == 1:
            return self._embed_some([texts[0][: max(SHORTEST_CUT, len(texts[0]) // 2)]])
        half = len(texts) // 2
        parts = [self._embed_some(texts[:half]), self._embed_some(texts[half:])]
        self._at_once = min(self._at_once, max(1, half))
        return np.concatenate(parts)

    def _ask(self, texts: Sequence[str], attempts: int, seconds: float) -> Vectors:
        body: dict[str, Any] = {
            "model": self.name,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._asked_dimensions:
            body["dimensions"] = self._asked_dimensions

        def ask() -> Vectors:
            answer = self._server.ask("/embeddings", seconds=seconds, json=body)
            return self._vectors(answer, len(texts))

        return ask_with_retries(ask, attempts, self._sleep)

    def _vectors(self, answer: dict[str, Any], count: int) -> Vectors:
        """One vector of unit length for each text, in the order of the texts."""
        try:
            rows = {int(row["index"]): row["embedding"] for row in answer["data"]}
            if set(rows) != set(range(count)):
                raise self._server.unusable(f"{len(rows)} vectors for {count} texts")
            vectors = np.array([rows[at] for at in range(count)], np.float32)
            dimensions = vectors.shape[1]
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise self._server.unusable("no list of vectors") from error
        if self._asked_dimensions not in (None, dimensions):
            raise self._server.refuse(
                f"{self.name} was asked for {self._asked_dimensions} dimensions and answered "
                f"{dimensions}; name it without @{self._asked_dimensions}."
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise self._server.unusable("a vector that is no direction")
        unit: Vectors = vectors / lengths
        return unit
