"""Lines of Arabic, Hebrew and the like, put from where they stand into the order of reading.

A PDF tells where its glyphs stand, and its order of them may be either. So the glyphs of a line
are sorted from left to right, and that order is turned into the one in which people read and write.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from unicodedata import bidirectional, category, normalize

SPACE = 0.25
"""A gap of this share of the line's height stands between words."""
SPACE_OF_WORDS = 0.12
"""And one of this, where the PDF has a blank as well, be it in another place."""

_PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufeff]+")
_NUMBER = 2
_WITHIN_NUMBERS = tuple(".,:/-\u066b\u066c")
_ROUND = re.compile(r"[()]")


class Glyph(NamedTuple):
    """What is written at one place: a letter, or several that are drawn as one."""

    left: float
    right: float
    height: float
    text: str
    word: int
    """How many blanks are before it, in the order that the PDF has."""

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def has_right_to_left(text: str) -> bool:
    return any(bidirectional(character) in ("R", "AL") for character in text)


def read_line(glyphs: Iterable[Glyph]) -> str:
    """The words of one line as they are read."""
    seen = _insert_spaces(_with_marks(_drop_strokes(list(glyphs))))
    is_leftward = sum(_leans(character) for text in seen for character in text) < 0
    runs = [_in_reading_order(run) for run in _runs(seen, is_leftward=is_leftward)]
    words = "".join(reversed(runs) if is_leftward else runs)
    return _pair_brackets(_PRESENTATION_FORMS.sub(lambda forms: normalize("NFKC", forms[0]), words))


def _drop_strokes(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Without the strokes of a word that one glyph tells as a whole."""
    wholes = [glyph for glyph in glyphs if len(glyph.text) > 2]
    return [
        glyph
        for glyph in glyphs
        if not any(whole.left < glyph.middle < whole.right for whole in wholes if whole != glyph)
    ]


def _with_marks(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """From left to right, with each vowel sign on the letter that it belongs to."""
    letters = sorted((one for one in glyphs if not _is_mark(one)), key=lambda one: one.middle)
    for mark in filter(_is_mark, glyphs):
        if letters:
            nearest = min(range(len(letters)), key=lambda n: abs(letters[n].middle - mark.middle))
            letter = letters[nearest]
            letters[nearest] = letter._replace(text=letter.text + mark.text)
    return letters


def _is_mark(glyph: Glyph) -> bool:
    return all(category(character) == "Mn" for character in glyph.text)


def _insert_spaces(glyphs: Sequence[Glyph]) -> list[str]:
    if not glyphs:
        return []
    height = max(glyph.height for glyph in glyphs)
    seen, last = [glyphs[0].text], glyphs[0]
    for glyph in glyphs[1:]:
        wide = SPACE if glyph.word == last.word else SPACE_OF_WORDS
        seen += [" ", glyph.text] if glyph.left - last.right > wide * height else [glyph.text]
        last = glyph
    return seen


def _leans(text: str) -> int:
    """1 for what is read to the right, -1 for what is read to the left, and 0 for neither."""
    directions = {bidirectional(character) for character in text}
    if directions & {"R", "AL"}:
        return -1
    return 1 if "L" in directions else 0


def _runs(seen: Sequence[str], *, is_leftward: bool) -> list[list[str]]:
    """Stretches of one direction each; what has none belongs to both neighbours, or to the line."""
    line = -1 if is_leftward else 1
    # In a line that is read to the right, a number between leftward words is part of them.
    number = _NUMBER if is_leftward else 0
    leaning = [number if _is_number(seen, n) else _leans(text) for n, text in enumerate(seen)]
    runs: list[list[str]] = []
    last = 0
    for n, text in enumerate(seen):
        lean = min(leaning[n], 1) or _between(leaning, n, line)
        if lean != last:
            runs.append([])
        runs[-1].append(text)
        last = lean
    return runs


def _between(leaning: Sequence[int], n: int, line: int) -> int:
    """Both neighbours' direction, if it is one; two numbers stand side by side like two words."""
    before = next((lean for lean in reversed(leaning[:n]) if lean), line)
    after = next((lean for lean in leaning[n + 1 :] if lean), line)
    if before == after == _NUMBER:
        return line
    return min(before, 1) if min(before, 1) == min(after, 1) else line


def _is_number(seen: Sequence[str], n: int) -> bool:
    """A digit, or what joins two of them."""
    if seen[n].isdecimal():
        return True
    joins = seen[n] in _WITHIN_NUMBERS and 0 < n < len(seen) - 1
    return joins and seen[n - 1].isdecimal() and seen[n + 1].isdecimal()


def _in_reading_order(run: Sequence[str]) -> str:
    """Turned, if it is read to the left; its numbers are not."""
    if not has_right_to_left("".join(run)):
        is_blank_or_mark = not any(map(_leans, run)) and not any(map(str.isdecimal, run))
        return "".join(reversed(run) if is_blank_or_mark else run)
    words = ""
    number = ""
    for n in range(len(run) - 1, -1, -1):
        if _is_number(run, n):
            number = run[n] + number
            continue
        words += number + run[n]
        number = ""
    return words + number


def _pair_brackets(line: str) -> str:
    """Brackets that open before they close: which one is drawn depends on who wrote the PDF."""
    if len(_ROUND.findall(line)) % 2:
        return line
    turns = iter("()" * len(line))
    return _ROUND.sub(lambda _: next(turns), line)
