"""Vectors: which set of them is live, and how items get theirs. Each step may run twice."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db import connection, transaction

from knowledge.errors import ProviderUnavailable
from knowledge.indexing.binary_rows import VECTORS, Keys, copy_rows, field, halfvec
from knowledge.locks import Lock
from knowledge.models import Chunk, ChunkEmbedding, Generation, IndexStatus, Item
from knowledge.monitoring.metrics import provider_call
from knowledge.providers import embedder_named, live_embedder
from knowledge.providers.protocols import Embedder, Vectors
from knowledge.text.chunking import Piece, indexed_text

logger = logging.getLogger(__name__)

INLINE_CHUNKS = 32
"""About what the local model embeds while a caller waits; more is left to a job."""

_BATCH = 64
"""Chunks embedded together in a job: small enough to lose little when a worker dies."""

_STORED_AT_ONCE = 512
"""Chunks whose texts are read together, and whose vectors are written together at most."""

_SECONDS_AT_RISK = 0.25
"""What took as long as this to embed is written before more is: a vendor's batch always does."""


@dataclass(frozen=True, slots=True)
class EmbeddedPieces:
    """The vectors of an item's pieces, in order, and the generation that they belong to."""

    generation_id: int
    vectors: Vectors


def live_generation() -> Generation:
    """The set of vectors that searches use; the first one is made on first need."""
    generation = Generation.objects.filter(is_live=True).first()
    if generation:
        return generation
    first = generation_by(settings.QUARRY_EMBEDDER, live_embedder())
    first.is_live = True
    # Another process may have been first.
    Generation.objects.bulk_create([first], ignore_conflicts=True)
    return Generation.objects.get(is_live=True)


def generation_by(name: str, embedder: Embedder) -> Generation:
    """A generation, not yet saved, of the embedder that the settings call so."""
    return Generation(
        embedder=name,
        model=embedder.name,
        dimensions=embedder.dimensions,
        background=embedder.background,
    )


def embedder_of(generation: Generation) -> Embedder:
    """The embedder that made the generation; another model under its name is refused."""
    embedder = embedder_named(generation.embedder)
    if (embedder.name, embedder.dimensions) != (generation.model, generation.dimensions):
        raise ProviderUnavailable(
            f"The index was made by {generation.model} in {generation.dimensions} dimensions, but "
            f"the embedder {generation.embedder} is now {embedder.name} in {embedder.dimensions}; "
            f"run manage.py reindex --embedder {generation.embedder}."
        )
    return embedder


def lock_index_shared() -> None:
    """Take the index lock, shared: the live generation stays live until this transaction ends.

    Chunks get ids and vectors only under this lock, so that a process with the exclusive lock sees
    every chunk up to the last id. To avoid deadlock, lock the item's row first.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [Lock.INDEX_WRITERS])


def lock_index_exclusively() -> None:
    """Take the index lock exclusively: wait for all writers, and block new ones until commit."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [Lock.INDEX_WRITERS])


def embed_inline(title: str, pieces: Sequence[Piece]) -> EmbeddedPieces | None:
    """The pieces' vectors if they are few and the embedder answers; a job does the rest."""
    if len(pieces) > INLINE_CHUNKS:
        return None
    try:
        return embed_pieces(title, pieces)
    except ProviderUnavailable:
        logger.warning("Embedding was put off to a job", exc_info=True)
        return None


def embed_pieces(title: str, pieces: Sequence[Piece]) -> EmbeddedPieces:
    """The pieces' vectors, however many they are, for the generation that is live now."""
    generation = live_generation()
    texts = [piece.indexed_text(title) for piece in pieces]
    batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
    nothing = np.empty((0, generation.dimensions), np.float32)
    vectors = [_embed(generation, batch) for batch in batches]
    return EmbeddedPieces(generation.pk, np.concatenate([nothing, *vectors]))


def write_pieces(item: Item, chunk_ids: Sequence[int], embedded: EmbeddedPieces) -> bool:
    """Write the vectors if theirs is still the live generation, which the caller holds."""
    if embedded.generation_id != live_generation().pk:
        return False
    _write_vectors(item, embedded.generation_id, chunk_ids, embedded.vectors)
    return True


def embed_item(item_id: UUID) -> None:
    """Embed what the item still lacks, bit by bit, so that a killed worker loses little."""
    while True:
        generation = live_generation()
        _mark_waiting(item_id, generation)
        for _ in embed_missing(item_id, generation):
            pass
        if _mark_embedded(item_id, generation):
            return


def embed_missing(item_id: UUID, generation: Generation) -> Iterator[int]:
    """Embed what the item lacks in this generation, and yield how many were written each time."""
    items = Item.objects.select_related("content").defer("content__text", "content__locators")
    while item := items.filter(pk=item_id).first():
        missing = _without_vector(item, generation)
        found = 0
        for batch, vectors in _embed_missing(item, generation, missing):
            still = _store_batch(item_id, generation, batch, vectors)
            if still is None:
                return
            found += still
            yield len(batch)
        # Rewriting an item replaces all its chunks, so if these are all there, none is missing.
        if found == len(missing):
            return


def mark_embedding_failed(item_id: UUID, reason: str) -> None:
    """Say on the item why meaning is missing; it is still found by word."""
    Item.objects.filter(pk=item_id, index_status=IndexStatus.KEYWORD).update(
        index_status=IndexStatus.FAILED, index_error=reason
    )


def _embed_missing(
    item: Item, generation: Generation, chunk_ids: Sequence[int]
) -> Iterator[tuple[Sequence[int], Vectors]]:
    """The vectors of those chunks that are still there, given out when they are to be written."""
    for at in range(0, len(chunk_ids), _STORED_AT_ONCE):
        texts = _texts_of(item, chunk_ids[at : at + _STORED_AT_ONCE])
        yield from _embed_batches(generation, list(texts), list(texts.values()))


def _embed_batches(
    generation: Generation, chunk_ids: Sequence[int], texts: Sequence[str]
) -> Iterator[tuple[Sequence[int], Vectors]]:
    vectors: list[Vectors] = []
    first, since = 0, monotonic()
    for at in range(0, len(texts), _BATCH):
        vectors.append(_embed(generation, texts[at : at + _BATCH]))
        end = min(at + _BATCH, len(texts))
        if end == len(texts) or monotonic() - since >= _SECONDS_AT_RISK:
            yield chunk_ids[first:end], np.concatenate(vectors)
            vectors, first, since = [], end, monotonic()


def _embed(generation: Generation, texts: Sequence[str]) -> Vectors:
    with provider_call(generation.embedder, "embed_document"):
        vectors = embedder_of(generation).embed_document(texts)
    if vectors.shape != (len(texts), generation.dimensions):
        raise ProviderUnavailable(
            f"The embedder {generation.embedder} answered {vectors.shape} for {len(texts)} texts "
            f"of {generation.dimensions} dimensions."
        )
    return vectors


def _texts_of(item: Item, chunk_ids: Sequence[int]) -> dict[int, str]:
    """What is embedded of each chunk that is still there, in order."""
    # An item's chunks have ids of one stretch, asked for by its ends: a list takes longer.
    title, wanted = item.title, set(chunk_ids)
    first, last = min(chunk_ids), max(chunk_ids)
    chunks = Chunk.objects.filter(item=item, pk__gte=first, pk__lte=last).order_by("position")
    return {
        pk: indexed_text(text, title, tuple(headings))
        for pk, text, headings in chunks.values_list("pk", "text", "heading_path")
        if pk in wanted
    }


def _without_vector(item: Item, generation: Generation) -> list[int]:
    """The item's chunks that lack a vector, in order.

    By two plain reads: asked in one, the planner may go through every vector there is.
    """
    vectors = ChunkEmbedding.objects.filter(
        owner_id=item.owner_id, generation=generation, item_id=item.pk
    )
    embedded = set(vectors.values_list("chunk_id", flat=True))
    chunks = Chunk.objects.filter(item=item).order_by("position")
    return [pk for pk in chunks.values_list("pk", flat=True) if pk not in embedded]


@transaction.atomic
def _store_batch(
    item_id: UUID, generation: Generation, batch: Sequence[int], vectors: Vectors
) -> int | None:
    """Write the batch and say how many of its chunks are there; None if item or generation went."""
    # Another worker, or a re-index, may have been here since the batch was read.
    item = Item.objects.select_for_update().only("owner_id").filter(pk=item_id).first()
    lock_index_shared()
    if item is None or not Generation.objects.filter(pk=generation.pk, retired_at=None).exists():
        return None
    first, last = min(batch), max(batch)
    chunks = Chunk.objects.filter(item=item, pk__gte=first, pk__lte=last)
    still = {*chunks.values_list("pk", flat=True)}.intersection(batch)
    done = ChunkEmbedding.objects.filter(
        chunk_id__gte=first, chunk_id__lte=last, generation=generation
    )
    missing = still.difference(done.values_list("chunk_id", flat=True))
    fresh = [at for at, chunk_id in enumerate(batch) if chunk_id in missing]
    _write_vectors(item, generation.pk, [batch[at] for at in fresh], vectors[fresh])
    return len(still)


def _write_vectors(
    item: Item, generation_id: int, chunk_ids: Sequence[int], vectors: Vectors
) -> None:
    keys = Keys(chunk_ids, item.owner_id, item.pk)
    fields = [field(halfvec(vector)) for vector in vectors]
    copy_rows(VECTORS, keys, fields, generation_id=generation_id)


def _mark_waiting(item_id: UUID, generation: Generation) -> None:
    """A change of generation can leave an item without vectors that had them before."""
    item = Item.objects.filter(pk=item_id, index_status=IndexStatus.DONE).first()
    if item and _without_vector(item, generation):
        Item.objects.filter(pk=item_id, index_status=IndexStatus.DONE).update(
            index_status=IndexStatus.KEYWORD
        )


@transaction.atomic
def _mark_embedded(item_id: UUID, generation: Generation) -> bool:
    """Whether nothing is left to do; not so when another generation has become the live one."""
    item = Item.objects.select_for_update().filter(pk=item_id, in_kb=True).first()
    lock_index_shared()
    if live_generation() != generation:
        return False
    if item and not _without_vector(item, generation):
        Item.objects.filter(pk=item_id).update(index_status=IndexStatus.DONE, index_error="")
    return True
