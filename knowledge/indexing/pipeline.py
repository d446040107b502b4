"""The steps that make an item searchable. Each locks the item's row and is safe to run twice."""

from collections.abc import Sequence

from django.db import connection

from knowledge.indexing.binary_rows import CHUNKS, Keys, copy_rows
from knowledge.indexing.generations import EmbeddedPieces, lock_index_shared, write_pieces
from knowledge.indexing.index_rows import IndexRows, Labels, make_rows
from knowledge.indexing.keyword_rows import write_words
from knowledge.models import Chunk, ChunkEmbedding, ChunkText, IndexStatus, Item, LibrarySize
from knowledge.text.chunking import Piece

INDEX_VERSION = 2
"""To be raised whenever pieces, words or embedded texts come out otherwise than before."""

# The sequence is looked up once, and not for each id.
_NEXT_IDS = """
    SELECT nextval((SELECT pg_get_serial_sequence('knowledge_chunk', 'id')::regclass))
    FROM generate_series(1, %s)
"""


def index_item(
    item: Item,
    pieces: Sequence[Piece],
    embedded: EmbeddedPieces | None,
    *,
    is_new: bool = False,
    rows: IndexRows | None = None,
) -> None:
    """Replace the item's chunks; without vectors it is found by word until its job is done.

    Runs within the caller's transaction, which holds the item or has just made it. Rows that were
    made beforehand are written if they are those of this item as it is now.
    """
    labels = Labels.of_item(item)
    if rows is None or rows.labels != labels:
        rows = make_rows(pieces, labels)
    lock_index_shared()
    # A new item has nothing to delete, and looking costs as much as all else for a short note.
    removed = 0 if is_new else _delete_chunks(item)
    chunk_ids = _write_chunks(item, rows)
    is_embedded = embedded is not None and write_pieces(item, chunk_ids, embedded)
    is_done = is_embedded or not chunk_ids
    item.index_status = IndexStatus.DONE if is_done else IndexStatus.KEYWORD
    item.index_version = INDEX_VERSION
    _count(item, len(chunk_ids), len(chunk_ids) - removed)


def remove_from_index(item: Item) -> None:
    """Leave no chunk of this item; runs within the caller's transaction, which holds it."""
    removed = _delete_chunks(item)
    item.index_status = IndexStatus.NONE
    _count(item, 0, -removed)


def _delete_chunks(item: Item) -> int:
    chunks = Chunk.objects.filter(item=item)
    ChunkText.objects.filter(chunk__in=chunks)._raw_delete(using="default")
    ChunkEmbedding.objects.filter(chunk__in=chunks)._raw_delete(using="default")
    return int(chunks._raw_delete(using="default"))


def _count(item: Item, chunks: int, change: int) -> None:
    """Keep both counters right, in the very transaction that changed the chunks."""
    item.chunk_count = chunks
    item.index_error = ""
    item.save(update_fields=["chunk_count", "index_status", "index_error", "index_version"])
    LibrarySize.objects.change(item.owner_id, change)


def _write_chunks(item: Item, rows: IndexRows) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_IDS, [len(rows.starts)])
        chunk_ids = [row[0] for row in cursor.fetchall()]
    copy_rows(
        CHUNKS,
        Keys(chunk_ids, item.owner_id, item.pk),
        rows.fields,
        position=range(len(rows.starts)),
        start=rows.starts,
        end=rows.ends,
    )
    write_words(item.owner_id, item.pk, chunk_ids, rows.words)
    return chunk_ids
