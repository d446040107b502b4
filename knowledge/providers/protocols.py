"""What Quarry asks of the vendors and models behind it; vendors raise only our own errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from knowledge.sources.extracted import Segment

Vector = NDArray[np.float32]
"""One embedding of unit length, shape (dimensions,)."""

Vectors = NDArray[np.float32]
"""Embeddings of unit length, shape (count, dimensions)."""


class Embedder(Protocol):
    """Turns text into vectors whose cosine says how near two meanings are."""

    name: str
    languages: frozenset[str] | None
    """What it knows by their two letters; None if it knows many, or nobody says which."""
    reads_neighbours: bool
    """Whether a chunk's vector depends on its document's others: then each is asked for alone."""

    @property
    def dimensions(self) -> int:
        """How long its vectors are."""

    @property
    def background(self) -> float:
        """The cosine at which unrelated texts lie; scores are counted from here."""

    def embed_document(self, chunks: Sequence[str]) -> Vectors:
        """Embed the chunks of one document together, so that context can inform each."""

    def embed_query(self, text: str) -> Vector:
        """Embed what somebody asks, to be compared with document chunks."""


class Reranker(Protocol):
    """Reads a question and a text together, which tells more than their vectors do."""

    name: str
    usual_sec: float
    """What a search should wait for it, if nobody says otherwise."""

    def relevance(self, question: str, texts: Sequence[str], *, seconds: float) -> Sequence[float]:
        """How well each text answers, more being better; ProviderUnavailable if not in time."""


@runtime_checkable
class LocalModel(Protocol):
    """A provider whose model runs in this process."""

    def load(self) -> None:
        """Have the model in memory before it is needed."""


@runtime_checkable
class TriesOut(Protocol):
    """A provider that can be tried for next to nothing."""

    def try_out(self) -> None:
        """Ask once; ProviderUnavailable with the reason if it does not work."""


class Notebook(Protocol):
    """What a transcriber must remember to go on when its worker is killed; kept at once."""

    def read(self) -> dict[str, Any]:
        """The notes as they were last written; empty at first."""

    def write(self, notes: Mapping[str, Any], *, percent: int | None = None) -> None:
        """Replace the notes and say how far the work is. They must be plain JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Speech as text, in order."""

    segments: tuple[Segment, ...]
    language: str = ""


class StillTranscribing(Exception):
    """A vendor is at work; call again after some seconds, with the same notebook."""

    def __init__(self, retry_after_sec: float) -> None:
        super().__init__(f"Ask again in {retry_after_sec} seconds.")
        self.retry_after_sec = retry_after_sec


class Transcriber(Protocol):
    """Turns recorded speech into text with its seconds."""

    name: str
    usd_per_hour: float

    def transcribe(self, audio: Path, notebook: Notebook, *, language: str = "") -> Transcript:
        """The transcript of an audio or video file; never pays twice for the same notebook.

        Raises StillTranscribing while a vendor works, ProviderUnavailable for what may pass,
        and IngestFailed for what cannot: broken audio, no speech, refused by the vendor.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of a text, and what it cost."""

    tldr: str
    key_points: tuple[str, ...]
    quotes: tuple[str, ...]
    """Word for word from the text."""
    model: str
    cost_usd: float


class Summarizer(Protocol):
    """Sums a text up."""

    name: str

    def summarize(self, title: str, text: str) -> Summary:
        """The summary; raises ProviderUnavailable with a clear reason if none can be made."""

    def estimate_usd(self, text: str) -> float:
        """About what a summary of the text will cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePassage:
    """A passage that an answer may cite, sentence by sentence."""

    title: str
    source: str
    """Tells the model which passages are of one item."""
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """The passage by its number, and its first cited sentence and the one after the last."""

    passage: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """Some of an answer's text, and what it cites; often a piece of a sentence only."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedAnswer:
    """An answer in its parts, and what it cost."""

    parts: tuple[AnswerPart, ...]
    model: str
    cost_usd: float


class Answerer(Protocol):
    """Answers a question out of passages."""

    name: str

    def highest_price(self, tokens_read: float) -> float:
        """What an answer out of so many tokens costs at most, in US dollars."""

    def answer(self, question: str, passages: Sequence[SourcePassage]) -> Iterator[CitedAnswer]:
        """The answer as far as it has come, again and again, and last the whole.

        A whole one without a citation says that the passages have none. Raises
        ProviderUnavailable with a clear reason if none can be made.
        """
