"""Undoes what hides words from a filter: invisible signs, codes, ciphers and odd spelling."""

import re
from collections.abc import Iterator
from itertools import chain

from knowledge.screening.ciphers import ciphers
from knowledge.screening.codes import codes
from knowledge.screening.hidden_orders import (
    Passage,
    binds_a_machine,
    calls_a_machine,
    names_a_deed,
    wants_anything,
)
from knowledge.screening.reading import ideas_of
from knowledge.screening.spelling import odd_spellings

_TAGS = re.compile("[\U000e0000-\U000e007f]{2,}")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f")
_UNSEEN_SIGNS = "\u200b-\u200f\u2060-\u2064\ufeff\u180e\u00ad\u034f\u061c\u115f\u1160\u3164\uffa0"
_INVISIBLE_RUN = re.compile(f"[{_UNSEEN_SIGNS}]{{12,}}")
_SHORT_RUN = re.compile(f"[{_UNSEEN_SIGNS}]{{4,}}")
_SELECTORS = re.compile("[\U000e0100-\U000e01ef]{4,}|[\ufe00-\ufe0f]{4,}")
_LATIN = "A-Za-z\u00c0-\u024f\u0370-\u052f"
"""Alphabets that never need an invisible sign between two letters."""

_BETWEEN = f"[{_UNSEEN_SIGNS}\ufe00-\ufe0f\U000e0000-\U000e01ef]"
_INTERLEAVED = re.compile(f"(?<![{_LATIN}])[{_LATIN}](?:{_BETWEEN}{{1,4}}[{_LATIN}]){{2,40}}")
_SPLIT = re.compile(
    f"(?<![{_LATIN}])[{_LATIN}]{{1,40}}(?:[\u200b-\u200d\u2060-\u2064\ufeff\u034f][{_LATIN}]{{1,40}}){{1,40}}"
)
_OVERRIDE = re.compile("[\u202d\u202e](?P<words>[^\u202c\u2069\n]{6,2000})")
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_REACH = 200


def disguised_passages(text: str) -> Iterator[Passage]:
    """Each passage that says something else when it is undone, in its plain words."""
    yield from _invisible(text)
    for passage in chain(codes(text), ciphers(text), odd_spellings(text)):
        if passage[1] is None or wants_anything(passage[1]):
            yield passage
        yield from _pointed_out(text, passage)


def _invisible(text: str) -> Iterator[Passage]:
    if text.isascii():
        return
    flags = [flag.span() for flag in _FLAG.finditer(text)]
    for run in _TAGS.finditer(text):
        if not any(start <= run.start() < end for start, end in flags):
            yield "hidden_text", None, run.span()
    for pattern in (_INVISIBLE_RUN, _SELECTORS):
        for run in pattern.finditer(text):
            if len(set(run[0])) > 1:
                yield "hidden_text", None, run.span()
    runs = [run for run in _SHORT_RUN.finditer(text) if len(set(run[0])) > 1]
    if len(runs) >= 3:
        yield "hidden_text", None, (runs[0].start(), runs[-1].end())
    yield from _between_letters(text)
    for match in _OVERRIDE.finditer(text):
        turned = len(_LATIN_WORD.findall(match["words"])) >= 4
        yield "hidden_text", None if turned else match["words"][::-1], match.span()


def _between_letters(text: str) -> Iterator[Passage]:
    """Words whose letters are all set apart by signs that nobody sees; or some, in an order."""
    words = list(_INTERLEAVED.finditer(text))
    if len(words) >= 3:
        yield "disguised_text", None, (words[0].start(), words[-1].end())
        return
    split = list(_SPLIT.finditer(text))
    if len(split) >= 3:
        start, end = split[0].start(), split[-1].end()
        yield "disguised_text", re.sub(_BETWEEN, "", text[start : end + _REACH]), (start, end)


def _pointed_out(text: str, passage: Passage) -> Iterator[Passage]:
    """A coded passage that the words beside it hand to a model: enough if it has a deed done."""
    rule, words, (start, end) = passage
    if words is None or len(words.split()) < 2:
        return
    before = text[max(0, start - _REACH) : start]
    after = text[end : end + _REACH]
    beside = f"{before} {after}"
    ideas = ideas_of(beside)
    if not calls_a_machine(ideas):
        return
    if binds_a_machine(ideas) and names_a_deed(ideas_of(words, hidden=True)):
        yield rule, None, (start, end)
    else:
        yield rule, f"{before} {words}", (start, end)
