"""How many tokens a text has, near enough and fifteen times faster than a tokenizer.

The costs were fitted to granite's byte-pair tokenizer over prose, code, base64 and sixteen
languages: within a seventh for most, a quarter too low for German, a quarter too high for Hindi.
"""

from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

CHARACTER_COST = 0.1
"""What any character costs at least, so that a limit in tokens is one in characters."""


def token_count(text: str) -> float:
    """About how many tokens a model reads in this text."""
    return float(_costs(text).sum())


class TokenRuler:
    """Measures any span of one text in tokens, after a single pass over it.

    Of a span that is short whatever it says, nothing is measured.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._highest = _HIGHEST_COST_OF_ASCII if text.isascii() else _HIGHEST_COST

    @cached_property
    def _before(self) -> NDArray[np.float64]:
        return np.concatenate(([0.0], np.cumsum(_costs(self._text))))

    def between(self, start: int, end: int) -> float:
        """The tokens in `text[start:end]`."""
        return float(self._before[end] - self._before[start])

    def is_over(self, tokens: float, start: int, end: int) -> bool:
        """Whether `text[start:end]` has more than these tokens."""
        return not self._is_short(tokens, start, end) and self.between(start, end) > tokens

    def reach(self, start: int, tokens: float) -> int:
        """The furthest end of a span from `start` that has no more than these tokens."""
        if self._is_short(tokens, start, len(self._text)):
            return len(self._text)
        return int(np.searchsorted(self._before, self._before[start] + tokens, "right")) - 1

    def _is_short(self, tokens: float, start: int, end: int) -> bool:
        """Whether it has no more than these tokens, whatever it says."""
        return (end - start) * self._highest <= tokens


class _Script(IntEnum):
    SPACE, LOWER, CAPITAL, DIGIT, MARK, LATIN, NEAR, KANA, FAR = range(9)


_SCRIPT_COSTS = np.array([CHARACTER_COST] * 3 + [0.75, 0.75, 3.8, 1.35, 1.2, 2.4])
_WORD_COST = 0.4
_INNER_CAPITAL_COST = 1.25
_NEXT_CAPITAL_COST = 0.3
_LONG_WORD, _LONG_WORD_COST = 8, 0.5
_REPEATED_SPACE_COST = 0.95
_HIGHEST_COST, _HIGHEST_COST_OF_ASCII = 4.0, 1.5
"""More than any character adds."""


def _script_table() -> NDArray[np.uint8]:
    """The script of each code point below 65,536; those above are like the last."""
    table = np.full(0x10000, _Script.FAR, np.uint8)
    table[0x3000:0x3100] = _Script.KANA
    table[0x370:0x900] = _Script.NEAR
    table[0x80:0x370] = _Script.LATIN
    table[:0x80] = _Script.MARK
    table[list(b" \t\n\r\f\v")] = _Script.SPACE
    table[ord("0") : ord("9") + 1] = _Script.DIGIT
    table[ord("a") : ord("z") + 1] = _Script.LOWER
    table[ord("A") : ord("Z") + 1] = _Script.CAPITAL
    return table


_SCRIPTS = _script_table()


def _costs(text: str) -> NDArray[np.float64]:
    """What each character adds to the count."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    scripts = _SCRIPTS[np.minimum(codes, 0xFFFF)]
    costs = _SCRIPT_COSTS[scripts]
    _add_for_words(costs, scripts)
    _adjust_repetitions(costs, scripts, codes)
    return costs


def _add_for_words(costs: NDArray[np.float64], scripts: NDArray[np.uint8]) -> None:
    is_capital = scripts == _Script.CAPITAL
    is_letter = is_capital | (scripts == _Script.LOWER)
    is_inner = is_letter & _shift_by_one(is_letter)
    starts = is_letter & (is_capital | ~is_inner)
    costs[is_letter & ~is_inner] += _WORD_COST
    is_mixed = _has_lower(is_letter & ~is_inner, scripts == _Script.LOWER)
    costs[is_capital & is_inner & is_mixed] += _INNER_CAPITAL_COST
    costs[is_capital & is_inner & ~is_mixed] += _NEXT_CAPITAL_COST
    costs[is_letter & (_distance(starts) >= _LONG_WORD)] += _LONG_WORD_COST


def _has_lower(begins: NDArray[np.bool_], is_lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each character, whether the word that began last has a small letter."""
    words = np.cumsum(begins)
    mixed: NDArray[np.bool_] = np.bincount(words, weights=is_lower)[words] > 0
    return mixed


def _adjust_repetitions(
    costs: NDArray[np.float64], scripts: NDArray[np.uint8], codes: NDArray[np.uint32]
) -> None:
    is_space = scripts == _Script.SPACE
    costs[is_space & _shift_by_one(is_space)] += _REPEATED_SPACE_COST
    is_same = np.zeros(len(codes), bool)
    is_same[1:] = codes[1:] == codes[:-1]
    costs[(scripts == _Script.MARK) & is_same] = CHARACTER_COST


def _shift_by_one(claims: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each character, what holds of the one before it."""
    shifted = np.zeros(len(claims), bool)
    shifted[1:] = claims[:-1]
    return shifted


def _distance(starts: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How far each character is behind the last start."""
    places = np.arange(len(starts))
    return places - np.maximum.accumulate(np.where(starts, places, 0))
