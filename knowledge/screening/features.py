"""The features that the judge weighs: hashed runs of letters and words, with where each begins."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

BITS = 22
"""A feature is a number of so many bits; features that collide share a weight."""
LETTER_RUNS = (3, 4, 5)
STEM = 5
"""Words are also taken by their first letters, so that their endings matter less."""

Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Places = np.ndarray[Any, np.dtype[np.int64]]

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)
_SPACE, _LETTER, _ALONE = 0, 1, 2
_SIGNS = "[]{}<>:!\"“”'`|?@"
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x2E80, 0x9FFF),
    (0xF900, 0xFAFF),
)
"""Scripts that put no spaces between words: each of their letters counts as a word."""


class Feature(NamedTuple):
    """All features of one sort in a text: where each begins and ends, and its number."""

    starts: Places
    ends: Places
    numbers: Hashes


class _Runs(NamedTuple):
    """All runs of one sort in a text: where each begins and ends, and its hash."""

    sort: int
    starts: Places
    ends: Places
    hashes: Hashes


def features_of(text: str) -> Iterator[Feature]:
    """The features of a normalised text, sort by sort, in the order of the text."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    inverse, sums = _prefix_hashes(codes)
    starts, ends = _words(codes)
    words = _hash_runs(sums, inverse, starts, ends)
    stems = _hash_runs(sums, inverse, starts, np.minimum(ends, starts + STEM))
    return _spread(
        [
            *(_letters(sums, inverse, length) for length in LETTER_RUNS),
            _Runs(11, starts, ends, words),
            _pairs(starts, ends, words, 1, 12),
            _triples(starts, ends, words, 13),
            _pairs(starts, ends, stems, 2, 14),
            _pairs(starts, ends, stems, 3, 15),
        ]
    )


def _prefix_hashes(codes: np.ndarray[Any, Any]) -> tuple[Hashes, Hashes]:
    """Sums from which the hash of any run follows by one subtraction, modulo 2**64."""
    inverse = np.full(len(codes) + 1, _INVERSE, np.uint64)
    inverse[0] = 1
    powers = np.full(len(codes) + 1, _BASE, np.uint64)
    powers[0] = 1
    powers = np.cumprod(powers)
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum((codes.astype(np.uint64) + np.uint64(1)) * powers[:-1], out=sums[1:])
    return np.cumprod(inverse), sums


def _hash_runs(sums: Hashes, inverse: Hashes, starts: Places, ends: Places) -> Hashes:
    return (sums[ends] - sums[starts]) * inverse[starts]


def _letters(sums: Hashes, inverse: Hashes, length: int) -> _Runs:
    """The runs of so many letters, one from each letter on."""
    count = max(0, len(sums) - length)
    hashes = (sums[length : length + count] - sums[:count]) * inverse[:count]
    starts = np.arange(count)
    return _Runs(length, starts, starts + length, hashes)


def _words(codes: np.ndarray[Any, Any]) -> tuple[Places, Places]:
    """Where words begin and end; a sign that orders are made with is a word by itself."""
    classes = _classes(codes)
    before = np.concatenate([[_SPACE], classes[:-1]])
    after = np.concatenate([classes[1:], [_SPACE]])
    is_start = (classes == _ALONE) | ((classes == _LETTER) & (before != _LETTER))
    is_end = (classes == _ALONE) | ((classes == _LETTER) & (after != _LETTER))
    return np.flatnonzero(is_start), np.flatnonzero(is_end) + 1


def _classes(codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    classes: np.ndarray[Any, Any] = _ASCII[np.minimum(codes, 127)]
    wide = codes > 126
    if wide.any():
        known, places = np.unique(codes[wide], return_inverse=True)
        found = np.array([_class_of(chr(code)) for code in known.tolist()], np.uint8)
        classes[wide] = found[places]
    return classes


def _class_of(sign: str) -> int:
    code = ord(sign)
    if sign in _SIGNS or any(first <= code <= last for first, last in _WITHOUT_SPACES):
        return _ALONE
    return _LETTER if unicodedata.category(sign)[0] in "LMN" or sign == "_" else _SPACE


_ASCII = np.array([_class_of(chr(code)) for code in range(128)], np.uint8)


def _pairs(starts: Places, ends: Places, hashes: Hashes, apart: int, sort: int) -> _Runs:
    few = max(0, len(hashes) - apart)
    return _Runs(sort, starts[:few], ends[apart:], hashes[:few] * np.uint64(_BASE) + hashes[apart:])


def _triples(starts: Places, ends: Places, hashes: Hashes, sort: int) -> _Runs:
    few = max(0, len(hashes) - 2)
    first = hashes[:few] * np.uint64(_BASE) + hashes[1 : few + 1]
    return _Runs(sort, starts[:few], ends[2:], first * np.uint64(_BASE) + hashes[2:])


def _spread(sorts: Sequence[_Runs]) -> Iterator[Feature]:
    """Spread the hashes evenly over all numbers, each sort in its own way.

    All at once, as of a short text each operation costs more than what it works on.
    """
    mixed = np.concatenate([runs.hashes + np.uint64(runs.sort << 40) for runs in sorts])
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed >>= np.uint64(64 - BITS)
    end = 0
    for runs in sorts:
        start, end = end, end + len(runs.hashes)
        yield Feature(runs.starts, runs.ends, mixed[start:end])
