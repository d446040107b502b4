"""The words of a text, as keyword search reads them: the same for what is kept and what is asked.

Postgres' own parser takes `foo_bar.baz` for a host and `/api/v1/items` for a file, and would find
neither in parts. So punctuation is taken out before it looks, and what was written with
punctuation inside is kept beside it as it stands.
"""

import re
from collections.abc import Iterable

LONGEST_WORD = 100

_PUNCTUATION = {
    code: " "
    for block in (
        range(0x30),
        range(0x3A, 0x41),
        range(0x5B, 0x61),
        range(0x7B, 0xC0),
        (0xD7, 0xF7),
        range(0x2000, 0x2C00),
        range(0x2E00, 0x2E80),
        range(0x3000, 0x3005),
        range(0x3008, 0x3021),
        (0x30FB,),
        range(0xFF00, 0xFF10),
        range(0xFF1A, 0xFF21),
    )
    for code in block
    # Joiners stand inside words of Persian, Hindi and others.
    if code not in (0xAA, 0xB5, 0xBA, 0x200C, 0x200D)
}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_HUMPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_LATIN_WORD = re.compile(r"[A-Za-z0-9]{4,}")
# Thai and Lao, Burmese, Khmer, Japanese, Chinese: scripts that put no blanks between words.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]{2,}"
)
_BETWEEN = re.compile(r"[^\s()\[\]{}<>\"'`,;|“”„‘’«»]+")
_JOINED = re.compile(r"\w[_\-./:\\@#$%&+=~]+\w|^[/.~$@#-]\w|\w(?:\+\+|#)$")
_EDGE = ":!?.…*="
_AFTER_WORDS = _EDGE + ",;)]}>\"'`”’»"
_BEFORE_WORDS = "([{<\"'`“„‘«"


def words_of(text: str) -> list[str]:
    """The words of a text in order; those of each part between blanks are the same by itself."""
    return plain(text).lower().split()


def plain(text: str) -> str:
    """The text as words apart: without punctuation, camelCase also in humps, Chinese in pairs."""
    if _HUMPED.search(text):
        text = _LATIN_WORD.sub(_split_camel_case, text)
    text = text.translate(_PUNCTUATION)
    return text if text.isascii() else _UNSPACED.sub(_in_pairs, text)


def identifiers(text: str) -> list[str]:
    """Names, codes, versions and paths with punctuation inside, whole and in their larger parts."""
    found: dict[str, None] = {}
    marked = " ".join([word for word in text.split() if not word.isalnum() and not _is_plain(word)])
    for token in _BETWEEN.findall(marked):
        whole = token.strip(_EDGE)
        whole = whole.rstrip("/") or whole
        if len(whole) <= LONGEST_WORD and _JOINED.search(whole):
            found.update(dict.fromkeys(_joined_parts(whole.lower())))
    return list(found)


def compound_parts(text: str) -> set[str]:
    """Words that the text has only inside others, as `is` and `unscoped` in `is_unscoped`."""
    inside, alone = set[str](), set[str]()
    for written in text.split():
        words = words_of(written)
        (inside if len(words) > 1 else alone).update(words)
    return inside - alone


def _is_plain(word: str) -> bool:
    """Whether a word has punctuation only around it, as nearly all have that have any."""
    return word.rstrip(_AFTER_WORDS).lstrip(_BEFORE_WORDS).isalnum()


def _joined_parts(whole: str) -> Iterable[str]:
    yield whole
    for part in re.split(r"[/:\\=]+|\.(?!\d)", whole):
        if part and part != whole and _JOINED.search(part):
            yield part


def _split_camel_case(match: re.Match[str]) -> str:
    word = match[0]
    if not _HUMPED.search(word):
        return word
    parts = _HUMP.split(word)
    return f"{word} {' '.join(parts)}" if len(parts) > 1 else word


def _in_pairs(match: re.Match[str]) -> str:
    run = match[0]
    pairs = (run[place : place + 2] for place in range(len(run) - 1))
    return f" {' '.join(pairs)} "
