"""What the judge of orders weighs in sentences, as numbers: their words, letters and ideas."""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, chain, combinations
from typing import Any, NamedTuple

import numpy as np

from knowledge.screening.concepts import folded
from knowledge.screening.reading import ADDRESS, Ideas

Numbers = np.ndarray[Any, np.dtype[np.uint64]]

BITS = 20
"""The numbers of traits have so many bits; what falls on one number is weighed as one trait."""

_RUNS_OF_WORDS = (1, 2, 3)
_RUNS_OF_LETTERS = (3, 4, 5)
_WORD = re.compile(r"@?\w+@?|[\[\]{}<>:!\"“”'`|?]")
_BLANKS = re.compile(r"\s+")


class Traits(NamedTuple):
    """The traits of a passage, as often as it has them."""

    words: Numbers
    letters: Numbers
    ideas: Numbers


class Marked(NamedTuple):
    """Some traits of every sentence one after the other, and where those of each begin."""

    numbers: Numbers
    bounds: Sequence[int]


class Reading:
    """The traits of sentences, to be had for any run of them."""

    def __init__(self, sentences: Sequence[str], ideas: Sequence[Ideas]) -> None:
        plain = [plainly(sentence) for sentence in sentences]
        words = [[_number_of(word) for word in _WORD.findall(one)] for one in plain]
        letters = [f" {one} " for one in plain]
        codes = np.frombuffer("".join(letters).encode("utf-32-le"), np.uint32)
        self._words = _in_runs(np.fromiter(chain(*words), np.uint64), words, _RUNS_OF_WORDS)
        self._letters = _in_runs(codes.astype(np.uint64), letters, _RUNS_OF_LETTERS)
        self._ideas = _marked([_ideas(each) for each in ideas])

    def of(self, part: slice) -> Traits:
        """Single words and what follows on what; runs of letters; each idea, and each two."""
        return Traits(*(_cut(sort, part) for sort in (self._words, self._letters, self._ideas)))


def plainly(sentence: str) -> str:
    """In one spelling, with every address reduced to what sort it is."""
    known = ADDRESS.sub(lambda found: " @mail@ " if "@" in found[0] else " http@ ", sentence)
    plain = _BLANKS.sub(" ", folded(known)).strip()
    # Lone surrogates, which JSON can smuggle in, have no bytes.
    return plain if plain.isascii() else plain.encode(errors="replace").decode()


@lru_cache(maxsize=1 << 16)
def _number_of(word: str) -> int:
    return zlib.crc32(word.encode())


@lru_cache(maxsize=1 << 12)
def _ideas(ideas: Ideas) -> Numbers:
    values = sorted(idea.value for idea in ideas)
    pairs = [one << 8 | other for one, other in combinations(values, 2)]
    return _strewn(np.array([*values, *pairs], np.uint64))


def _marked(of_sentences: Sequence[Numbers]) -> list[Marked]:
    bounds = [0, *accumulate(map(len, of_sentences))]
    return [Marked(np.concatenate([np.empty(0, np.uint64), *of_sentences]), bounds)]


def _in_runs(
    parts: Numbers, sentences: Sequence[Sequence[Any]], lengths: Sequence[int]
) -> list[Marked]:
    """The runs of each length that lie within a sentence."""
    sizes = np.array([len(sentence) for sentence in sentences], np.int64)
    ends = np.cumsum(sizes)
    left = np.repeat(ends, sizes) - np.arange(len(parts))
    found = []
    for length in lengths:
        runs = np.zeros(max(0, len(parts) - length + 1), np.uint64)
        for place in range(length):
            runs = runs * _STEP + parts[place : place + len(runs)]
        bounds = [0, *np.cumsum(np.maximum(0, sizes - length + 1)).tolist()]
        runs = runs[left[: len(runs)] >= length]
        found.append(Marked(_strewn(runs + np.uint64(length << 40)), bounds))
    return found


_STEP = np.uint64(0x100000001B3)


def _strewn(values: Numbers) -> Numbers:
    """Over all numbers that a trait may have, alike values far apart."""
    values = values * np.uint64(0x9E3779B97F4A7C15)
    values ^= values >> np.uint64(29)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    return values >> np.uint64(64 - BITS)


def _cut(marked: Sequence[Marked], part: slice) -> Numbers:
    first, last, _ = part.indices(len(marked[0].bounds) - 1)
    return np.concatenate([each.numbers[each.bounds[first] : each.bounds[last]] for each in marked])
