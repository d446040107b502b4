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
from knowledge.models.prepared import fetch_row, send
from knowledge.monitoring.metrics import provider_call
from knowledge.providers import embedder_named, live_embedder
from knowledge.providers.model_servers import split_dimensions
from knowledge.providers.protocols import Embedder, Vector, Vectors
from knowledge.text.chunking import Piece, indexed_text
from knowledge.text.token_estimate import token_count

logger = logging.getLogger(__name__)

MOST_DIMENSIONS = 4_000
"""Of two bytes each: a row must fit its page."""

SHORTER_DIMENSIONS = 2_048
"""What is advised where a model makes more."""

INLINE_CHUNKS = 32
"""About what the local model embeds while a caller waits; more is left to a job."""

_INLINE_TOKENS = 8_000
"""About as many in a batch of texts, which the local model takes two seconds for on one core."""

BATCH = 64
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
    # Every addition asks for it: the ORM would take longer to write the query than it takes.
    if row := fetch_row(_LIVE, []):
        return Generation.from_db(connection.alias, _COLUMNS, row)
    first = generation_by(settings.QUARRY_EMBEDDER, live_embedder())
    first.is_live = True
    # Another process may have been first.
    Generation.objects.bulk_create([first], ignore_conflicts=True)
    return Generation.objects.get(is_live=True)


_COLUMNS = [field.attname for field in Generation._meta.concrete_fields]
_LIVE = f"SELECT {', '.join(_COLUMNS)} FROM knowledge_generation WHERE is_live"  # noqa: S608


def generation_by(name: str, embedder: Embedder) -> Generation:
    """A generation, not yet saved, of the embedder that the settings call so.

    What nobody says of a model is measured here, by asking it.
    """
    check_dimensions(name, embedder.dimensions)
    return Generation(
        embedder=name,
        model=embedder.name,
        dimensions=embedder.dimensions,
        background=embedder.background,
    )


def check_dimensions(name: str, dimensions: int) -> None:
    """Refuse the embedder that the settings call so if its vectors are too long for an index."""
    if dimensions > MOST_DIMENSIONS:
        shorter = f"{split_dimensions(name)[0]}@{SHORTER_DIMENSIONS}"
        raise ProviderUnavailable(
            f"{name} makes vectors of {dimensions:,} dimensions; an index takes at most "
            f"{MOST_DIMENSIONS:,}. If the model can shorten its vectors, name the embedder "
            f"{shorter}; else choose another.",
            may_pass=False,
        )


def embedder_of(generation: Generation) -> Embedder:
    """The embedder that made the generation; another model under its name is refused."""
    embedder = embedder_named(generation.embedder)
    if embedder.name != generation.model:
        raise _changed_model_error(generation, f"is now {embedder.name}")
    return embedder


def check_vectors(generation: Generation, vectors: Vectors, count: int) -> None:
    """Refuse vectors that the generation cannot take; a model may change under its name."""
    if vectors.shape[1:] != (generation.dimensions,):
        raise _changed_model_error(generation, f"answers {vectors.shape[-1]}")
    if len(vectors) != count:
        raise ProviderUnavailable(
            f"The embedder {generation.embedder} answered {len(vectors)} vectors for {count} texts."
        )


def _changed_model_error(generation: Generation, how: str) -> ProviderUnavailable:
    return ProviderUnavailable(
        f"The index was made by {generation.model} in {generation.dimensions} dimensions, but "
        f"the embedder {generation.embedder} {how}; "
        f"run manage.py reindex --embedder {generation.embedder}."
    )


def lock_index_shared() -> None:
    """Take the index lock, shared: the live generation stays live until this transaction ends.

    Chunks get ids and vectors only under this lock, so that a process with the exclusive lock sees
    every chunk up to the last id. To avoid deadlock, lock the item's row first.
    """
    send("SELECT pg_advisory_xact_lock_shared(%s)", [Lock.INDEX_WRITERS])


def lock_index_exclusively() -> None:
    """Take the index lock exclusively: wait for all writers, and block new ones until commit."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [Lock.INDEX_WRITERS])


def embed_inline(texts: Sequence[tuple[str, Sequence[Piece]]]) -> list[EmbeddedPieces | None]:
    """The vectors of texts' pieces, with their titles, as far as a caller can wait for them.

    All are embedded together; a job does those that are too long, and what comes after, and all
    that an embedder must be asked for one by one.
    """
    at_once = _embeddable_inline(texts)
    try:
        generation = live_generation()
        if len(texts) > 1 and embedder_of(generation).reads_neighbours:
            return [None] * len(texts)
        embedded = _embed_texts(generation, [texts[n] for n in at_once])
    except ProviderUnavailable:
        logger.warning("Embedding was put off to a job", exc_info=True)
        return [None] * len(texts)
    vectors = dict(zip(at_once, embedded, strict=True))
    return [vectors.get(n) for n in range(len(texts))]


def _embeddable_inline(texts: Sequence[tuple[str, Sequence[Piece]]]) -> list[int]:
    chosen: list[int] = []
    tokens = 0.0
    for n, (title, pieces) in enumerate(texts):
        if len(pieces) > INLINE_CHUNKS:
            continue
        if len(texts) > 1:  # one text of so few pieces is never too long
            tokens += sum(token_count(piece.indexed_text(title)) for piece in pieces)
        if chosen and tokens > _INLINE_TOKENS:
            break
        chosen.append(n)
    return chosen


def _embed_texts(
    generation: Generation, texts: Sequence[tuple[str, Sequence[Piece]]]
) -> list[EmbeddedPieces]:
    lines = [piece.indexed_text(title) for title, pieces in texts for piece in pieces]
    vectors = _embed_in_batches(generation, lines)
    ends = np.cumsum([len(pieces) for _, pieces in texts], dtype=np.int64)
    parts = np.split(vectors, ends[:-1]) if texts else []
    return [EmbeddedPieces(generation.pk, part) for part in parts]


def embed_pieces(title: str, pieces: Sequence[Piece]) -> EmbeddedPieces:
    """The pieces' vectors, however many they are, for the generation that is live now."""
    generation = live_generation()
    texts = [piece.indexed_text(title) for piece in pieces]
    return EmbeddedPieces(generation.pk, _embed_in_batches(generation, texts))


def _embed_in_batches(generation: Generation, texts: Sequence[str]) -> Vectors:
    batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
    nothing = np.empty((0, generation.dimensions), np.float32)
    return np.concatenate([nothing, *(_embed(generation, batch) for batch in batches)])


def write_vectors(keys: Keys, generation_id: int, vectors: Sequence[Vector] | Vectors) -> None:
    """Write the vectors of chunks in a generation that the caller holds."""
    fields = [field(halfvec(vector)) for vector in vectors]
    if fields:
        copy_rows(VECTORS, keys, fields, generation_id=generation_id)


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


def embed_chunks(chunk_ids: Sequence[int], generation: Generation) -> int:
    """Embed chunks of many items in one go, and say how many were written.

    For an embedder that reads no neighbours: a library of notes takes one request for as many as a
    batch, and the local model all cores.
    """
    chunks = Chunk.objects.filter(pk__in=chunk_ids).select_related("item__content")
    chunks = chunks.defer("item__content__text", "item__content__locators")
    ordered = list(chunks.order_by("pk"))
    texts = [indexed_text(each.text, each.item.title, tuple(each.heading_path)) for each in ordered]
    if not texts:
        return 0
    vectors = _embed(generation, texts)
    of_items: dict[UUID, list[int]] = {}
    for at, each in enumerate(ordered):
        of_items.setdefault(each.item_id, []).append(at)
    stored = (
        _store_batch(item_id, generation, [ordered[at].pk for at in places], vectors[places])
        for item_id, places in of_items.items()
    )
    return sum(count or 0 for count in stored)


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
    for at in range(0, len(texts), BATCH):
        vectors.append(_embed(generation, texts[at : at + BATCH]))
        end = min(at + BATCH, len(texts))
        if end == len(texts) or monotonic() - since >= _SECONDS_AT_RISK:
            yield chunk_ids[first:end], np.concatenate(vectors)
            vectors, first, since = [], end, monotonic()


def _embed(generation: Generation, texts: Sequence[str]) -> Vectors:
    with provider_call(generation.embedder, "embed_document"):
        vectors = embedder_of(generation).embed_document(texts)
        check_vectors(generation, vectors, len(texts))
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
    keys = Keys([batch[at] for at in fresh], item.owner_id, item.pk)
    write_vectors(keys, generation.pk, vectors[fresh])
    return len(still)


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
