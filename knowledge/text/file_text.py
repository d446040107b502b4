"""The text of a file in an unknown encoding."""

import codecs
import re
from collections.abc import Iterator

from charset_normalizer import from_bytes

_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\f\r"))
_MOSTLY = 0.93
"""The part of a text that is no control characters; of noise and compressed data it is 0.88."""
_MOSTLY_ZERO = 0.3
"""The part of all bytes that are zeros at every other place, where a text is in UTF-16."""
_ASCII = bytes(range(128))
_FEW = 0.15
"""The part of its letters that a text in Latin letters writes with accents, at most."""
_SAMPLE = 2_000
"""Bytes by which an encoding is guessed."""
# A stretch of letters, or short ones with no more than two odd bytes between them.
_READABLE_RUN = re.compile(
    rb"[\t\n\r -~]{4,}+(?:[^\t\n\r -~]{1,2}[\t\n\r -~]{4,}+){3,}|[\t\n\r -~]{16,}"
)


def readable(data: bytes) -> str:
    """The text of a file, or the words among the bytes of a binary one.

    A text with broken bytes is read as programs read it that do not mind them; after it stand
    the lines that are no UTF-8, once for each encoding that they may be in.
    """
    try:
        return data.decode().replace("\x00", "")
    except UnicodeDecodeError:
        plain = data.translate(None, _CONTROLS)
    readings = [data.decode(wide, "ignore").replace("\x00", "") for wide in _wide(data)]
    if len(plain) < _MOSTLY * len(data):
        runs = _READABLE_RUN.findall(data.replace(b"\x00", b""))
        readings += [run.translate(None, _CONTROLS).decode("utf-8", "ignore") for run in runs]
    else:
        broken = b"\n".join(line for line in plain.splitlines() if not _is_utf8(line))
        readings += [plain.decode("utf-8", "ignore")]
        readings += [broken.decode(encoding, "ignore") for encoding in _encodings(broken)]
    return "\n".join(readings)


def _wide(data: bytes) -> Iterator[str]:
    """The UTF-16 that a file seems to be in: by its mark, or since every other byte is zero."""
    zeros = [data[begin::2].count(0) for begin in (0, 1)]
    if data.startswith(codecs.BOM_UTF16_LE) or zeros[1] > _MOSTLY_ZERO * len(data):
        yield "utf-16-le"
    elif data.startswith(codecs.BOM_UTF16_BE) or zeros[0] > _MOSTLY_ZERO * len(data):
        yield "utf-16-be"


def _encodings(broken: bytes) -> tuple[str, ...]:
    """What lines may be in that are no UTF-8; a wrong one would make suspect words of harmless."""
    letters = broken.translate(None, _ASCII)
    if len(letters) < _FEW * len(broken):
        return ("cp1252",)  # Latin-1 with typographic quotes, which tell who is quoted
    guess = from_bytes(broken[:_SAMPLE]).best()
    others = (guess.encoding,) if guess and guess.encoding != "gb18030" else ()
    return ("gb18030", *others)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
