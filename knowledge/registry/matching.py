"""Which of several capabilities is the one that is wanted, by word and by meaning."""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from knowledge.errors import ProviderUnavailable
from knowledge.generations import live_generation
from knowledge.retrieval import semantic

logger = logging.getLogger(__name__)

NEAR = 0.3
"""From this calibrated cosine on, two capabilities mean about the same."""

PATIENCE_SEC = 2.0
"""How long one answer may spend on meaning; phrases that are known already cost nothing."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Match:
    """The capability that fits best, how well (0 to 1), and whether by word or by meaning."""

    capability: str
    score: float
    by: str


def matches(wanted: str, offered: Sequence[Sequence[str]]) -> list[Match | None]:
    """For each list of capabilities the one that fits best; None where none does.

    Those that come first are compared by meaning first. Words always count, meaning only while
    the embedder answers.
    """
    phrases = list(dict.fromkeys(phrase for each in offered for phrase in each))
    by_meaning = _meanings(wanted, phrases)
    by_phrase = {phrase: _match(wanted, phrase, by_meaning.get(phrase, 0.0)) for phrase in phrases}
    return [_best(by_phrase[phrase] for phrase in each) for each in offered]


def _match(wanted: str, phrase: str, meaning: float) -> Match | None:
    word = _by_word(wanted, phrase)
    if max(word, meaning) <= 0:
        return None
    by = "word" if word >= meaning else "meaning"
    return Match(phrase, max(word, meaning), by)


def _best(found: Iterable[Match | None]) -> Match | None:
    return max((match for match in found if match), key=lambda match: match.score, default=None)


def _by_word(wanted: str, phrase: str) -> float:
    """The words that both have, of all that either has."""
    one, other = set(_WORD.findall(wanted.casefold())), set(_WORD.findall(phrase.casefold()))
    return len(one & other) / len(one | other) if one and other else 0.0


def _meanings(wanted: str, phrases: Sequence[str]) -> dict[str, float]:
    generation = live_generation()
    until = monotonic() + PATIENCE_SEC
    near: dict[str, float] = {}
    try:
        sought = semantic.embed(generation, _plain(wanted))
        for phrase in phrases:
            cosine = float(np.dot(sought, semantic.embed(generation, _plain(phrase))))
            calibrated = (cosine - generation.background) / (1 - generation.background)
            near[phrase] = min(1.0, calibrated) if calibrated >= NEAR else 0.0
            if monotonic() > until:
                break
    except ProviderUnavailable:
        logger.warning("Providers were matched by word", exc_info=True)
    return near


def _plain(phrase: str) -> str:
    """`code-review` and `code_review` are written in words."""
    return " ".join(phrase.replace("-", " ").replace("_", " ").split())
