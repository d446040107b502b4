"""The concepts' words, a module per family of languages."""

from collections.abc import Iterator

from knowledge.screening.concepts import Concept
from knowledge.screening.lexicons import (
    east_asian,
    english_circumstances,
    english_deeds,
    english_things,
    germanic,
    romance,
    slavic,
    south_asian,
    west_asian,
)

_FAMILIES = (
    english_deeds,
    english_things,
    english_circumstances,
    germanic,
    romance,
    slavic,
    west_asian,
    south_asian,
    east_asian,
)


def words() -> Iterator[tuple[Concept, str]]:
    """Each word with what it speaks of; a star stands for any ending."""
    for family in _FAMILIES:
        for concept, listed in family.WORDS.items():
            for word in listed.split(","):
                if word.strip():
                    yield concept, word.strip()
