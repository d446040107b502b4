"""IBM's granite-embedding-30m-english, run on this machine: no key and no network."""

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.budgets import EMBED_IN_PLACE
from knowledge.errors import ProviderUnavailable
from knowledge.providers.granite_file import ready_graph
from knowledge.providers.protocols import Vector, Vectors
from knowledge.sources.parsers.frames import Frame
from knowledge.sources.readers import Readers, opened_readers
from knowledge.text.token_estimate import CHARACTER_COST, token_count

MAX_TOKENS = 512
"""The most that the model reads of a text, with the two tokens that stand around every text."""

TEXT_START, TEXT_END = 0, 2
"""The tokens that stand around every text, also around a part of one."""

MOST_WINDOWS = 6
"""Parts of a document that are read; its longest chunk, a code fence of 1,500 tokens, has four."""

_WINDOW = MAX_TOKENS - 2

LONGEST_TOKEN = 128
"""Characters in the longest word of the vocabulary."""

LONG_TO_EMBED = 4_000
"""Characters that take a reader a quarter of a second and more."""
QUERY_SECONDS, DOCUMENT_SECONDS = 5.0, 15.0
"""How long a reader may take; a search goes on without meaning, and a job embeds the document."""


class GraniteEmbedder:
    """An embedder of English that loads its model on first use and shares it among threads."""

    name = "granite-embedding-30m-english"
    languages: frozenset[str] | None = frozenset({"en"})
    dimensions = 384
    # The mean over 8,000 pairs of a question and a random chunk of the same collection, from four
    # public ones (product docs, code, mixed prose, abstracts: 0.58, 0.53, 0.49, 0.61). Pairs from
    # different collections lie at 0.47, and 95 in 100 of them below 0.54. Hybrid search ranks alike
    # for anything from 0.45 to 0.6.
    background = 0.55
    reads_neighbours = False
    max_tokens = MAX_TOKENS

    def __init__(self, cache_dir: Path, threads: int | None = None) -> None:
        """Keep the built model in `cache_dir`; embed documents on `threads` cores, or on all."""
        self._cache_dir = cache_dir
        self._threads = threads or os.cpu_count() or 1
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    def load(self) -> None:
        """Have the model in memory; it has no threads yet, so that a fork shares it."""
        with _failures_as_unavailable():
            self._model()

    def embed_document(self, chunks: Sequence[str]) -> Vectors:
        """Embed every chunk by itself: this model takes no context from its neighbours.

        One longer than the model reads gets the mean of its parts.
        """
        if not chunks:
            return np.empty((0, self.dimensions), np.float32)
        if readers := _readers_for(chunks):
            return self._embed_by_reader(readers, chunks, seconds=DOCUMENT_SECONDS)
        with _failures_as_unavailable():
            model = self._model()
            if len(chunks) == 1:  # no thread for a note: under load it waits for the interpreter
                return model.embed_whole(chunks[0])[np.newaxis]
            # A pool for each call, as the threads of a lasting one would not survive a fork.
            with ThreadPoolExecutor(min(self._threads, len(chunks))) as pool:
                return np.stack(list(pool.map(model.embed_whole, chunks)))

    def embed_query(self, text: str) -> Vector:
        """Embed a question as it stands; this model wants no prefix."""
        if readers := _readers_for([text]):
            vector: Vector = self._embed_by_reader(readers, [text], seconds=QUERY_SECONDS)[0]
            return vector
        with _failures_as_unavailable():
            return self._model().embed(text)

    def _embed_by_reader(
        self, readers: Readers, texts: Sequence[str], *, seconds: float
    ) -> Vectors:
        request = {"cache_dir": str(self._cache_dir), "texts": list(texts)}
        is_long = sum(map(len, texts)) > LONG_TO_EMBED
        target = f"{__name__}:embed_in_reader"
        given = readers.call(target, request, seconds=seconds, is_long=is_long)
        return np.frombuffer(given.blobs[0], np.float32).reshape(len(texts), self.dimensions)

    def _model(self) -> "_Model":
        with self._loading:
            if self._loaded is None:
                self._loaded = _Model(self._cache_dir)
            return self._loaded


def _readers_for(texts: Sequence[str]) -> Readers | None:
    """The readers of this process, if it has any and this is too much to embed beside others."""
    readers = opened_readers()
    # Whatever any character costs at least is enough to see that a long text is too much.
    is_long = readers and sum(map(len, texts)) > EMBED_IN_PLACE.most / CHARACTER_COST
    is_much = readers and (is_long or sum(map(token_count, texts)) > EMBED_IN_PLACE.most)
    return readers if is_much else None


def embed_in_reader(asked: Frame) -> Frame:
    """The vectors of texts, in a reader process."""
    embedder = _reader_embedder(asked.value["cache_dir"])
    return Frame(None, (embedder.embed_document(asked.value["texts"]).tobytes(),))


@cache
def _reader_embedder(cache_dir: str) -> GraniteEmbedder:
    return GraniteEmbedder(Path(cache_dir))


class _Model:
    """The tokenizer and the encoder in memory; safe to use from many threads at once."""

    def __init__(self, cache_dir: Path) -> None:
        from tokenizers import Tokenizer

        self.session = _session(ready_graph(cache_dir), cache_dir)
        metadata = self.session.get_modelmeta().custom_metadata_map
        self.tokenizer = Tokenizer.from_str(metadata["tokenizer"])
        # Without this a literal <s> or <mask> in somebody's text would act as a marker.
        self.tokenizer.encode_special_tokens = True

    def embed(self, text: str) -> Vector:
        """The vector of the beginning, as far as the model reads at once."""
        return self._vector(self._tokens(text, windows=1))

    def embed_whole(self, text: str) -> Vector:
        """The vector of a text, or the mean of those of its parts, which are of even length."""
        tokens = self._tokens(text, windows=MOST_WINDOWS)
        if len(tokens) <= _WINDOW:
            vector = self._vector(tokens)
            return vector / np.linalg.norm(vector)
        parts = np.array_split(tokens, ceil(len(tokens) / _WINDOW))
        mean: Vector = np.mean([self._vector(part) for part in parts], axis=0)
        return mean / np.linalg.norm(mean)

    def _vector(self, tokens: Sequence[int] | NDArray[np.int64]) -> Vector:
        read = np.array([[TEXT_START, *tokens, TEXT_END]], np.int64)
        vector: Vector = self.session.run(["vectors"], {"tokens": read})[0][0]
        return vector

    def _tokens(self, text: str, *, windows: int) -> list[int]:
        # Nothing behind this many characters can be read, so it is not worth tokenizing.
        readable = _readable(text[: windows * _WINDOW * LONGEST_TOKEN])
        tokens: list[int] = self.tokenizer.encode(readable, add_special_tokens=False).ids
        return tokens[: windows * _WINDOW]


def _session(graph: bytes, cache_dir: Path) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    # One core for each text: cores are put to use by embedding several texts at once, which
    # wastes less than dividing one text, and gives the same vector however many there are.
    options.intra_op_num_threads = 1
    options.enable_mem_pattern = False  # a plan kept for every length of text only costs memory
    options.log_severity_level = 3
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(cache_dir.resolve())
    )
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _readable(text: str) -> str:
    """The text without lone surrogates, which JSON can smuggle in and the tokenizer refuses."""
    return text.encode(errors="replace").decode()


@contextmanager
def _failures_as_unavailable() -> Iterator[None]:
    try:
        yield
    except ProviderUnavailable:
        raise
    except Exception as error:
        raise ProviderUnavailable(
            "The local embedding model failed to run; make sure that onnxruntime and tokenizers "
            "are installed as required, and that the server has memory to spare."
        ) from error
