"""Which language a text is in, and which of Postgres' dictionaries reads it."""

from collections.abc import Set

from knowledge.text.language_tables import language_identifier

DEFAULT = "en"
SURE = 0.5
"""A guess counts when it is likelier than all others together; code and names have no such."""
CERTAIN = 0.99
"""So sure must one be of a language without a dictionary, for example Nigerian Pidgin: to take some
English for it leaves each word as it is written, and to miss it costs little."""

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
    language, sureness = language_identifier().classify(sample)
    needed = SURE if language in CONFIGURATIONS else CERTAIN
    return str(language) if sureness >= needed or _is_of_another_script(sample) else DEFAULT


def likeliest_of(text: str, languages: Set[str]) -> tuple[str, float]:
    """Which of these languages the text is in, if it is in one of them, and how sure that is."""
    ranked = language_identifier().rank(text[:_SAMPLE])
    found = {str(each): float(share) for each, share in ranked if each in languages}
    whole = sum(found.values())
    if not whole:
        return DEFAULT, 0.0
    best = max(found, key=lambda each: found[each])
    return best, found[best] / whole


def configuration_for(language: str) -> str:
    """Postgres' text-search configuration; `simple`, which changes no word, for any other."""
    return CONFIGURATIONS.get(language.lower()[:2] or DEFAULT, "simple")


def _is_of_another_script(text: str) -> bool:
    """Whether most letters are not Latin: then any guess is better than the default."""
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > _LAST_LATIN for letter in letters) > len(letters) / 2
