"""Django's messages in two versions of a language: one finds the other, a title without a text.

`django-pt` (Brazil and Portugal), `django-es` (Argentina and Spain), `django-ar` (Algeria and the
other countries).
"""

from gettext import GNUTranslations
from pathlib import Path

import django
from django.utils.html import strip_tags

from benchmarks.collections.writing import Pair, run, write_collection

_LANGUAGES = {"pt": "pt_BR", "es": "es_AR", "ar": "ar_DZ"}
_SHORTEST = 20


def make(folder: Path) -> None:
    for language, other in _LANGUAGES.items():
        documents, questions = _messages(language), _messages(other)
        pairs = [
            Pair(questions[message], text, "")
            for message, text in documents.items()
            if message in questions and questions[message] != text
        ]
        write_collection(folder / f"django-{language}", pairs)


def _messages(language: str) -> dict[str, str]:
    """Every message of Django and its applications that is a sentence."""
    found: dict[str, str] = {}
    for path in sorted(Path(django.__file__).parent.rglob(f"{language}/LC_MESSAGES/django.mo")):
        with path.open("rb") as file:
            catalog = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        for message, text in catalog.items():
            if isinstance(message, str) and len(text) >= _SHORTEST and len(message) >= _SHORTEST:
                found[message] = " ".join(strip_tags(text).split())
    return found


if __name__ == "__main__":
    run(__doc__, make)
