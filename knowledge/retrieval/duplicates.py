"""Duplicate texts in results: the second is listed as a copy of the first."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

_BEGINNING = 60
"""Characters by which chunks are told apart before whole texts are read."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Another item that says the very same, as far as the caller sees it."""

    user_item_id: UUID
    title: str


def normal_form(text: str) -> str:
    """The text with neither its case nor its line breaks: copies have the same."""
    return " ".join(text.split()).casefold()


def repeated_texts(chunk_ids: Sequence[int]) -> dict[int, str]:
    """The text of each of these chunks that has the same text as another of them.

    These are chunks that a search has found for its caller.
    """
    alike = _alike(_read(f"left(text, {_BEGINNING})", chunk_ids))
    return {
        chunk_id: text
        for group in _groups(_read("text", [each for group in alike for each in group]))
        for chunk_id, text in group.items()
    }


def _alike(beginnings: dict[int, str]) -> list[dict[int, str]]:
    return _groups({each: text[: _BEGINNING // 2] for each, text in beginnings.items()})


def _groups(texts: dict[int, str]) -> list[dict[int, str]]:
    """The chunks that share their text with another, by that text."""
    groups: dict[str, dict[int, str]] = defaultdict(dict)
    for chunk_id, text in texts.items():
        groups[text][chunk_id] = text
    return [group for group in groups.values() if len(group) > 1]


def _read(what: str, chunk_ids: Iterable[int]) -> dict[int, str]:
    if not (wanted := list(chunk_ids)):
        return {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, {what} FROM knowledge_chunk WHERE id = ANY(%s)", [wanted])
        return {chunk_id: normal_form(text) for chunk_id, text in cursor.fetchall()}
