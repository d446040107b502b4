"""Passages in a code of bytes or signs: base64, hex, bits, Morse and their like."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import base64
import binascii
import html
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from knowledge.screening.concepts import folded, lexicon
from knowledge.screening.hidden_orders import Passage

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,20000}={0,2}(?![A-Za-z0-9+/_-])")
_WRAPPED = re.compile(
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{40,100}\n[ \t]{0,8}){1,200}[A-Za-z0-9+/]{4,100}={0,2}"
)
_BASE32 = re.compile(r"(?<![A-Za-z0-9=])(?:[A-Z2-7]{8}){3,2000}(?:[A-Z2-7]{2,7}={1,6}|={0,6})(?![A-Za-z0-9])")  # fmt: skip
_BASE85 = re.compile(r"<~(?P<code>[!-uz\s]{20,8000})~>")
_PIECE = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{6,400}={0,2}(?![A-Za-z0-9+/_=-])")
_HEX = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[\s,:;-]{0,2}){12,4000}(?![0-9A-Za-z])"
)
_ESCAPES = re.compile(r"(?:(?:\\u\{?[0-9a-fA-F]{2,5}\}?|\\x[0-9a-fA-F]{2}|\\[0-7]{3}|U\+[0-9a-fA-F]{4})[ ,]{0,2}){6,2000}")  # fmt: skip
_PERCENT = re.compile(r"(?:[\w.+-]{0,20}%(?:25)?[0-9A-Fa-f]{2}){6,2000}[\w.+-]{0,20}")
_QUOTED_PRINTABLE = re.compile(r"(?:=[0-9A-F]{2}(?:=\n)?){8,2000}")
_ENTITIES = re.compile(r"(?:&#[xX]?[0-9a-fA-F]{2,6};[ \w,.]{0,2}){6,2000}")
_NUMBERS = re.compile(r"(?<![\d.])(?:\d{1,3}[ ,;/.-]{1,3}){10,2000}\d{1,3}(?!\d)")
_BITS = re.compile(r"(?<!\d)(?:[01]{8}[\s,]{0,2}){6,2000}|(?<!\d)(?:[01]{7}[\s,]{1,2}){6,2000}")
_MORSE = re.compile(r"(?<![\w.·–−-])(?:[.\-·–−•_]{1,6}[ /|]{1,3}){6,2000}[.\-·–−•_]{1,6}(?!\w)")
_BRAILLE = re.compile(r"(?:[\u2801-\u283f]+[\s\u2800]{0,2}){3,400}")
_SPOKEN = re.compile(
    r"(?i)(?:\b(?:alpha|alfa|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliett?|kilo|lima|mike|november|oscar|papa|quebec|romeo|sierra|tango|uniform|victor|whiskey|x-?ray|yankee|zulu)\b[\s,.;/-]{1,3}){6,400}"
)
_MORSE_SIGNALS = ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MORSE_CODE = dict(zip(_MORSE_SIGNALS.split(), _LETTERS, strict=True))
_BRAILLE_CODE = dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", _LETTERS, strict=True))
_MARKUP = re.compile(r"<[^<>]{0,800}>")
_WRAPPINGS = 3
_LONGEST = 20_000


def codes(text: str) -> Iterator[Passage]:
    """Every passage that decodes to words."""
    for signs, pattern, undo in _UNDOING:
        if signs and not any(sign in text for sign in signs):
            continue
        for match in pattern.finditer(text):
            plain = _unwrapped(undo(match[0]))
            if plain:
                yield "encoded_text", plain, match.span()
    for joined, start, end in _pieces(text):
        plain = _unwrapped(_from_base64(joined))
        if plain:
            yield "encoded_text", plain, (start, end)


def _unwrapped(plain: str) -> str:
    """The words within, however often they were wrapped; nothing when there are none."""
    for _ in range(_WRAPPINGS):
        inner = _from_base64(plain.strip()) if _BASE64.fullmatch(plain.strip()) else ""
        if not inner and _HEX.fullmatch(plain.strip()):
            inner = _from_hex(plain)
        if not inner:
            break
        plain = inner
    plain = html.unescape(_MARKUP.sub(" ", plain)) if "<" in plain or "&" in plain else plain
    return plain if len(plain) >= 10 and _reads(plain) else ""


def _reads(plain: str) -> bool:
    """Words, not bytes that happen to be printable."""
    letters = sum(sign.isalpha() or sign.isspace() for sign in plain)
    return letters >= 0.75 * len(plain) and not any(
        unicodedata.category(sign) == "Cc" and sign not in "\n\t\r" for sign in plain
    )


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Pieces of one code that stand near each other, put together."""
    group: list[re.Match[str]] = []
    for piece in _PIECE.finditer(text):
        if not _is_piece(piece[0]):
            continue
        if group and piece.start() - group[-1].end() > 40:
            yield from _joined(group)
            group = []
        group.append(piece)
    yield from _joined(group)


def _is_piece(piece: str) -> bool:
    """Letters that change their case, or digits among them, as no word has them."""
    inner = piece[1:]
    return not piece.islower() and (
        any(one.islower() and other.isupper() for one, other in zip(piece, inner, strict=False))
        or (any(map(str.isdigit, piece)) and not piece.isupper() and not piece.isdigit())
    )


def _joined(group: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    if 2 <= len(group) <= 200 and sum(len(piece[0]) for piece in group) >= 20:
        joined = "".join(piece[0].rstrip("=") for piece in group)
        yield joined, group[0].start(), group[-1].end()


def _from_base64(code: str) -> str:
    code = "".join(code.split()).rstrip("=")
    try:
        raw = base64.b64decode(code.replace("-", "+").replace("_", "/") + "=" * (-len(code) % 4))
    except (binascii.Error, ValueError):
        return ""
    return _text(raw)


def _from_base32(code: str) -> str:
    code = code.rstrip("=")
    try:
        return _text(base64.b32decode(code + "=" * (-len(code) % 8)))
    except (binascii.Error, ValueError):
        return ""


def _from_base85(code: str) -> str:
    try:
        return _text(base64.a85decode(code, adobe=True))
    except ValueError:
        return ""


def _text(raw: bytes) -> str:
    """The words of bytes, also of packed ones and of those that Windows writes."""
    if raw[:2] == b"\x1f\x8b" or raw[:1] == b"\x78":
        try:
            raw = zlib.decompressobj(wbits=47).decompress(raw, _LONGEST)
        except zlib.error:
            return ""
    try:
        return raw.decode("utf-16-le" if raw[1::2].count(0) > len(raw) // 3 else "utf-8")
    except ValueError:
        return ""


def _from_hex(code: str) -> str:
    digits = re.sub(r"0x|\\x|[\s,:;-]", "", code)
    try:
        return _text(bytes.fromhex(digits))
    except ValueError:
        return ""


def _from_escapes(code: str) -> str:
    octal = re.sub(r"\\([0-7]{3})[ ,]{0,2}", lambda sign: chr(int(sign[1], 8)), code)
    return re.sub(
        r"(?:\\[ux]\{?|U\+)([0-9a-fA-F]{2,5})\}?[ ,]{0,2}",
        lambda sign: chr(int(sign[1], 16)),
        octal,
    )


def _from_percent(code: str) -> str:
    return unquote(unquote(code)).replace("+", " ")


def _from_quoted_printable(code: str) -> str:
    return unquote(code.replace("=\n", "").replace("=", "%"))


def _from_numbers(code: str) -> str:
    """Character codes in tens or in eights, or the places of letters in the alphabet."""
    digits = re.findall(r"\d+", code)
    numbers = [int(number) for number in digits]
    if all(32 <= number < 127 for number in numbers):
        return "".join(map(chr, numbers))
    if all(number.isdigit() and "8" not in number and "9" not in number for number in digits):
        signs = [int(number, 8) for number in digits]
        return "".join(map(chr, signs)) if all(32 <= sign < 127 for sign in signs) else ""
    if all(1 <= number <= 26 for number in numbers):
        words = re.split(r"\s*[/.]\s*|\s{2,}|(?<=\d)\s(?=\d)" if "-" in code else r"\s*[/.]\s*|\s{2,}", code)  # fmt: skip
        spelt = ["".join(_LETTERS[int(n) - 1] for n in re.findall(r"\d+", word)) for word in words]
        return " ".join(spelt) if len(words) > 1 else lexicon().parted(folded(spelt[0]))
    return ""


def _from_bits(code: str) -> str:
    groups = code.replace(",", " ").split()
    if len(groups) > 1 and all(len(group) == 7 for group in groups):
        return "".join(chr(int(group, 2)) for group in groups)
    bits = "".join(groups)
    raw = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
    return raw.decode(errors="replace")


def _from_morse(code: str) -> str:
    signs = code.translate(str.maketrans("·•–−_", "..---"))
    words = re.split(r"\s*[/|]\s*|\s{3,}", signs)
    return " ".join("".join(_MORSE_CODE.get(sign, "") for sign in word.split()) for word in words)


def _from_braille(code: str) -> str:
    return "".join(_BRAILLE_CODE.get(sign, " ") for sign in code)


def _from_spoken(code: str) -> str:
    initials = "".join(word[0] for word in re.findall(r"[A-Za-z-]+", code))
    return lexicon().parted(initials.lower())


_UNDOING: tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[str], str]], ...] = (
    ((), _BASE64, _from_base64),
    (("\n",), _WRAPPED, _from_base64),
    ((), _BASE32, _from_base32),
    (("<~",), _BASE85, _from_base85),
    ((), _HEX, _from_hex),
    (("\\", "U+"), _ESCAPES, _from_escapes),
    (("%",), _PERCENT, _from_percent),
    (("=",), _QUOTED_PRINTABLE, _from_quoted_printable),
    (("&#",), _ENTITIES, html.unescape),
    ((), _NUMBERS, _from_numbers),
    (("01", "10"), _BITS, _from_bits),
    ((". ", "- ", "· ", "– ", "− ", "• ", "_ "), _MORSE, _from_morse),
    (("⠁", "⠑", "⠊", "⠕"), _BRAILLE, _from_braille),
    (("ovember", "OVEMBER"), _SPOKEN, _from_spoken),
)
"""Signs of which a code has one, what it looks like, and how it is undone."""
