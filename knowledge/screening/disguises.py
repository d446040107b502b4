"""Undoes what hides words from a filter: invisible letters, codes, ciphers and odd spelling."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import unquote

from knowledge.screening.carriers import Passage
from knowledge.screening.concepts import folded, lexicon

_TAGS = re.compile("[\U000e0000-\U000e007f]{2,}")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f")
_INVISIBLE_RUN = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u180e\u00ad\u034f]{12,}")
_SELECTORS = re.compile("[\U000e0100-\U000e01ef]{4,}|[\ufe00-\ufe0f]{4,}")
_OVERRIDE = re.compile("[\u202d\u202e](?P<words>[^\u202c\n]{6,2000})")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,20000}={0,2}(?![A-Za-z0-9+/_-])")
_WRAPPED = re.compile(
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{40,100}\n[ \t]{0,8}){1,200}[A-Za-z0-9+/]{4,100}={0,2}"
)
_HEX = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[\s,:]{0,2}){12,4000}(?![0-9A-Za-z])"
)
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}){6,2000}")
_PERCENT = re.compile(r"(?:[\w.-]{0,20}%[0-9A-Fa-f]{2}){6,2000}[\w.-]{0,20}")
_ENTITIES = re.compile(r"(?:&#x?[0-9a-fA-F]{2,6};\s?){6,2000}")
_DECIMALS = re.compile(r"(?<!\d)(?:\d{2,3}[ ,;-]{1,2}){10,2000}\d{2,3}(?!\d)")
_BITS = re.compile(r"(?<!\d)(?:[01]{8}[\s,]{0,2}){10,2000}")
_MORSE = re.compile(r"(?:[.\-·–−]{1,6}[ /|]{1,3}){12,2000}[.\-·–−]{0,6}")
_SPACED = re.compile(
    r"(?<!\w)(?:[^\W\d_](?:[ \t]{1,6}|[.\-_*·•|/+~]|[ ][.\-*·|/][ ])){9,2000}[^\W\d_](?!\w)"
)
_LEET_WORD = re.compile(
    r"(?<!\w)(?=[\w@$!|]{0,24}[0134578@$!|])(?=[\w@$!|]{0,24}[A-Za-z])[A-Za-z0134578@$!|]{3,24}(?!\w)"
)
_LEET = str.maketrans("0134578@$!|", "oieastbasil")
_MORSE_CODE = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
        ],
        "abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
)
_COMMON = [
    "the",
    "and",
    "you",
    "all",
    "this",
    "that",
    "with",
    "from",
    "your",
    "not",
    "any",
    "are",
    "for",
    "every",
    "now",
    "ignore",
    "send",
    "user",
    "instructions",
    "previous",
    "prompt",
    "assistant",
    "password",
    "conversation",
    "forget",
    "der",
    "die",
    "und",
    "das",
    "nicht",
    "alle",
    "ist",
    "mit",
    "les",
    "des",
    "une",
    "est",
    "pas",
    "que",
    "los",
    "las",
    "con",
    "por",
    "del",
    "tous",
]


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(words))})(?!\w)", re.IGNORECASE)


_BACKWARDS = _any_of(
    {word[::-1] for word in _COMMON}
    - set(_COMMON)
    - {"sel", "red", "won", "sap", "sed", "nun", "eid", "sal", "noc"}
)
_TURNED = _any_of(codecs.encode(word, "rot13") for word in _COMMON)
_LINE = re.compile(r"[^\n]{12,4000}")
_AT_MOST = 100
_LETTERS_ONLY = re.compile(r"[^\W\d_]+")


def disguised_passages(text: str) -> Iterator[Passage]:
    """Each passage that says something else when it is undone, in its plain words."""
    yield from _invisible(text)
    yield from _codes(text)
    yield from _odd_spellings(text)
    yield from _ciphers(text)


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
    for match in _OVERRIDE.finditer(text):
        yield "hidden_text", match["words"][::-1], match.span()


def _codes(text: str) -> Iterator[Passage]:
    for pattern, undo in _UNDOING:
        for match in pattern.finditer(text):
            plain = undo(match[0])
            if len(plain) >= 10 and _reads(plain):
                yield "encoded_text", plain, match.span()


def _reads(plain: str) -> bool:
    """Words, not bytes that happen to be printable."""
    letters = sum(sign.isalpha() or sign.isspace() for sign in plain)
    return letters >= 0.75 * len(plain) and not any(
        unicodedata.category(sign) == "Cc" and sign not in "\n\t\r" for sign in plain
    )


def _from_base64(code: str) -> str:
    code = "".join(code.split())
    try:
        raw = base64.b64decode(code.replace("-", "+").replace("_", "/") + "=" * (-len(code) % 4))
        return raw.decode()
    except (binascii.Error, ValueError):
        return ""


def _from_hex(code: str) -> str:
    digits = re.sub(r"0x|\\x|[\s,:]", "", code)
    try:
        return bytes.fromhex(digits).decode()
    except ValueError:
        return ""


def _from_escapes(code: str) -> str:
    return re.sub(
        r"\\[ux]([0-9a-fA-F]{4}|[0-9a-fA-F]{2})", lambda sign: chr(int(sign[1], 16)), code
    )


def _from_decimals(code: str) -> str:
    codes = [int(digits) for digits in re.findall(r"\d+", code)]
    return "".join(map(chr, codes)) if all(32 <= number < 127 for number in codes) else ""


def _from_bits(code: str) -> str:
    bits = re.sub(r"[\s,]", "", code)
    raw = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
    return raw.decode(errors="replace")


def _from_morse(code: str) -> str:
    words = re.split(
        r"\s*[/|]\s*|\s{3,}", code.replace("·", ".").replace("–", "-").replace("−", "-")
    )
    return " ".join("".join(_MORSE_CODE.get(sign, "") for sign in word.split()) for word in words)


_UNDOING = (
    (_BASE64, _from_base64),
    (_WRAPPED, _from_base64),
    (_HEX, _from_hex),
    (_ESCAPES, _from_escapes),
    (_PERCENT, unquote),
    (_ENTITIES, html.unescape),
    (_DECIMALS, _from_decimals),
    (_BITS, _from_bits),
    (_MORSE, _from_morse),
)


def _odd_spellings(text: str) -> Iterator[Passage]:
    for match in islice(_SPACED.finditer(text), _AT_MOST):
        yield "disguised_text", _pulled_together(match[0]), match.span()
    for line in _LINE.finditer(text):
        words = _LEET_WORD.findall(line[0])
        if len(words) >= 3:
            yield "disguised_text", " ".join(words).translate(_LEET), line.span()


def _pulled_together(spaced: str) -> str:
    """Letters set apart, joined again; wider gaps part the words, else the lexicon finds them."""
    words = re.split(r"[ \t]{2,}|[ ][.\-*·|/][ ]", spaced)
    joined = " ".join("".join(_LETTERS_ONLY.findall(word)) for word in words)
    return joined if len(words) > 1 else lexicon().parted(folded(joined))


def _ciphers(text: str) -> Iterator[Passage]:
    """Lines written backwards or turned by thirteen letters, or hidden in initials."""
    for pattern, undo in ((_BACKWARDS, _reversed), (_TURNED, _turned)):
        if len(pattern.findall(text)) >= 2:
            for line in _LINE.finditer(text):
                if len(pattern.findall(line[0])) >= 2:
                    yield "encoded_text", undo(line[0]), line.span()
    initials = "".join(re.findall(r"^\s{0,8}([^\W\d_])", text[:20_000], re.MULTILINE))
    if len(initials) >= 12:
        yield "disguised_text", lexicon().parted(folded(initials)), (0, len(text))


def _reversed(line: str) -> str:
    return line[::-1]


def _turned(line: str) -> str:
    return codecs.encode(line, "rot13")
