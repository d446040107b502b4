"""Duplicate texts in results: the second is listed as a copy of the first."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from django.db import connection
from psycopg.rows import DictRow

from knowledge.retrieval.passages import WordPairs, say_the_same, word_pairs

BEGINNING = 60
"""Characters by which chunks are told apart before whole texts are read."""
READ_TO_FOLD = 100
"""So many hits are compared word by word."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Another item that says the very same, as far as the caller sees it."""

    user_item_id: UUID
    title: str


@dataclass
class FoundChunk:
    """A ranked chunk, and those that say the same."""

    row: DictRow
    similar: list[int] = field(default_factory=list)
    copies: dict[UUID, Copy] = field(default_factory=dict)

    @property
    def chunk_id(self) -> int:
        return int(self.row["chunk_id"])

    @cached_property
    def word_pairs(self) -> WordPairs:
        """Only made for an item with several hits, and once."""
        return word_pairs(self.row["text"])

    def take(self, other: DictRow) -> None:
        """Name a chunk with the same text instead of giving it a place."""
        if other["item_id"] == self.row["item_id"]:
            self.similar.append(other["chunk_id"])
        else:
            copy = Copy(other["item_id"], other["custom_title"] or other["title"])
            self.copies.setdefault(copy.user_item_id, copy)


def fold_duplicates(found: Sequence[FoundChunk], wanted: int) -> list[FoundChunk]:
    """So many places at most, each with the chunks that say the same as its own.

    Among the first hits, other words in a different case or order may still say the same; of
    those behind them only the very same text does.
    """
    siblings: dict[UUID, list[FoundChunk]] = defaultdict(list)
    by_text: dict[Hashable, FoundChunk] = {}
    answer: list[FoundChunk] = []
    for each in found:
        is_read = each.row["place"] <= READ_TO_FOLD
        texts = list(_texts(each.row, is_read=is_read))
        if first := next((by_text[text] for text in texts if text in by_text), None):
            first.take(each.row)
            continue
        if len(answer) == wanted:
            continue  # only what is shown already may still get copies
        of_item = siblings[each.row["item_id"]] if is_read else []
        same = (other for other in of_item if say_the_same(other.word_pairs, each.word_pairs))
        if first := next(same, None):
            first.similar.append(each.chunk_id)
            continue
        by_text |= dict.fromkeys(texts, each)
        of_item.append(each)
        answer.append(each)
    return answer


def _texts(row: DictRow, *, is_read: bool) -> Iterator[Hashable]:
    """What stands for the text of a chunk: any two that have one of these in common are copies."""
    yield row["text_hash"]
    if is_read:
        yield normal_form(row["text"])


def normal_form(text: str) -> str:
    """The text with neither its case nor its line breaks: copies have the same."""
    return " ".join(text.split()).casefold()


def repeated_texts(beginnings: Mapping[int, str]) -> dict[int, str]:
    """The text of each of these chunks that has the same text as another of them.

    These are chunks that a search has found for its caller, with the beginnings of their texts.
    """
    alike = _groups(
        {each: normal_form(text)[: BEGINNING // 2] for each, text in beginnings.items()}
    )
    return {
        chunk_id: text
        for group in _groups(_read_texts([each for group in alike for each in group]))
        for chunk_id, text in group.items()
    }


def _groups(texts: dict[int, str]) -> list[dict[int, str]]:
    """The chunks that share their text with another, by that text."""
    groups: dict[str, dict[int, str]] = defaultdict(dict)
    for chunk_id, text in texts.items():
        groups[text][chunk_id] = text
    return [group for group in groups.values() if len(group) > 1]


def _read_texts(chunk_ids: Sequence[int]) -> dict[int, str]:
    if not chunk_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, text FROM knowledge_chunk WHERE id = ANY(%s)", [list(chunk_ids)])
        return {chunk_id: normal_form(text) for chunk_id, text in cursor.fetchall()}
