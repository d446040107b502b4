"""One spelling for every text: compatible forms, invisible and look-alike characters, encodings."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

LONGEST_RUN = 20_000
MOST_RUNS = 50
"""So many encoded runs of one text are decoded; an honest text has few that are readable."""

_ACCENTS = dict.fromkeys((*range(0x300, 0x370), *range(0x64B, 0x653), 0x640, 0x670))
_INVISIBLE = dict.fromkeys(
    (
        *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),
        *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
        *(*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
    )
)
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)} | {0xE0001: None, 0xE007F: None}
"""Tag characters show nothing and spell ASCII."""
_REMOVED: dict[int, int | None] = {**_ACCENTS, **_INVISIBLE, **_TAGS}
_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕԁһԛԝөӏαβεικνορτυχωցոսօ",
    "abekmhopctyxijsdhqwolabeikvoptuxwgnuo",
)
_MIXED_WORD = re.compile(
    r"(?<![^\W\d_])[^\W\d_]*(?:[a-z][\u0370-\u058f]|[\u0370-\u058f][a-z])[^\W\d_]*"
)
_ADDRESS = re.compile(
    r"(?:https?|ftp|wss?)://[^\s\"'`<>)\]}]{3,400}"
    r"|(?<!\w)[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
    r"|(?:%[0-9a-f]{2}[\w.~+-]{0,100}){4,2000}"
)
"""Also percent codes, which say something only when decoded."""
_DIGITS = re.compile(r"\d+")
_BLANKS = re.compile(r"\s+")
_REPEATED = re.compile(r"(.)\1{3,}")
_REPEATED_WORD = re.compile(r"\b(\w{1,30}+)(?: \1\b){3,}")
"""A line of dashes says no more than three of them, nor does a word that pads a text."""

_BASE64 = re.compile(r"(?<![\w+/=-])[\w+/-]{20,}={0,2}(?:\s?\n[\w+/-]{20,}={0,2})*", re.ASCII)
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){16,}(?![0-9A-Za-z])")
_PERCENT = re.compile(r"(?<![\w.~+%-])[\w.~+-]{0,100}(?:%[0-9A-Fa-f]{2}[\w.~+-]{0,100}){3,2000}")


Decode = Callable[[str], str]


class Decoded(NamedTuple):
    """What an encoded run says, and where the run stands."""

    text: str
    start: int
    end: int


def normalise(text: str) -> str:
    """A text in lower case, without accents, invisible signs, look-alikes, addresses, repeats."""
    if not text.isascii():
        text = _fold(text)
    text = text.lower()
    if "@" in text or "://" in text or "%" in text:
        text = _ADDRESS.sub(" ", text)
    plain = _BLANKS.sub(" ", _DIGITS.sub("0", text)).strip()
    return _REPEATED.sub(r"\1\1\1", _REPEATED_WORD.sub(r"\1 \1 \1", plain))


def _fold(text: str) -> str:
    # Lone surrogates, which JSON can smuggle in, have no bytes.
    text = text.encode(errors="replace").decode()
    plain = unicodedata.normalize(
        "NFD", unicodedata.normalize("NFKC", text.translate(_TAGS)).casefold()
    )
    plain = unicodedata.normalize("NFC", plain.translate(_REMOVED))
    return _MIXED_WORD.sub(lambda word: word[0].translate(_LOOKALIKES), plain)


def decode_runs(text: str) -> list[Decoded]:
    """Every run of base64, hex or percent codes that says something readable, decoded once."""
    runs: tuple[tuple[re.Pattern[str], Decode], ...] = ((_BASE64, _from_base64), (_HEX, _from_hex))
    if "%" in text:
        runs = (*runs, (_PERCENT, _from_percent))
    return list(islice(_readable_runs(text, runs), MOST_RUNS))


def _readable_runs(text: str, runs: Iterable[tuple[re.Pattern[str], Decode]]) -> Iterator[Decoded]:
    for pattern, decode in runs:
        for run in pattern.finditer(text):
            said = decode(run[0][:LONGEST_RUN])
            if _is_readable(said):
                yield Decoded(said, *run.span())


def _from_base64(run: str) -> str:
    packed = re.sub(r"[\s=]", "", run).replace("-", "+").replace("_", "/")
    packed = packed[: len(packed) - (len(packed) % 4 == 1)]
    try:
        return _as_text(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    except binascii.Error:
        return ""


def _from_hex(run: str) -> str:
    digits = re.sub(r"0x|\\x|[ ,:]", "", run)
    return _as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_percent(run: str) -> str:
    return unquote(run, errors="ignore").replace("+", " ")


def _as_text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def _is_readable(said: str) -> bool:
    """Hardly a control character among many signs: what chance hardly decodes to."""
    shown = sum(sign.isprintable() or sign in "\r\n\t" for sign in said)
    return len(said) >= 8 and shown >= 0.97 * len(said)
