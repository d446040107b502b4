"""The steps that make an item searchable. Each locks the item's row and is safe to run twice."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.indexing.actors import pack_soon
from knowledge.indexing.binary_rows import CHUNKS, Keys, copy_rows
from knowledge.indexing.generations import (
    EmbeddedPieces,
    lock_index_shared,
    write_vectors,
)
from knowledge.indexing.index_rows import IndexRows, Labels, make_rows
from knowledge.indexing.keyword_rows import together, write_words
from knowledge.models import Chunk, ChunkEmbedding, ChunkText, IndexStatus, Item, LibrarySize
from knowledge.models.prepared import send
from knowledge.text.chunking import Piece
from knowledge.text.languages import DEFAULT

INDEX_VERSION = 4
"""To be raised whenever pieces, words or embedded texts come out otherwise than before."""

# The sequence is looked up once, and not for each id.
_NEXT_IDS = """
    SELECT ARRAY(
        SELECT nextval((SELECT pg_get_serial_sequence('knowledge_chunk', 'id')::regclass))
        FROM generate_series(1, %s)
    ), (SELECT id FROM knowledge_generation WHERE is_live)
"""


@dataclass(frozen=True, slots=True)
class NewRows:
    """What a new item is indexed by: the rows of its chunks, and their vectors if there are any."""

    item: Item
    rows: IndexRows
    embedded: EmbeddedPieces | None


def index_new_items(new: Sequence[NewRows]) -> None:
    """Write the chunks of items of one owner, which the caller's transaction is yet to insert.

    The items get what they are to say of their index; `count_new_items` comes last.
    """
    if not new:
        return
    lock_index_shared()
    _write_chunks(new)


def count_new_items(items: Collection[Item]) -> None:
    """Count the chunks of new items of one owner, last of all in the transaction."""
    counted = [item for item in items if item.chunk_count]
    if not counted:
        return
    owner_id, chunks = counted[0].owner_id, sum(item.chunk_count for item in counted)
    fresh = LibrarySize.objects.change(
        owner_id,
        chunks=chunks,
        words=sum(item.word_count for item in counted),
        fresh=chunks,
        languages={item.content.language or DEFAULT for item in counted},
    )
    pack_soon(owner_id, fresh=fresh, added=chunks)


def index_item(
    item: Item,
    pieces: Sequence[Piece],
    embedded: EmbeddedPieces | None,
    *,
    is_new: bool = False,
    rows: IndexRows | None = None,
) -> None:
    """Replace the item's chunks; without vectors it is found by word until its job is done.

    Runs within the caller's transaction, which holds the item. Rows that were made beforehand are
    written if they are those of this item as it is now.
    """
    made = NewRows(item, rows_of(item, pieces, rows), embedded)
    lock_index_shared()
    # A new item has nothing to delete, and looking costs as much as all else for a short note.
    removed = 0 if is_new else _delete_chunks(item)
    words_before = item.word_count
    _write_chunks([made])
    fresh = _count(item, removed=removed, words_before=words_before)
    pack_soon(item.owner_id, fresh=fresh, added=item.chunk_count)


def rows_of(item: Item, pieces: Sequence[Piece], rows: IndexRows | None) -> IndexRows:
    """These rows, if they are those of the item as it is now; else new ones of its pieces."""
    labels = Labels.of_item(item)
    return rows if rows is not None and rows.labels == labels else make_rows(pieces, labels)


def remove_from_index(item: Item) -> None:
    """Leave no chunk of this item; runs within the caller's transaction, which holds it."""
    removed, words_before = _delete_chunks(item), item.word_count
    item.index_status, item.chunk_count, item.word_count = IndexStatus.NONE, 0, 0
    _count(item, removed=removed, words_before=words_before)


def _delete_chunks(item: Item) -> int:
    chunks = Chunk.objects.filter(item=item)
    ChunkText.objects.filter(chunk__in=chunks)._raw_delete(using="default")
    ChunkEmbedding.objects.filter(chunk__in=chunks)._raw_delete(using="default")
    return int(chunks._raw_delete(using="default"))


def _count(item: Item, *, removed: int, words_before: int) -> int:
    """Keep all counters right, in the very transaction that changed the chunks."""
    item.index_error = ""
    counted = ["chunk_count", "word_count", "index_status", "index_error", "index_version"]
    item.save(update_fields=counted)
    return LibrarySize.objects.change(
        item.owner_id,
        chunks=item.chunk_count - removed,
        words=item.word_count - words_before,
        fresh=item.chunk_count,
        languages=[item.content.language or DEFAULT] if item.chunk_count else (),
    )


def _write_chunks(new: Sequence[NewRows]) -> None:
    """Write chunks with words and vectors; each item gets what it is to say of its index."""
    sizes = [len(each.rows.starts) for each in new]
    item_ids = np.repeat(np.array([each.item.pk.bytes for each in new], "V16"), sizes)
    chunk_ids, generation_id = _next_ids(sum(sizes))
    keys = Keys(np.array(chunk_ids, np.int64), new[0].item.owner_id, item_ids)
    copy_rows(
        CHUNKS,
        keys,
        [field for each in new for field in each.rows.fields],
        position=np.concatenate([np.arange(size) for size in sizes]),
        start=np.concatenate([each.rows.starts for each in new]),
        end=np.concatenate([each.rows.ends for each in new]),
    )
    write_words(keys, together([each.rows.words for each in new]))
    if generation_id is not None:
        _write_vectors(new, keys, generation_id)
    for each, size in zip(new, sizes, strict=True):
        item, embedded = each.item, each.embedded
        is_done = not size or (embedded is not None and embedded.generation_id == generation_id)
        item.index_status = IndexStatus.DONE if is_done else IndexStatus.KEYWORD
        item.index_version = INDEX_VERSION
        item.chunk_count, item.word_count = size, int(each.rows.words.lengths.sum())


def _next_ids(count: int) -> tuple[list[int], int | None]:
    """Ids of new chunks, and the generation that is live, which the caller's lock keeps so."""
    ids, generation_id = send(_NEXT_IDS, [count]) or ([], None)
    return ids, generation_id


def _write_vectors(new: Sequence[NewRows], keys: Keys, generation_id: int) -> None:
    """The vectors of those that were embedded for the generation that is live now."""
    found = [
        each.embedded.vectors
        if each.embedded and each.embedded.generation_id == generation_id
        else None
        for each in new
    ]
    vectors = [vector for each in found if each is not None for vector in each]
    if len(vectors) == len(keys.chunk_ids):
        write_vectors(keys, generation_id, vectors)
        return
    has_vector = np.repeat(
        [each is not None for each in found], [len(each.rows.starts) for each in new]
    )
    chunk_ids, item_ids = np.asarray(keys.chunk_ids), np.asarray(keys.item_id)
    of_those = Keys(chunk_ids[has_vector], keys.owner_id, item_ids[has_vector])
    write_vectors(of_those, generation_id, vectors)
