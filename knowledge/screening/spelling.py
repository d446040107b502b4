"""Words in letters of another kind, or with their own letters set apart."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from knowledge.screening.concepts import folded, lexicon
from knowledge.screening.hidden_orders import Passage

_SPACED = re.compile(
    r"(?<!\w)(?:[^\W\d_](?:[ \t]{1,6}|[.\-_*·•|/+~]|[ ][.\-*·|/][ ])){9,2000}[^\W\d_](?!\w)"
)
_LEET_WORD = re.compile(
    r"(?<![\w@$!|-])(?=[0134578@$!|]*[A-Za-z])[A-Za-z0134578@$!|]{3,24}(?![\w@$-])"
)
_LEET_SIGN = re.compile(r"[A-Za-z][0134578@$!|]+[A-Za-z]")
_LEET = str.maketrans("0134578@$!|", "oieastbasil")
_LETTERS_ONLY = re.compile(r"[^\W\d_]+")
_LINE = re.compile(r"[^\n]{12,4000}")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_CAPITALS_MADE_SMALL = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
_IN_BLOCKS = (0x1F150, 0x1F170, 0x1F1E6)
"""Where white letters on black, and those of flags, begin."""

_TABLE = str.maketrans(_CAPITALS_MADE_SMALL, "abcdefghijklmnoprstuvwyz") | {
    first + at: letter for first in _IN_BLOCKS for at, letter in enumerate(_ALPHABET)
}
_STYLED = (
    "\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u2102-\u2138\u249c-\u24e9\u1d2c-\u1d6a"
    "\u1d9c-\u1dbf\u2071\u207f\U0001f110-\U0001f189\U0001f1e6-\U0001f1ff" + _CAPITALS_MADE_SMALL
)
_STYLED_SIGN = re.compile(f"[{_STYLED}]")
_WORD = re.compile(f"[\\w'’{_STYLED}]+")
_FLIPPED = "ɐɔǝɟƃɓɥᴉɾʞɯɹʇʌʍʎ"
_FLIPS = frozenset(_FLIPPED)
_UPRIGHT = str.maketrans(f"{_FLIPPED}bpqdnu", "acefgghijkmrtvwyqdbpun")
_NON_BLANK = re.compile(r"\S+")
_MIXED_WORD = re.compile(
    r"(?<![\w.@/-])(?=\w*[a-zA-Z])(?=\w*[\u0370-\u052f])[a-zA-Z\u0370-\u052f]{3,40}(?![\w@/-]|\.\w)"
)
_FARTHEST = 12
_FEWEST = 3
_ALL_MIXED = 5


def odd_spellings(text: str) -> Iterator[Passage]:
    """Passages in letters that look like others, in the letters they stand for."""
    for match in islice(_SPACED.finditer(text), 100):
        yield "disguised_text", _pulled_together(match[0]), match.span()
    for line in _LINE.finditer(text) if _LEET_SIGN.search(text) else ():
        words = [word for word in _LEET_WORD.finditer(line[0]) if _is_leet(word[0])]
        if len(words) >= _FEWEST:
            start, end = words[0].start(), words[-1].end()
            among = line[0][start:end]
            if len(words) >= 0.4 * len(among.split()):
                yield "disguised_text", among.translate(_LEET), line.span()
    if not text.isascii():
        yield from _styled(text)
        yield from _mixed(text)


def _is_leet(word: str) -> bool:
    """Digits and signs among the letters, and not more of them than letters."""
    signs = sum(not sign.isalpha() for sign in word)
    return 0 < 2 * signs <= len(word) and _LEET_SIGN.search(word) is not None


def _pulled_together(spaced: str) -> str:
    """Letters set apart, joined again; wider gaps part the words, else the lexicon finds them."""
    words = re.split(r"[ \t]{2,}|[ ][.\-*·|/][ ]", spaced)
    joined = " ".join("".join(_LETTERS_ONLY.findall(word)) for word in words)
    return joined if len(words) > 1 else lexicon().parted(folded(joined))


def _styled(text: str) -> Iterator[Passage]:
    """Bold, wide, circled and other letters of their own kind; and those upside down."""
    styled = (word for word in _WORD.finditer(text) if _STYLED_SIGN.search(word[0]))
    for words in _neighbours(styled):
        start, end = words[0].start(), words[-1].end()
        plain = unicodedata.normalize("NFKC", text[start:end].translate(_TABLE))
        yield "disguised_text", plain, (start, end)
    if any(sign in text for sign in _FLIPPED):
        flipped = (word for word in _NON_BLANK.finditer(text) if not _FLIPS.isdisjoint(word[0]))
        for words in _neighbours(flipped):
            start, end = words[0].start(), words[-1].end()
            yield "disguised_text", text[start:end].translate(_UPRIGHT)[::-1], (start, end)


def _mixed(text: str) -> Iterator[Passage]:
    """Words of two alphabets that together look like words of one."""
    mixed = (word for word in _MIXED_WORD.finditer(text) if folded(word[0]).isascii())
    for words in _neighbours(mixed):
        start, end = words[0].start(), words[-1].end()
        mostly = 2 * len(words) > len(text[start:end].split())
        plain = None if mostly and len(words) >= _ALL_MIXED else folded(text[start:end])
        yield "disguised_text", plain, (start, end)


def _neighbours(words: Iterator[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Words that stand close to each other, where there are enough of them."""
    group: list[re.Match[str]] = []
    for word in words:
        if group and word.start() - group[-1].end() > _FARTHEST:
            if len(group) >= _FEWEST:
                yield group
            group = []
        group.append(word)
    if len(group) >= _FEWEST:
        yield group
