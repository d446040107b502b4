"""Deterministic stand-ins for tests and trials, which cost nothing."""

import re
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from knowledge.errors import IngestFailed
from knowledge.providers.protocols import (
    AnswerPart,
    Citation,
    CitedAnswer,
    Notebook,
    SourcePassage,
    StillTranscribing,
    Summary,
    Transcript,
    Vector,
    Vectors,
)
from knowledge.sources.extracted import Segment

_WORD = re.compile(r"\w+")
_STEM_LETTERS = 5


class FakeEmbedder:
    """Hashes each word's stem to a signed place in the vector; unrelated texts lie near 0."""

    name = "fake"
    background = 0.0
    languages: frozenset[str] | None = None
    reads_neighbours = False

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


_SENTENCE = re.compile(r"\S[^.!?]*[.!?]?")


class FakeSummarizer:
    """Takes a text's first sentences for what it comes to."""

    name = "fake"

    def __init__(self, *, failure: Exception | None = None) -> None:
        self.failure = failure

    def summarize(self, title: str, text: str) -> Summary:
        """The first sentence, the first three, and the first two word for word."""
        if self.failure:
            raise self.failure
        sentences = [" ".join(found[0].split()) for found in _SENTENCE.finditer(text[:10_000])]
        return Summary(
            tldr=sentences[0] if sentences else title,
            key_points=tuple(sentences[:3]),
            quotes=tuple(sentences[:2]),
            model=self.name,
            cost_usd=0.0,
        )

    def estimate_usd(self, text: str) -> float:
        """Nobody is paid."""
        return 0.0


class FakeAnswerer:
    """Answers with the first sentence that has two of the question's words, and cites it."""

    name = "fake"

    def highest_price(self, tokens_read: float) -> float:
        """Nothing, ever."""
        return 0.0

    def answer(self, question: str, passages: Sequence[SourcePassage]) -> Iterator[CitedAnswer]:
        """The sentence itself; without one, an answer that cites nothing."""
        asked = set(_WORD.findall(question.lower()))
        found = (
            AnswerPart(text.strip(), (Citation(number, at, at + 1),))
            for number, passage in enumerate(passages)
            for at, text in enumerate(passage.sentences)
            if len(asked & set(_WORD.findall(text.lower()))) > 1
        )
        part = next(found, AnswerPart("The passages do not say.", ()))
        yield CitedAnswer(parts=(part,), model=self.name, cost_usd=0.0)


_SPOKEN = ("granite", "marble", "slate", "basalt", "chalk", "flint", "gravel", "limestone")


class FakeTranscriber:
    """Hears three sentences in any file, told by its bytes; works as a vendor does."""

    name = "fake"

    def __init__(
        self,
        *,
        looks: int = 0,
        usd_per_hour: float = 0.0,
        failure: Exception | None = None,
    ) -> None:
        """Be at work for the first `looks`, or fail."""
        self.looks = looks
        self.usd_per_hour = usd_per_hour
        self.failure = failure
        self.submissions = 0

    def transcribe(self, audio: Path, notebook: Notebook, *, language: str = "") -> Transcript:
        """The same bytes give the same words; a job that is in the notes is not handed in again."""
        if self.failure:
            raise self.failure
        if not (content := audio.read_bytes()):
            raise IngestFailed("There is nothing in this file.", reason="broken_audio")
        notes = notebook.read()
        if "ref" not in notes:
            self.submissions += 1
            notes = {"ref": blake2b(content, digest_size=8).hexdigest(), "looks": 0}
            notebook.write(notes, percent=10)
        if notes["looks"] < self.looks:
            notebook.write(notes | {"looks": notes["looks"] + 1}, percent=50)
            raise StillTranscribing(1)
        return Transcript(segments=_segments_of(notes["ref"]), language=language or "en")


def _segments_of(ref: str) -> tuple[Segment, ...]:
    words = [_SPOKEN[int(digit, 16) % len(_SPOKEN)] for digit in ref]
    return tuple(
        Segment(
            start_sec=5.0 * at,
            end_sec=5.0 * at + 4.5,
            text=f"Sentence {at + 1} speaks of {words[at]} and of {words[at + 1]}.",
        )
        for at in range(3)
    )
