"""Vectors: which set of them is live, and how items get theirs. Each step may run twice."""

import logging
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from knowledge.chunking import Piece
from knowledge.errors import ProviderUnavailable
from knowledge.models import Chunk, ChunkEmbedding, Generation, IndexStatus, Item
from knowledge.providers import embedder_named, live_embedder
from knowledge.providers.protocols import Vector, Vectors

logger = logging.getLogger(__name__)

INLINE_CHUNKS = 32
"""About what the local model embeds while a caller waits; more is left to a job."""

_BATCH = 64
"""Chunks embedded together in a job: small enough to lose little when a worker dies."""


def live_generation() -> Generation:
    """The set of vectors that searches use; the first one is made on first need."""
    generation = Generation.objects.filter(is_live=True).first()
    if generation:
        return generation
    embedder = live_embedder()
    Generation.objects.bulk_create(
        [
            Generation(
                embedder=settings.QUARRY_EMBEDDER,
                dimensions=embedder.dimensions,
                background=embedder.background,
                is_live=True,
            )
        ],
        ignore_conflicts=True,  # another process may have been first
    )
    return Generation.objects.get(is_live=True)


def embed_inline(title: str, pieces: Sequence[Piece]) -> Vectors | None:
    """The pieces' vectors if they are few and the embedder answers; a job does the rest."""
    if len(pieces) > INLINE_CHUNKS:
        return None
    try:
        embedder = embedder_named(live_generation().embedder)
        return embedder.embed_document([piece.indexed_text(title) for piece in pieces])
    except ProviderUnavailable:
        logger.warning("Embedding was put off to a job", exc_info=True)
        return None


def embed_item(item_id: UUID) -> None:
    """Embed what the item still lacks, batch by batch, so that a killed worker loses one batch."""
    generation = live_generation()
    embedder = embedder_named(generation.embedder)
    while batch := _unembedded(item_id, generation)[:_BATCH]:
        title = Item.objects.select_related("content").get(pk=item_id).title
        vectors = embedder.embed_document([chunk.piece.indexed_text(title) for chunk in batch])
        _store_batch(item_id, generation, batch, vectors)
    _mark_embedded(item_id, generation)


def mark_embedding_failed(item_id: UUID, reason: str) -> None:
    """Say on the item why meaning is missing; it is still found by word."""
    Item.objects.filter(pk=item_id, index_status=IndexStatus.KEYWORD).update(
        index_status=IndexStatus.FAILED, index_error=reason
    )


def write_vectors(item: Item, generation: Generation, rows: Iterable[tuple[int, Vector]]) -> None:
    connection.ensure_connection()
    register_vector(connection.connection)
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY knowledge_chunkembedding (chunk_id, owner_id, item_id, generation_id, vector) "
            "FROM STDIN (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(["int8", "int4", "uuid", "int8", "halfvec"])
        for chunk_id, vector in rows:
            copy.write_row((chunk_id, item.owner_id, item.pk, generation.pk, HalfVector(vector)))


def _unembedded(item_id: UUID, generation: Generation) -> list[Chunk]:
    embedded = ChunkEmbedding.objects.filter(generation=generation, item_id=item_id)
    missing = Chunk.objects.filter(item_id=item_id).exclude(pk__in=embedded.values("chunk_id"))
    return list(missing.order_by("position"))


@transaction.atomic
def _store_batch(
    item_id: UUID, generation: Generation, batch: Sequence[Chunk], vectors: Vectors
) -> None:
    # Another worker, or a re-index, may have been here since the batch was read.
    item = Item.objects.select_for_update().filter(pk=item_id).first()
    if item is None:
        return
    missing = {chunk.pk for chunk in _unembedded(item_id, generation)}
    fresh = [(c.pk, v) for c, v in zip(batch, vectors, strict=True) if c.pk in missing]
    write_vectors(item, generation, fresh)


@transaction.atomic
def _mark_embedded(item_id: UUID, generation: Generation) -> None:
    item = Item.objects.select_for_update().filter(pk=item_id, in_kb=True).first()
    if item and not _unembedded(item_id, generation):
        Item.objects.filter(pk=item_id).update(index_status=IndexStatus.DONE, index_error="")
