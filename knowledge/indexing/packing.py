"""Packing: the words of a library's chunks, turned around into one row for each lexeme.

A chunk is written with its tsvector and is *fresh*: searches read it there. A job packs fresh
chunks into *segments*. In a segment each lexeme has one row (`WordPostings`) with an entry for
each chunk that has it, and a search reads the rows of its own words alone. The tsvectors stay the
truth: a segment is made from them, whenever it is made anew.

An entry is one number: the chunk's id, 8 bits of how often the lexeme stands in it, 16 bits of how
many words the chunk has. Of deleted chunks the entries stay until their segment is packed again;
searches leave them out.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from knowledge.locks import Lock
from knowledge.models import ChunkText, LibrarySize, WordPostings, WordSegment

FRESH_CHUNKS = 256
"""So many fresh chunks are packed; reading as many tsvectors takes a search under a millisecond."""
SEGMENT_CHUNKS = 16_384
"""Segments are not merged beyond this, so that no packing takes more than a few seconds."""
DEADLINE = timedelta(days=1)
"""By then the words of deleted chunks leave the disk; sooner when a tenth of a segment is gone."""

CHUNK_SHIFT, FREQUENCY_SHIFT = 24, 16
LONGEST = (1 << FREQUENCY_SHIFT) - 1
MOST_FREQUENT = (1 << (CHUNK_SHIFT - FREQUENCY_SHIFT)) - 1
_LAYOUT = {
    "chunk_shift": CHUNK_SHIFT,
    "frequency_shift": FREQUENCY_SHIFT,
    "most_frequent": MOST_FREQUENT,
    "longest": LONGEST,
}

# A lexeme without places is a word as it was written, and stands there once.
_INSERT = """
    INSERT INTO knowledge_wordpostings (owner_id, lexeme, segment_id, size, entries)
    SELECT %(owner)s, lexeme, %(segment)s, count(*), array_agg(entry ORDER BY entry)
    FROM (
        SELECT word.lexeme, (chunk_id << %(chunk_shift)s) | least(%(longest)s, length) | (
            least(%(most_frequent)s, coalesce(cardinality(positions), 1)) << %(frequency_shift)s
        ) AS entry
        FROM knowledge_chunktext, unnest(tsv) AS word
        WHERE chunk_id = ANY(%(chunks)s)
    ) AS entries
    GROUP BY lexeme
"""
_TAKE = """
    UPDATE knowledge_chunktext SET segment_id = %(segment)s WHERE chunk_id IN (
        SELECT chunk_id FROM knowledge_chunktext WHERE chunk_id = ANY(%(chunks)s)
        FOR UPDATE SKIP LOCKED
    )
"""
_DECAYED = """
    SELECT segment.owner_id, segment.id FROM knowledge_wordsegment AS segment LEFT JOIN (
        SELECT segment_id, count(*) AS alive FROM knowledge_chunktext
        WHERE segment_id IS NOT NULL GROUP BY segment_id
    ) AS counted ON segment_id = segment.id
    WHERE coalesce(alive, 0) < chunks * 0.9
        OR (coalesce(alive, 0) < chunks AND packed_at < %s)
    ORDER BY segment.owner_id, segment.id
"""


class _Interrupted(Exception):
    """A chunk was being deleted at that moment; nothing was packed."""


def pack_library(owner_id: int, *, fewest: int | None = None) -> Iterator[int]:
    """Pack fresh chunks until fewer than these are left; answers how many, step by step.

    Each step is one transaction, so a kill loses no more than that, and two never pack the same.
    """
    while packed := _pack(owner_id, fewest=FRESH_CHUNKS if fewest is None else fewest):
        yield packed
    _count_fresh(owner_id)


def pack_again(owner_id: int, segment_ids: Collection[int]) -> None:
    """Make each of these segments anew from the tsvectors of the chunks that are left."""
    for segment_id in segment_ids:
        _pack(owner_id, fewest=0, anew=segment_id)


@transaction.atomic
def unpack(segment_ids: Collection[int]) -> None:
    """Give these segments up: their chunks are fresh again, and packed with the next."""
    freed = ChunkText.objects.filter(segment_id__in=segment_ids)
    owners = freed.values_list("owner_id").annotate(Count("chunk_id")).order_by("owner_id")
    counts = dict(owners)
    freed.update(segment_id=None)
    WordPostings.objects.filter(segment_id__in=segment_ids)._raw_delete("default")
    WordSegment.objects.filter(pk__in=segment_ids)._raw_delete("default")
    for owner_id, chunks in counts.items():
        LibrarySize.objects.change(owner_id, chunks=0, fresh=chunks)


def libraries_to_pack() -> list[int]:
    """The owners with enough fresh chunks to pack."""
    waiting = LibrarySize.objects.filter(fresh__gte=FRESH_CHUNKS)
    return list(waiting.order_by("pk").values_list("pk", flat=True))


def decayed_segments(deadline: timedelta = DEADLINE) -> dict[int, list[int]]:
    """By owner the segments with many deleted chunks, or with any for longer than the deadline."""
    found: dict[int, list[int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_DECAYED, [timezone.now() - deadline])
        for owner_id, segment_id in cursor.fetchall():
            found.setdefault(owner_id, []).append(segment_id)
    return found


@transaction.atomic
def _count_fresh(owner_id: int) -> None:
    # Once this row is locked, other writers of chunks have committed, or wait for us.
    if size := LibrarySize.objects.select_for_update().filter(pk=owner_id).first():
        size.fresh = ChunkText.objects.filter(owner_id=owner_id, segment_id=None).count()
        size.save(update_fields=["fresh"])


def _pack(owner_id: int, *, fewest: int, anew: int | None = None) -> int:
    try:
        with transaction.atomic():
            return _pack_in_transaction(owner_id, fewest, anew) if _take_turn(owner_id) else 0
    except _Interrupted:
        return 0  # the next packing takes what this one would have


def _take_turn(owner_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [Lock.PACKING, owner_id])
        return bool(cursor.fetchone()[0])


def _pack_in_transaction(owner_id: int, fewest: int, anew: int | None) -> int:
    texts = ChunkText.objects.filter(owner_id=owner_id)
    if anew is None:
        fresh = _ids(texts.filter(segment_id=None).order_by("chunk_id")[:SEGMENT_CHUNKS])
        if len(fresh) < max(1, fewest):
            return 0
        merged = _segments_to_merge(owner_id, len(fresh))
    else:
        fresh, merged = [], [anew]
    chunk_ids = fresh + _ids(texts.filter(segment_id__in=merged))
    if chunk_ids:
        _write_segment(owner_id, chunk_ids)
    mine = Q(owner_id=owner_id, segment_id__in=merged)
    WordPostings.objects.filter(mine)._raw_delete("default")
    WordSegment.objects.filter(owner_id=owner_id, pk__in=merged)._raw_delete("default")
    return len(fresh)


def _ids(texts: QuerySet[ChunkText]) -> list[int]:
    return list(texts.values_list("chunk_id", flat=True))


def _segments_to_merge(owner_id: int, chunks: int) -> list[int]:
    """Those no larger than what joins them, so that a chunk is packed about log(n) times."""
    merged = []
    for segment in WordSegment.objects.filter(owner_id=owner_id).order_by("chunks", "pk"):
        if segment.chunks > chunks or chunks + segment.chunks > SEGMENT_CHUNKS:
            break
        merged.append(segment.pk)
        chunks += segment.chunks
    return merged


def _write_segment(owner_id: int, chunk_ids: Sequence[int]) -> None:
    """The slow part holds no row; then all chunks are taken over at once, or none.

    A deleter that has one of them is not waited for, as it may be waiting for another of ours.
    """
    segment = WordSegment.objects.create(owner_id=owner_id, chunks=len(chunk_ids))
    values: dict[str, Any] = {
        "owner": owner_id,
        "segment": segment.pk,
        "chunks": list(chunk_ids),
        **_LAYOUT,
    }
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('work_mem', '64MB', true)")
        cursor.execute(_INSERT, values)
        cursor.execute(_TAKE, values)
        taken = cursor.rowcount
    if ChunkText.objects.filter(chunk_id__in=chunk_ids).count() != taken:
        raise _Interrupted
