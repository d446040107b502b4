"""The steps that make an item searchable. Each holds its item's row and is safe to run twice."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from struct import Struct

from django.db import connection

from knowledge.indexing.copying import copy_rows
from knowledge.indexing.generations import EmbeddedPieces, hold_live_generation, write_pieces
from knowledge.indexing.wording import write_words
from knowledge.models import Chunk, ChunkEmbedding, ChunkText, IndexStatus, Item, LibrarySize
from knowledge.text.chunking import Piece
from knowledge.text.languages import configuration_for
from knowledge.text.places import span_locator

INDEX_VERSION = 2
"""To be raised whenever pieces, words or embedded texts come out otherwise than before."""

_COPY_CHUNKS = (
    "COPY knowledge_chunk "
    '(id, item_id, owner_id, position, start, "end", heading_path, text, locator) '
    "FROM STDIN (FORMAT BINARY)"
)
_CHUNK_KEYS = Struct("!hiqi16siiiiiiii")
"""The first six fields, each after its size, and before them how many fields there are."""
_SIZE = Struct("!i")
_ARRAY, _ARRAY_LENGTHS = Struct("!iii"), Struct("!ii")
_TEXT_TYPE = 25
_JSONB_VERSION = b"\1"

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
) -> None:
    """Replace the item's chunks; without vectors it is found by word until its job is done.

    Runs within the caller's transaction, which holds the item or has just made it.
    """
    hold_live_generation()
    # A new item has nothing to delete, and looking costs as much as all else for a short note.
    removed = 0 if is_new else _delete_chunks(item)
    chunk_ids = _write_chunks(item, pieces)
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


def _write_chunks(item: Item, pieces: Sequence[Piece]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_IDS, [len(pieces)])
        chunk_ids = [row[0] for row in cursor.fetchall()]
    copy_rows(_COPY_CHUNKS, b"".join(_chunk_rows(item, chunk_ids, pieces)))
    texts = [_all_words(item, piece) for piece in pieces]
    configuration = configuration_for(item.content.language)
    write_words(item.owner_id, item.pk, configuration, chunk_ids, texts)
    return chunk_ids


def _chunk_rows(item: Item, chunk_ids: Sequence[int], pieces: Sequence[Piece]) -> Iterator[bytes]:
    parts, item_key = item.content.locators, item.pk.bytes
    text_array = cache(_text_array)  # headings repeat from piece to piece
    for position, (chunk_id, piece) in enumerate(zip(chunk_ids, pieces, strict=True)):
        keys = (8, chunk_id, 16, item_key, 4, item.owner_id)
        yield _CHUNK_KEYS.pack(9, *keys, 4, position, 4, piece.start, 4, piece.end)
        locator = json.dumps(span_locator(parts, piece.start, piece.end))
        yield _field(text_array(piece.heading_path))
        yield _field(piece.text.encode())
        yield _field(_JSONB_VERSION + locator.encode())


def _field(value: bytes) -> bytes:
    return _SIZE.pack(len(value)) + value


def _text_array(texts: Sequence[str]) -> bytes:
    if not texts:
        return _ARRAY.pack(0, 0, _TEXT_TYPE)
    elements = (_field(text.encode()) for text in texts)
    return _ARRAY.pack(1, 0, _TEXT_TYPE) + _ARRAY_LENGTHS.pack(len(texts), 1) + b"".join(elements)


def _all_words(item: Item, piece: Piece) -> str:
    return "\n".join((item.title, *piece.heading_path, piece.text))
