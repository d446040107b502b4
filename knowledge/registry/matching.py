"""Which of several capabilities is the one that is wanted, by word and by meaning."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from knowledge.errors import ProviderUnavailable
from knowledge.indexing.generations import live_generation
from knowledge.retrieval import semantic
from knowledge.retrieval.query_words import stems_of
from knowledge.text.languages import DEFAULT, configuration_for
from knowledge.text.words import words_of

logger = logging.getLogger(__name__)

NEAR = 0.3
"""From this on, by word or by calibrated cosine, two capabilities are about the same."""

PATIENCE_SEC = 2.0
"""How long one answer may spend on meaning; phrases that are known already cost nothing."""


_BEGINNING = 500
"""Characters of a description that are read for its meaning."""


@dataclass(frozen=True, slots=True)
class Match:
    """The capability that fits best, how well (0 to 1), and whether by word or by meaning.

    Where a provider's description fits better than any capability, it is by description.
    """

    capability: str
    score: float
    by: str


def matches(wanted: str, offered: Sequence[Sequence[str]]) -> list[Match | None]:
    """For each list of capabilities the one that fits best; None where none does.

    Those that come first are compared by meaning first. Words always count, meaning only while
    the embedder answers.
    """
    phrases = list(dict.fromkeys(phrase for each in offered for phrase in each))
    by_word, by_meaning = _words(wanted, phrases), _meanings(wanted, phrases)
    by_phrase = {
        phrase: _match(phrase, by_word[phrase], by_meaning.get(phrase, 0.0)) for phrase in phrases
    }
    return [_best(by_phrase[phrase] for phrase in each) for each in offered]


def nearness(wanted: str, texts: Sequence[str]) -> list[float]:
    """How near the beginning of each text is in meaning, 0 to 1; below `NEAR` it is 0."""
    beginnings = [text[:_BEGINNING] for text in texts]
    known = _meanings(wanted, list(dict.fromkeys(filter(None, beginnings))))
    near = [known.get(each, 0.0) for each in beginnings]
    return [each if each >= NEAR else 0.0 for each in near]


def _match(phrase: str, word: float, meaning: float) -> Match | None:
    if max(word, meaning) < NEAR:
        return None
    by = "word" if word >= meaning else "meaning"
    return Match(phrase, max(word, meaning), by)


def _best(found: Iterable[Match | None]) -> Match | None:
    return max((match for match in found if match), key=lambda match: match.score, default=None)


def _words(wanted: str, phrases: Sequence[str]) -> dict[str, float]:
    """For each phrase, the words that both have, of all that either has.

    Words too common to tell do not count, unless a phrase has no other.
    """
    spoken = {phrase: frozenset(words_of(phrase)) for phrase in (wanted, *phrases)}
    known = stems_of(sorted(frozenset().union(*spoken.values())), configuration_for(DEFAULT))
    telling = {
        phrase: frozenset(word for word in words if known[word]) or words
        for phrase, words in spoken.items()
    }
    return {phrase: _jaccard(telling[wanted], telling[phrase]) for phrase in phrases}


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity; a single letter, as in C or R, cannot make two phrases alike."""
    both = one & other
    if one != other and not any(len(word) > 1 for word in both):
        return 0.0
    return len(both) / len(one | other) if both else 0.0


def _meanings(wanted: str, phrases: Sequence[str]) -> dict[str, float]:
    generation = live_generation()
    until = monotonic() + PATIENCE_SEC
    near: dict[str, float] = {}
    try:
        sought = semantic.embed(generation, _plain(wanted))
        for phrase in phrases:
            cosine = float(np.dot(sought, semantic.embed(generation, _plain(phrase))))
            calibrated = (cosine - generation.background) / (1 - generation.background)
            near[phrase] = min(1.0, calibrated)
            if monotonic() > until:
                break
    except ProviderUnavailable:
        logger.warning("Providers were matched by word", exc_info=True)
    return near


def _plain(phrase: str) -> str:
    """`code-review` and `code_review` are written in words."""
    return " ".join(phrase.replace("-", " ").replace("_", " ").split())
