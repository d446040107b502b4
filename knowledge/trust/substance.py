"""Whether a text says something: repetition, lists of keywords, filler and bare links do not.

The rules count words, lines and marks and know no language, except that filler Latin is Latin.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

FEWEST_WORDS = 15
"""Distinct words below which a text says too little to be judged in full."""

_WORD = re.compile(r"[^\W_]+")
# Written without spaces: each sign is taken for a word.
_SIGN = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_SEPARATOR = re.compile(r"[,;|•·#]")
_FILLER = frozenset(
    [
        *("lorem", "ipsum", "dolor", "amet", "consectetur", "adipiscing", "elit", "eiusmod"),
        *("tempor", "incididunt", "labore", "dolore", "magna", "aliqua", "enim", "minim"),
        *("veniam", "quis", "nostrud", "exercitation", "ullamco", "laboris", "nisi", "aliquip"),
        *("commodo", "consequat", "duis", "aute", "irure", "reprehenderit", "voluptate", "velit"),
        *("cillum", "fugiat", "nulla", "pariatur", "excepteur", "sint", "occaecat", "cupidatat"),
        *("proident", "culpa", "officia", "deserunt", "mollit", "laborum"),
    ]
)
_LONG_LINE = 15
_MANY_PARTS = 8
_SHORT_PART = 3
_PLAIN_VARIETY = 4.0
_LEAST_VARIETY = 2.0


@dataclass(frozen=True, slots=True)
class Substance:
    """How much of a text counts, from none to all of it, and what is wrong with the rest."""

    value: float
    because: str


def substance_of(text: str, *, fewest_words: int = FEWEST_WORDS) -> Substance:
    """All of an honest text counts; of a spammy one the less, the more of it is spam."""
    words = words_of(_LINK.sub(" ", text))
    found = (
        Substance(min(1.0, len(set(words)) / fewest_words), "it says too little"),
        Substance(_share_that_counts(_repeated_share(text), allowed=0.3), "it repeats its lines"),
        Substance(_variety(words), "it repeats its words"),
        Substance(_share_that_counts(_listed_share(text), allowed=0.4), "it lists keywords"),
        Substance(
            _share_that_counts(_filler_share(words), allowed=0.1, none_at=0.4), "it is filler text"
        ),
        Substance(
            _share_that_counts(_linked_share(text), allowed=0.4), "it is links and little else"
        ),
    )
    worst = min(found, key=lambda each: each.value)
    return worst if worst.value < 1 else Substance(1.0, "")


def words_of(text: str) -> list[str]:
    """The words, in lower case; every sign of a script that has no spaces is one."""
    return [word for found in _WORD.findall(text.lower()) for word in _parts(found)]


def _parts(word: str) -> Iterator[str]:
    yield from (_SIGN.findall(word) or [word])


def _share_that_counts(share: float, *, allowed: float, none_at: float = 0.9) -> float:
    """What counts when a share of the text does not: all up to `allowed`, nothing at the end."""
    return min(1.0, max(0.0, (none_at - share) / (none_at - allowed)))


def _repeated_share(text: str) -> float:
    lines = [" ".join(line.lower().split()) for line in text.splitlines()]
    sentences = [part.strip() for line in lines for part in re.split(r"(?<=[.!?])\s", line)]
    long = [sentence for sentence in sentences if len(sentence) >= _LONG_LINE]
    total = sum(map(len, long))
    return 1 - sum(map(len, set(long))) / total if total else 0.0


def _variety(words: Sequence[str]) -> float:
    """By distinct words over the root of all words, which hardly depends on a text's length."""
    if len(words) < 2 * FEWEST_WORDS:
        return 1.0
    variety = len(set(words)) / sqrt(len(words))
    return min(1.0, max(0.0, (variety - _LEAST_VARIETY) / (_PLAIN_VARIETY - _LEAST_VARIETY)))


def _listed_share(text: str) -> float:
    """Words on lines that are nothing but many short parts between commas, bars or hashes."""
    words = listed = 0
    for line in text.splitlines():
        parts = [len(words_of(part)) for part in _SEPARATOR.split(line)]
        short = [size for size in parts if 0 < size <= _SHORT_PART]
        words += sum(parts)
        if len(short) >= _MANY_PARTS and len(short) > 0.8 * len(parts):
            listed += sum(short)
    return listed / words if words else 0.0


def _filler_share(words: Sequence[str]) -> float:
    return sum(word in _FILLER for word in words) / len(words) if words else 0.0


def _linked_share(text: str) -> float:
    total = sum(len(part) for part in text.split())
    return sum(map(len, _LINK.findall(text))) / total if total else 0.0
