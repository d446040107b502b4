"""A made-up library that behaves like a real one: topical folders, few directions, Zipf's words.

Everything follows from the seed and the number of chunks, so that a peer gets the same vectors and
texts, and a later run can ask the same questions without reading anything back.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

DIMENSIONS = 1024
BACKGROUND = 0.26
"""About the cosine of two chunks that have nothing in common."""

BATCH = 5_000
_DIRECTIONS = 96  # real embeddings vary in far fewer directions than they have dimensions
_COMMON, _TOPIC, _ITEM, _CHUNK, _NOISE = 0.6, 0.75, 0.5, 0.45, 0.25
_TOPIC_CHUNKS = 500
_MOST_ITEM_CHUNKS = 19

_WORDS = 50_000
_TOPIC_WORDS = 300
_STOP_WORDS = (". The", ". It", "the", "of", "and", "to", "in", "a", "is", "that", "for", "on")
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo")


@dataclass(frozen=True, slots=True)
class Block:
    """A run of chunks that one owner has, all in one folder or in none."""

    owner: str
    folder: str
    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks about one item of a block, in words and as a vector."""

    text: str
    vector: Array


def blocks_of(chunks: int) -> list[Block]:
    """One whale with half of all, three of its folders 0.1, 1 and 10 % of all, and many others."""
    sizes = [
        ("whale", "0.1 %", chunks // 1000),
        ("whale", "1 %", chunks // 100),
        ("whale", "10 %", chunks // 10),
    ]
    sizes.append(("whale", "", chunks // 2 - sum(size for *_, size in sizes)))
    left, number = chunks - chunks // 2, 0
    while left:
        size = min(left, (1_000, 2_000, 10_000, 5_000)[number % 4])
        sizes.append((f"owner {number}", "", size))
        left, number = left - size, number + 1
    stops = np.cumsum([size for *_, size in sizes]).tolist()
    return [Block(o, f, stop - n, stop) for (o, f, n), stop in zip(sizes, stops, strict=True)]


class Library:
    """Items, chunks, vectors and texts for a number of chunks."""

    def __init__(self, chunks: int, *, dimensions: int = DIMENSIONS, seed: int = 7) -> None:
        self.chunks = chunks
        self.dimensions = dimensions
        self.seed = seed
        self.blocks = blocks_of(chunks)
        self.item_starts, self.item_topics = self._cut_items()
        self.items = len(self.item_starts)

    def _random(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *purpose])

    def _cut_items(self) -> tuple[Array, Array]:
        """Where items begin, and what they are about; neither runs over a block's end."""
        random = self._random(1)
        starts: list[int] = []
        topics: list[int] = []
        topic = -1
        for block in self.blocks:
            at = next_topic = block.start
            while at < block.stop:
                if at >= next_topic:
                    topic, next_topic = topic + 1, at + _TOPIC_CHUNKS
                starts.append(at)
                topics.append(topic)
                at += int(random.integers(1, _MOST_ITEM_CHUNKS + 1))
        return np.array(starts), np.array(topics)

    def item_of(self, chunk: int | Array) -> Any:
        return np.searchsorted(self.item_starts, chunk, side="right") - 1

    def item_sizes(self) -> Array:
        return np.diff(self.item_starts, append=self.chunks)

    @cached_property
    def item_ids(self) -> list[UUID]:
        """Random as the product's are, since their order decides what lies together."""
        raw = self._random(2).bytes(16 * self.items)
        return [UUID(bytes=raw[at : at + 16], version=4) for at in range(0, len(raw), 16)]

    # Vectors ------------------------------------------------------------------------------

    @cached_property
    def _projection(self) -> Array:
        spread = np.arange(1, _DIRECTIONS + 1, dtype=np.float32)[:, None] ** -0.3
        directions = self._random(3).standard_normal((_DIRECTIONS, self.dimensions))
        directions *= spread / np.sqrt((spread**2).sum())
        return np.asarray(directions / np.sqrt(self.dimensions), np.float32)

    @cached_property
    def _common(self) -> Array:
        common = self._random(4).standard_normal(self.dimensions)
        return (_COMMON * common / np.linalg.norm(common)).astype(np.float32)

    @cached_property
    def _meanings(self) -> Array:
        """What each item is about: its topic, and its own turn on it."""
        random = self._random(5)
        topics = random.standard_normal((self.item_topics.max() + 1, _DIRECTIONS), np.float32)
        own = random.standard_normal((self.items, _DIRECTIONS), np.float32)
        meanings: Array = _TOPIC * topics[self.item_topics] + _ITEM * own
        return meanings

    def _vectors_about(self, items: Array, random: np.random.Generator) -> Array:
        own = random.standard_normal((len(items), _DIRECTIONS), np.float32)
        vectors = (self._meanings[items] + _CHUNK * own) @ self._projection + self._common
        noise = random.standard_normal(vectors.shape, np.float32)
        vectors += noise * (_NOISE / np.sqrt(self.dimensions))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors, np.float16)

    def batches(self) -> Iterator[range]:
        """Runs of chunks whose vectors and texts are made together."""
        for start in range(0, self.chunks, BATCH):
            yield range(start, min(start + BATCH, self.chunks))

    def vectors(self, batch: range) -> Array:
        """The vectors of one of the `batches`, in half precision as the product keeps them."""
        return self._vectors_about(self.item_of(np.array(batch)), self._random(6, batch.start))

    # Texts --------------------------------------------------------------------------------

    @cached_property
    def _words(self) -> Array:
        """The common ones are short; the last letter keeps the stemmer from joining two."""
        base = len(_SYLLABLES)
        words = []
        for number in range(_WORDS):
            at, word = number, ""
            while True:
                at, syllable = divmod(at, base)
                word += _SYLLABLES[syllable]
                if not at:
                    break
            words.append(word + "x")
        return np.array([*words, *_STOP_WORDS], object)

    @cached_property
    def _frequencies(self) -> Array:
        weights = 1 / np.arange(2, _WORDS + 2) ** 1.05
        return np.cumsum(weights / weights.sum())

    @cached_property
    def _topic_words(self) -> Array:
        random = self._random(7)
        return random.integers(300, _WORDS, (self.item_topics.max() + 1, _TOPIC_WORDS))

    def _word_numbers(self, items: Array, longest: int, random: np.random.Generator) -> Array:
        """Two fifths stop words, the rest everyday words, the topic's and a few of the item's."""
        shape = (len(items), longest)
        everyday = np.searchsorted(self._frequencies, random.random(shape))
        place = (_TOPIC_WORDS * random.random(shape) ** 2).astype(int)
        topical = self._topic_words[self.item_topics[items][:, None], place]
        # A handful of names that hardly any other item mentions.
        own = (items[:, None] * 7919 + random.integers(0, 5, shape)) % _WORDS
        stop = random.integers(_WORDS, _WORDS + len(_STOP_WORDS), shape)
        kind = random.random(shape)
        return np.select([kind < 0.4, kind < 0.72, kind < 0.96], [stop, everyday, topical], own)

    def _sentences(self, numbers: Array, lengths: Array) -> list[str]:
        rows = self._words[numbers]
        return [" ".join(row[:size]) for row, size in zip(rows.tolist(), lengths, strict=True)]

    def texts(self, batch: range) -> list[str]:
        """The texts of one of the `batches`: 150 to 200 words each."""
        random = self._random(8, batch.start)
        numbers = self._word_numbers(self.item_of(np.array(batch)), 200, random)
        return self._sentences(numbers, random.integers(150, 201, len(batch)))

    def questions(self, start: int, stop: int, count: int) -> list[Question]:
        """Questions about items in a run of chunks: 8 to 14 words, no two alike."""
        random = self._random(9, start, stop)
        items = self.item_of(random.integers(start, stop, count))
        texts = self._sentences(
            self._word_numbers(items, 14, random), random.integers(8, 15, count)
        )
        vectors = self._vectors_about(items, random).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [
            Question(f"{text} {self._words[number]}", vector)
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
