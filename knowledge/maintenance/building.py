"""The next generation of vectors: built beside the live one, and put in its place at once."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from knowledge.errors import Conflict, ProviderUnavailable
from knowledge.indexing.generations import (
    BATCH,
    embed_chunks,
    embed_item,
    embed_missing,
    embedder_of,
    generation_by,
    lock_index_exclusively,
)
from knowledge.indexing.large_owners import drop_index, indexes_there_are
from knowledge.ingest import followups
from knowledge.jobs.fairness import send_job
from knowledge.locks import Lock
from knowledge.maintenance import Progress
from knowledge.maintenance.repair import waiting_items
from knowledge.models import Chunk, ChunkEmbedding, Generation
from knowledge.providers import embedder_named

GRACE = timedelta(seconds=30)
"""A search that began before a change of generation has ended by then."""

_PATIENCE_SEC = 3.0
"""How long the database may take to notice that a reindex was killed."""

_FEW = 64
"""With no more chunks than these added meanwhile, the change can be made."""

_PASSES = 20
_PAGE = 500
_PRUNE_BATCH = 5_000

_MISSING = """
    SELECT id, item_id FROM knowledge_chunk AS chunk
    WHERE id > %(after)s AND id <= %(upto)s AND NOT EXISTS (
        SELECT FROM knowledge_chunkembedding
        WHERE chunk_id = chunk.id AND generation_id = %(generation)s
    )
    ORDER BY id LIMIT %(limit)s
"""
_LAST_CHUNK = (
    "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('knowledge_chunk', 'id')), 0)"
)
# Rows that an item's own re-index holds are left to it, so that neither waits for the other.
_PRUNE = """
    WITH batch AS (
        SELECT chunk_id, generation_id FROM knowledge_chunkembedding
        WHERE chunk_id > %(after)s AND generation_id = %(generation)s
        ORDER BY chunk_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    ), deleted AS (
        DELETE FROM knowledge_chunkembedding AS vectors USING batch
        WHERE vectors.chunk_id = batch.chunk_id AND vectors.generation_id = batch.generation_id
    )
    SELECT max(chunk_id), count(*) FROM batch
"""


@contextmanager
def only_one_reindex() -> Iterator[None]:
    """Work alone, or refuse: two would embed the same chunks, or one prune what one fills."""
    deadline = time.monotonic() + _PATIENCE_SEC
    while not _ask("SELECT pg_try_advisory_lock(%s)", Lock.REINDEX):
        if time.monotonic() > deadline:
            raise Conflict("Another reindex is running; start again when it has ended.")
        time.sleep(0.1)
    try:
        yield
    finally:
        _ask("SELECT pg_advisory_unlock(%s)", Lock.REINDEX)


def next_generation(name: str) -> Generation | None:
    """The generation to build for this embedder, or None if it is the live one.

    One that was begun, or that was live before, is taken up again: a chunk's vector never
    changes, so only what is missing must be made. Any other that was begun is given up.
    """
    fresh = generation_by(name, embedder_named(name))
    same = Generation.objects.filter(
        embedder=fresh.embedder, model=fresh.model, dimensions=fresh.dimensions
    )
    if same.filter(is_live=True).exists():
        return None
    generation = same.order_by("-pk").first() or fresh
    with transaction.atomic():
        begun = Generation.objects.filter(is_live=False, retired_at=None)
        begun.exclude(pk=generation.pk).update(retired_at=timezone.now())
        generation.retired_at = None
        generation.save()
    return generation


def build(generation: Generation) -> Iterator[Progress]:
    """Embed every chunk for the generation, and make it live when none is missing."""
    fence = 0
    for _ in range(_PASSES):
        before, fence = fence, _fence()
        first = progress = _progress(generation)
        yield first
        for count in _embed_between(generation, before, fence):
            progress = Progress(progress.done + count, progress.total)
            yield progress
        if progress.done - first.done <= _FEW:
            break
    came = _switch_to(generation, fence)
    with suppress(ProviderUnavailable):  # then it is left to their jobs
        for item_id in dict.fromkeys([*came, *waiting_items()]):
            embed_item(item_id)
    yield _progress(generation)


def retired_generations() -> list[Generation]:
    """What searches no longer use, oldest first."""
    return list(Generation.objects.filter(retired_at__isnull=False).order_by("retired_at"))


def prune(generation: Generation) -> Iterator[Progress]:
    """Delete a retired generation, once no search can be reading it any more."""
    if generation.retired_at is None:
        raise Conflict(f"The generation of {generation} is not retired.")
    while timezone.now() < generation.retired_at + GRACE:
        time.sleep(0.2)
    for index in indexes_there_are():
        if index.generation_id == generation.pk:
            drop_index(index)
    vectors = ChunkEmbedding.objects.filter(generation=generation)
    done, total = 0, vectors.count()
    while vectors.exists():
        for count in _delete_vectors(generation):
            done += count
            yield Progress(done, total)
    generation.delete()
    yield Progress(done, done)


def _embed_between(generation: Generation, after: int, upto: int) -> Iterator[int]:
    """In the order of the chunks; of an embedder that reads neighbours, item by item."""
    reads_neighbours = embedder_of(generation).reads_neighbours
    while page := _missing(generation, after, upto, limit=_PAGE):
        if reads_neighbours:
            for item_id in dict.fromkeys(item_id for _, item_id in page):
                with _named_in_errors(item_id):
                    yield from embed_missing(item_id, generation)
        else:
            for at in range(0, len(page), BATCH):
                with _named_in_errors(page[at][1]):
                    yield embed_chunks(
                        [chunk_id for chunk_id, _ in page[at : at + BATCH]], generation
                    )
        after = page[-1][0]


@contextmanager
def _named_in_errors(item_id: UUID) -> Iterator[None]:
    try:
        yield
    except ProviderUnavailable as error:
        raise ProviderUnavailable(f"{error.message} (at item {item_id})") from error


def _delete_vectors(generation: Generation) -> Iterator[int]:
    batch = {"generation": generation.pk, "limit": _PRUNE_BATCH, "after": 0}
    while batch["after"] is not None:
        with connection.cursor() as cursor:
            cursor.execute(_PRUNE, batch)
            batch["after"], count = cursor.fetchone()
        yield count


def _switch_to(generation: Generation, fence: int) -> list[UUID]:
    """Make the generation live; items that came since the fence get a job in the same commit."""
    with _writers_held_off():
        came = _missing(generation, fence, _ask(_LAST_CHUNK), limit=None)
        item_ids = list(dict.fromkeys(item_id for _, item_id in came))
        for item_id in item_ids:
            send_job(followups.embed_item, str(item_id), is_long=True)
        now = timezone.now()
        Generation.objects.filter(is_live=True).update(is_live=False, retired_at=now)
        Generation.objects.filter(pk=generation.pk).update(is_live=True, retired_at=None)
    return item_ids


def _fence() -> int:
    """An id up to which every chunk that will ever be is there to be seen."""
    with _writers_held_off():
        return _ask(_LAST_CHUNK)


@contextmanager
def _writers_held_off() -> Iterator[None]:
    try:
        with transaction.atomic():
            _ask("SELECT set_config('lock_timeout', '10s', true)")
            lock_index_exclusively()
            yield
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        raise Conflict("Something has been writing to the index for too long.") from error


def _progress(generation: Generation) -> Progress:
    embedded = ChunkEmbedding.objects.filter(generation=generation).count()
    return Progress(embedded, Chunk.objects.count())


def _missing(
    generation: Generation, after: int, upto: int, *, limit: int | None
) -> list[tuple[int, UUID]]:
    between = {"after": after, "upto": upto, "generation": generation.pk, "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(_MISSING, between)
        return list(cursor.fetchall())


def _ask(statement: str, *values: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        answer: int = cursor.fetchone()[0]
        return answer
