"""Which language a question is in: by its script first, then by the languages it may be about.

A question is short, so nothing is guessed that its library does not suggest.
"""

import unicodedata
from collections import Counter
from collections.abc import Set
from functools import lru_cache

from knowledge.text.languages import DEFAULT, likeliest_of

SURE = 0.9
"""Below this a question in Latin letters is taken for one that the embedder knows."""

LATIN = "LATIN"
_OF_SCRIPT = {
    "ARABIC": ("ar", "fa", "ur", "ps", "ug", "ku"),
    "ARMENIAN": ("hy",),
    "BENGALI": ("bn", "as"),
    "CJK": ("zh", "ja"),
    "CYRILLIC": ("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn"),
    "DEVANAGARI": ("hi", "mr", "ne"),
    "GEORGIAN": ("ka",),
    "GREEK": ("el",),
    "GUJARATI": ("gu",),
    "HANGUL": ("ko",),
    "HEBREW": ("he",),
    "HIRAGANA": ("ja",),
    "KANNADA": ("kn",),
    "KATAKANA": ("ja",),
    "KHMER": ("km",),
    "LAO": ("lo",),
    "MALAYALAM": ("ml",),
    "SINHALA": ("si",),
    "TAMIL": ("ta",),
    "TELUGU": ("te",),
    "THAI": ("th",),
}
_ANY_SCRIPT = frozenset(language for languages in _OF_SCRIPT.values() for language in languages)


def unknown_language(question: str, known: Set[str], in_library: Set[str]) -> str:
    """The language of a question if it is none of the known ones, else nothing.

    A question in letters of another script is of a language that is written so: of the library's
    if it has such, of any else. One in Latin letters is of the default unless it surely is of
    another language that the library has.
    """
    script = script_of(question)
    if not script:
        return ""
    if script == LATIN:
        return _unknown_latin(question, known, in_library - _ANY_SCRIPT)
    written = _OF_SCRIPT.get(script, (script.lower(),))
    likely = [language for language in written if language in in_library] or written
    return "" if any(language in known for language in likely) else likely[0]


def script_of(text: str) -> str:
    """The script that a text is written in, as Unicode names it; Japanese is told by its kana.

    Names and terms in Latin letters stand in questions of every script, so a third of other
    letters is enough.
    """
    counts = Counter(_script(letter) for letter in text if letter.isalpha())
    others = counts.total() - counts[LATIN]
    if not counts or 3 * others < counts.total():
        return LATIN if counts else ""
    del counts[LATIN]
    script = counts.most_common(1)[0][0]
    has_kana = counts["HIRAGANA"] or counts["KATAKANA"]
    return "HIRAGANA" if script == "CJK" and has_kana else script


def _unknown_latin(question: str, known: Set[str], in_library: Set[str]) -> str:
    candidates = (in_library | {DEFAULT}) - {""}
    if candidates <= known:
        return ""
    language, sureness = likeliest_of(question, candidates)
    return "" if language in known or sureness < SURE else language


@lru_cache(maxsize=4_096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
