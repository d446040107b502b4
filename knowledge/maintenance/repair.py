"""Repairs what the checks find, item by item, while searches and additions go on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from knowledge.indexing import generations, packing
from knowledge.indexing.preparing import Prepared
from knowledge.ingest.items import index_text
from knowledge.maintenance import Progress, checking
from knowledge.models import (
    Chunk,
    ChunkEmbedding,
    ChunkText,
    ContentState,
    IndexStatus,
    Item,
    LibrarySize,
)
from knowledge.models.item import ItemQuerySet
from knowledge.text.chunking import chunk

_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was deleted and what was counted anew."""

    orphans: int
    items: int
    owners: int
    segments: int


def stale_items() -> list[UUID]:
    """Items to cut anew: of an older version, or without chunks or words."""
    queries = (
        checking.STALE_ITEMS,
        checking.ITEMS_WITHOUT_CHUNKS,
        checking.CHUNKS_WITHOUT_WORDS,
    )
    return list(dict.fromkeys(item_id for query in queries for item_id in checking.ids(query)))


def unfinished_items() -> list[UUID]:
    """Items that only lack vectors, whether they say so or not."""
    lacking = checking.ids(checking.CHUNKS_WITHOUT_VECTORS)
    return list(dict.fromkeys([*waiting_items(), *lacking]))


def waiting_items() -> list[UUID]:
    """Items that say they lack vectors."""
    waiting = Item.objects.filter(
        in_kb=True, chunk_count__gt=0, index_status__in=[IndexStatus.KEYWORD, IndexStatus.FAILED]
    )
    return list(waiting.values_list("pk", flat=True))


def rebuild(item_ids: Sequence[UUID]) -> Iterator[Progress]:
    """Cut and embed items anew; each is replaced at once, and found as before until then."""
    for done, item_id in enumerate(item_ids):
        yield Progress(done, len(item_ids))
        while not _try_replace(item_id):
            pass
    yield Progress(len(item_ids), len(item_ids))


def pack_rest() -> Iterator[Progress]:
    """Pack the words that are waiting for it, and drop those of deleted chunks."""
    waiting = packing.libraries_to_pack()
    total = sum(LibrarySize.objects.filter(pk__in=waiting).values_list("fresh", flat=True))
    done = 0
    for owner_id in waiting:
        for packed in packing.pack_library(owner_id):
            yield Progress(done := done + packed, max(done, total))
    for owner_id, segment_ids in packing.decayed_segments(timedelta()).items():
        packing.pack_again(owner_id, segment_ids)


def embed_rest(item_ids: Sequence[UUID]) -> Iterator[Progress]:
    """Give items the vectors that they lack."""
    for done, item_id in enumerate(item_ids):
        yield Progress(done, len(item_ids))
        generations.embed_item(item_id)
    yield Progress(len(item_ids), len(item_ids))


def repair() -> RepairReport:
    """Delete rows that belong to nothing and count anew; items that lost by it become stale."""
    vectors = _delete_orphans(checking.ids(checking.ORPHANED_VECTORS), (ChunkEmbedding,))
    words = _delete_orphans(checking.ids(checking.ORPHANED_WORDS), (ChunkText,))
    chunks = checking.ids(checking.ORPHANED_CHUNKS)
    Item.objects.filter(chunks__in=chunks, in_kb=True).update(index_version=0)
    Item.objects.filter(chunks__in=chunks, in_kb=False).update(index_status=IndexStatus.NONE)
    _delete_orphans(chunks, (ChunkText, ChunkEmbedding, Chunk))
    items = checking.ids(checking.WRONG_ITEM_COUNTS)
    for item_id in items:
        _recount_item(item_id)
    owners = checking.ids(checking.WRONG_LIBRARY_SIZES)
    for owner_id in owners:
        _recount_library(owner_id)
    segments = checking.ids(checking.WRONG_SEGMENTS)
    packing.unpack(segments)
    return RepairReport(vectors + words + len(chunks), len(items), len(owners), len(segments))


def _try_replace(item_id: UUID) -> bool:
    """Whether the item was replaced; False if it was changed while it was being embedded."""
    before = _in_kb(item_id).first()
    if before is None:
        return True
    text = before.content.text
    pieces = chunk(text)
    ready = Prepared(text, pieces, generations.embed_pieces(before.title, pieces))
    with transaction.atomic():
        item = _in_kb(item_id).select_for_update(of=("self",)).first()
        if item is None:
            return True
        if (item.title, item.content.text) != (before.title, before.content.text):
            return False
        index_text(item, ready)
    return True


def _in_kb(item_id: UUID) -> ItemQuerySet:
    # One whose text is still to come is indexed by the job that brings it.
    ready = Item.objects.filter(pk=item_id, in_kb=True, content__state=ContentState.READY)
    return ready.select_related("content")


def _delete_orphans(
    chunk_ids: Sequence[int], models: Iterable[type[ChunkText | ChunkEmbedding | Chunk]]
) -> int:
    for at in range(0, len(chunk_ids), _BATCH):
        batch = chunk_ids[at : at + _BATCH]
        with transaction.atomic():
            for model in models:
                key = "pk" if model is Chunk else "chunk_id"
                model._default_manager.filter(**{f"{key}__in": batch})._raw_delete("default")
    return len(chunk_ids)


@transaction.atomic
def _recount_item(item_id: UUID) -> None:
    """Chunks may be missing, and nobody can tell which: the item becomes stale too."""
    if Item.objects.select_for_update().filter(pk=item_id).first():
        chunks = Chunk.objects.filter(item_id=item_id).count()
        Item.objects.filter(pk=item_id).update(
            chunk_count=chunks, word_count=_words(item_id=item_id), index_version=0
        )


@transaction.atomic
def _recount_library(owner_id: int) -> None:
    # Once this row is locked, other writers of chunks have committed, or wait for us.
    LibrarySize.objects.get_or_create(pk=owner_id)
    LibrarySize.objects.select_for_update().get(pk=owner_id)
    chunks = Chunk.objects.filter(owner_id=owner_id).count()
    LibrarySize.objects.filter(pk=owner_id).update(chunks=chunks, words=_words(owner_id=owner_id))


def _words(**of: Any) -> int:
    return ChunkText.objects.filter(**of).aggregate(words=Sum("length"))["words"] or 0
