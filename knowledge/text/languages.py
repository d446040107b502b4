"""Which language a text is in, and which of Postgres' dictionaries reads it."""

from functools import cache
from typing import Any

DEFAULT = "en"
SURE = 0.99
"""Below this a guess is worth less than the default: code, tables and names are hard to tell."""

_SAMPLE = 2_000
_LAST_LATIN = "\u036f"

CONFIGURATIONS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}


def language_of(text: str) -> str:
    """The language's two letters, or the default when the text does not tell."""
    sample = text[:_SAMPLE]
    language, sureness = _identifier().classify(sample)
    return str(language) if sureness >= SURE or _is_of_another_script(sample) else DEFAULT


def configuration_for(language: str) -> str:
    """Postgres' text-search configuration; `simple`, which changes no word, for any other."""
    return CONFIGURATIONS.get(language.lower()[:2] or DEFAULT, "simple")


def _is_of_another_script(text: str) -> bool:
    """Whether most letters are not Latin: then any guess is better than the default."""
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > _LAST_LATIN for letter in letters) > len(letters) / 2


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
