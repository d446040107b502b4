"""The steps that make an item searchable. Each holds its item's row and is safe to run twice."""

import json
from collections.abc import Sequence

from django.db import connection

from knowledge.chunking import Piece
from knowledge.generations import live_generation, write_vectors
from knowledge.models import Chunk, ChunkEmbedding, ChunkText, IndexStatus, Item
from knowledge.providers.protocols import Vectors

_COPY_CHUNKS = (
    "COPY knowledge_chunk "
    '(id, item_id, owner_id, position, start, "end", heading_path, text, locator) FROM STDIN'
)
_WRITE_WORDS = r"""
    INSERT INTO knowledge_chunktext (chunk_id, owner_id, item_id, tsv, length)
    SELECT id, owner_id, item_id, tsv,
        (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(tsv))
    FROM knowledge_chunk,
        concat_ws(E'\n', %s, array_to_string(heading_path, E'\n'), text) AS words,
        to_tsvector('english', words) AS tsv
    WHERE item_id = %s
"""


def index_item(item: Item, pieces: Sequence[Piece], vectors: Vectors | None) -> None:
    """Replace the item's chunks; without vectors it is found by word until its job is done.

    Runs within the caller's transaction, which holds the item or has just made it.
    """
    remove_from_index(item)
    chunk_ids = _write_chunks(item, pieces)
    if vectors is not None and chunk_ids:
        write_vectors(item, live_generation(), zip(chunk_ids, vectors, strict=True))
    item.chunk_count = len(chunk_ids)
    is_done = vectors is not None or not chunk_ids
    item.index_status = IndexStatus.DONE if is_done else IndexStatus.KEYWORD
    item.index_error = ""
    item.save(update_fields=["chunk_count", "index_status", "index_error", "updated_at"])


def remove_from_index(item: Item) -> None:
    """Leave no chunk of this item; runs within the caller's transaction."""
    chunks = Chunk.objects.filter(item=item)
    ChunkText.objects.filter(chunk__in=chunks)._raw_delete(using="default")
    ChunkEmbedding.objects.filter(chunk__in=chunks)._raw_delete(using="default")
    chunks._raw_delete(using="default")
    item.chunk_count = 0
    item.index_status = IndexStatus.NONE
    item.save(update_fields=["chunk_count", "index_status", "updated_at"])


def _write_chunks(item: Item, pieces: Sequence[Piece]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('knowledge_chunk', 'id')) "
            "FROM generate_series(1, %s)",
            [len(pieces)],
        )
        chunk_ids = [row[0] for row in cursor.fetchall()]
        with cursor.copy(_COPY_CHUNKS) as copy:
            for position, (chunk_id, piece) in enumerate(zip(chunk_ids, pieces, strict=True)):
                place = (chunk_id, item.pk, item.owner_id, position, piece.start, piece.end)
                locator = json.dumps({"char_span": [piece.start, piece.end]})
                copy.write_row((*place, list(piece.heading_path), piece.text, locator))
        cursor.execute(_WRITE_WORDS, [item.title, item.pk])
    return chunk_ids
