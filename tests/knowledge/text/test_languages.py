"""A short note is read in its own language where that is likelier than all others together."""

import pytest

from knowledge.text.languages import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Seleccione una opción válida.", "es"),
        ("Die Bestellung wurde gestern storniert.", "de"),
        ("La sauvegarde tourne chaque nuit.", "fr"),
        ("Ship it on Friday, after the tests.", "en"),
        ("def fetch(rows): return [row.id for row in rows]", "en"),
    ],
)
def test_a_short_note_is_read_in_its_language(text: str, language: str) -> None:
    assert language_of(text) == language
