"""What the words of a sentence are about, in some thirty languages."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import cache, lru_cache
from typing import NamedTuple


class Concept(Enum):
    """An idea that an order to a model is made of; none of them is suspicious alone."""

    OVERRIDE = auto()  # ignore, forget, disregard
    SUPERSEDE = auto()  # supersedes, no longer applies: said of the rules, not to a reader
    GUIDANCE = auto()  # instructions, rules, system prompt
    TOLD = auto()  # what you were told, everything above
    PRIOR = auto()  # previous, so far
    ALL = auto()
    YOURS = auto()  # your, you were given
    AI = auto()  # language model, AI, automated reader
    AGENT = auto()  # assistant, agent, model: also people and cars
    VOCATIVE = auto()  # a line or clause that addresses an AI by name
    USER = auto()
    NOT = auto()
    DISCLOSE = auto()  # tell, mention, report
    CONCEAL = auto()  # quietly; or NOT beside DISCLOSE
    ASK = auto()  # ask, confirm, wait for approval
    UNASKED = auto()  # already consented; or NOT beside ASK
    SEND = auto()
    OUTLET = auto()  # an address, a host, a webhook
    TALK = auto()  # the conversation, the user's question
    HOLDINGS = auto()  # notes, files, folders, memory
    CREDENTIAL = auto()
    INNARDS = auto()  # system prompt, your instructions, context window
    REVEAL = auto()
    READING = auto()  # when you read this
    DIGEST = auto()  # summarise, translate, process: with "this page", a reader's work
    ANSWERING = auto()  # when you answer, before answering
    CALL = auto()  # call, invoke, run
    TOOL = auto()
    MUST = auto()
    HENCEFORTH = auto()
    OBEY = auto()
    SAY = auto()
    SKIP = auto()  # skip, approve, switch off
    SAFEGUARD = auto()  # permission prompt, review, validation
    LATER = auto()  # later agents, every run
    RANK = auto()
    OTHERS = auto()  # all other skills, competitors
    OMIT = auto()
    DRAWBACK = auto()  # risks, side effects, complaints
    PERSONA = auto()  # you are now
    UNBOUND = auto()  # no rules, never refuses
    AUTHORITY = auto()  # operator, administrator, verified
    SPREAD = auto()  # republish this entry
    HARM = auto()  # delete, pay, grant access
    THIS = auto()  # this note, this skill, the text below
    SOLICIT = auto()  # ask the user for their
    SLOT = auto()  # an address with a place for the conversation
    BEACON = auto()  # a picture whose address has such a place
    PIPED = auto()  # a download that is run at once
    DECODE = auto()
    HARVEST = auto()  # every token you can see
    OUTPUT = auto()  # answers, summaries: what models make
    TALE = auto()  # a story, grandmother's lullaby: a pretext
    CONSENTED = auto()  # the user has already agreed
    ATTACK = auto()  # attack, injection: the text is about security
    DISCUSSED = auto()  # example, the phrase: talk about orders, not orders
    TOPIC = auto()  # on the packet, about parking: guidance of another kind


class Hit(NamedTuple):
    concept: Concept
    start: int
    end: int


_MARKS = dict.fromkeys((*range(768, 880), *range(1611, 1619), 1600, 1648))
_INVISIBLE = dict.fromkeys(
    (
        0xAD,
        0x34F,
        0x61C,
        0x180E,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
    )
)
_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕԁһԛԝөӏαβεικνορτυχωցոսօ",
    "abekmhopctyxijsdhqwolabeikvoptuxwgnuo",
)
_MIXED = re.compile(r"(?<![^\W\d_])[^\W\d_]*(?:[a-z][\u0370-\u058f]|[\u0370-\u058f][a-z])[^\W\d_]*")


def folded(text: str) -> str:
    """One spelling for all: width, case, accents, invisible signs and look-alike letters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    plain = unicodedata.normalize("NFC", plain.translate(_MARKS).translate(_INVISIBLE))
    return _MIXED.sub(lambda word: word[0].translate(_LOOKALIKES), plain)


_WORD = re.compile(r"[a-z0-9\u00df-\u024f\u0370-\u052f\u1e00-\u1fff]+")
_DENSE = re.compile(r"[\u0590-\u1cff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\uffef][^a-z\u0370-\u058f]*")

Entry = tuple[list[str], Concept]
"""The words that must follow the first two, and what they all speak of."""


class Lexicon:
    """Finds the words of many languages in one pass, however long the text is."""

    def __init__(self, words: Iterable[tuple[Concept, str]]) -> None:
        self._whole: dict[str, set[Concept]] = {}
        self._stems: dict[str, set[Concept]] = {}
        self._phrases: dict[str, list[Entry]] = {}
        self._dense: dict[str, list[tuple[str, Concept]]] = {}
        self._concepts = lru_cache(maxsize=1 << 15)(self._look_up)
        for concept, word in words:
            if not _has_word_ends(word):
                plain = folded(word)
                self._dense.setdefault(plain[:2], []).append((plain, concept))
                continue
            first, *rest = _WORD.findall(folded(word))
            if rest:
                self._phrases.setdefault(f"{first} {rest[0]}", []).append((rest[1:], concept))
            else:
                home = self._stems if word.endswith("*") else self._whole
                home.setdefault(first, set()).add(concept)

    def hits(self, plain: str) -> list[Hit]:
        """Every concept of a folded text and where it stands."""
        found = self._spaced_hits(plain)
        if not plain.isascii():
            for run in _DENSE.finditer(plain):
                found += self._dense_hits(plain, *run.span())
        return found

    def parted(self, run: str) -> str:
        """The known words of letters that were written without blanks."""
        said: list[str] = []
        place = 0
        while place < len(run):
            lengths = range(min(20, len(run) - place), 2, -1)
            word = next(
                (run[place : place + n] for n in lengths if run[place : place + n] in self._whole),
                "",
            )
            said += [word] if word else []
            place += len(word) or 1
        return " ".join(said)

    def _spaced_hits(self, plain: str) -> list[Hit]:
        found: list[Hit] = []
        matches = list(_WORD.finditer(plain))
        words = [match[0] for match in matches]
        for place, word in enumerate(words):
            span = matches[place].span()
            found += [Hit(concept, *span) for concept in self._concepts(word)]
            after = words[place + 1] if place + 1 < len(words) else ""
            for rest, concept in self._phrases.get(f"{word} {after}", ()):
                last = place + 1 + len(rest)
                if words[place + 2 : last + 1] == rest:
                    found.append(Hit(concept, matches[place].start(), matches[last].end()))
        return found

    def _look_up(self, word: str) -> tuple[Concept, ...]:
        concepts = set(self._whole.get(word, ()))
        for cut in range(2, min(len(word), 18) + 1):
            concepts |= self._stems.get(word[:cut], set())
        return tuple(concepts)

    def _dense_hits(self, plain: str, start: int, end: int) -> Iterator[Hit]:
        for place in range(start, end):
            for key in (plain[place], plain[place : place + 2]):
                for word, concept in self._dense.get(key, ()):
                    if plain.startswith(word, place):
                        yield Hit(concept, place, place + len(word))


def _has_word_ends(word: str) -> bool:
    """Latin, Greek and Cyrillic words stand apart; others carry articles or have no spaces."""
    return all(ord(sign) < 0x530 or 0x1E00 <= ord(sign) < 0x2000 or sign in "’‘" for sign in word)


@cache
def lexicon() -> Lexicon:
    """The words of all languages, compiled once per process."""
    from knowledge.screening.lexicons import words

    return Lexicon(words())
