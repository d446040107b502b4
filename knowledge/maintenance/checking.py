"""Checks of the index: one query for each kind of fault, which the repair uses too."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count
from psycopg import sql

from knowledge.indexing.generations import live_generation
from knowledge.indexing.pipeline import INDEX_VERSION
from knowledge.models import ChunkEmbedding, Generation, IndexStatus, Item

ITEMS_WITHOUT_CHUNKS = r"""
    SELECT item.id FROM knowledge_item AS item
        JOIN knowledge_content AS content ON content.id = content_id
    WHERE in_kb AND index_status <> 'pending' AND content.text ~ '\S'
        AND NOT EXISTS (SELECT FROM knowledge_chunk WHERE item_id = item.id)
"""
STALE_ITEMS = """
    SELECT id FROM knowledge_item AS item
    WHERE in_kb AND index_status <> 'pending' AND index_version < %(version)s
        AND EXISTS (SELECT FROM knowledge_chunk WHERE item_id = item.id)
"""
CHUNKS_WITHOUT_WORDS = """
    SELECT item_id FROM knowledge_chunk AS chunk
    WHERE NOT EXISTS (SELECT FROM knowledge_chunktext WHERE chunk_id = chunk.id)
"""
CHUNKS_WITHOUT_VECTORS = """
    SELECT item_id FROM knowledge_chunk AS chunk JOIN knowledge_item AS item ON item.id = item_id
    WHERE index_status = 'done' AND NOT EXISTS (
        SELECT FROM knowledge_chunkembedding
        WHERE chunk_id = chunk.id AND generation_id = %(generation)s
    )
"""
FAILED_ITEMS = """
    SELECT id FROM knowledge_item WHERE in_kb AND index_status = 'failed' AND chunk_count > 0
"""
ORPHANED_CHUNKS = """
    SELECT chunk.id FROM knowledge_chunk AS chunk
        LEFT JOIN knowledge_item AS item ON item.id = item_id
    WHERE item.id IS NULL OR NOT in_kb OR item.owner_id <> chunk.owner_id
"""
ORPHANED_WORDS = """
    SELECT chunk_id FROM knowledge_chunktext AS words
        LEFT JOIN knowledge_chunk AS chunk ON chunk.id = chunk_id
    WHERE chunk.id IS NULL OR words.item_id <> chunk.item_id OR words.owner_id <> chunk.owner_id
"""
ORPHANED_VECTORS = """
    SELECT chunk_id FROM knowledge_chunkembedding AS vectors
        LEFT JOIN knowledge_chunk AS chunk ON chunk.id = chunk_id
    WHERE chunk.id IS NULL OR vectors.item_id <> chunk.item_id
        OR vectors.owner_id <> chunk.owner_id
"""
WRONG_ITEM_COUNTS = """
    SELECT id FROM knowledge_item LEFT JOIN (
        SELECT item_id, count(*) AS chunks FROM knowledge_chunk GROUP BY item_id
    ) AS counted ON counted.item_id = id LEFT JOIN (
        SELECT item_id, sum(length) AS words FROM knowledge_chunktext GROUP BY item_id
    ) AS texts ON texts.item_id = id
    WHERE chunk_count <> coalesce(chunks, 0) OR word_count <> coalesce(words, 0)
"""
WRONG_LIBRARY_SIZES = """
    SELECT owner_id FROM knowledge_librarysize AS size FULL JOIN (
        SELECT owner_id, count(*) AS chunks FROM knowledge_chunk GROUP BY owner_id
    ) AS counted USING (owner_id) FULL JOIN (
        SELECT owner_id, sum(length) AS words FROM knowledge_chunktext GROUP BY owner_id
    ) AS texts USING (owner_id)
    WHERE coalesce(size.chunks, 0) <> coalesce(counted.chunks, 0)
        OR coalesce(size.words, 0) <> coalesce(texts.words, 0)
"""
# Of chunks that are gone, entries are left until the segment is packed again.
WRONG_SEGMENTS = """
    SELECT id FROM knowledge_wordsegment FULL JOIN (
        SELECT segment_id AS id, count(*) AS alive, sum(length(tsv)) AS lexemes
        FROM knowledge_chunktext WHERE segment_id IS NOT NULL GROUP BY segment_id
    ) AS texts USING (id) FULL JOIN (
        SELECT segment_id AS id, sum(size) AS entries,
            bool_and(size = cardinality(entries)) AS whole
        FROM knowledge_wordpostings GROUP BY segment_id
    ) AS postings USING (id)
    WHERE chunks IS NULL OR coalesce(alive, 0) > chunks OR NOT coalesce(whole, true)
        OR coalesce(entries, 0) < coalesce(lexemes, 0)
        OR (alive = chunks AND coalesce(entries, 0) <> coalesce(lexemes, 0))
"""

REINDEX = "manage.py reindex"
REPAIR = "manage.py reindex --repair"


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault: how many rows have it, and the command that mends them."""

    about: str
    rows: int
    fix: str


@dataclass(frozen=True, slots=True)
class GenerationSize:
    """One generation, and how many vectors it has."""

    id: int
    embedder: str
    model: str
    dimensions: int
    state: str
    vectors: int


@dataclass(frozen=True, slots=True)
class Report:
    """The state of the whole index."""

    generations: list[GenerationSize]
    waiting_items: int
    findings: list[Finding]

    @property
    def faults(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.rows]


def check() -> Report:
    """Look for every kind of fault; each is counted at one moment, so work may go on meanwhile."""
    waiting = Item.objects.filter(in_kb=True, index_status=IndexStatus.KEYWORD)
    kinds = [
        ("items without chunks", ITEMS_WITHOUT_CHUNKS, REINDEX),
        ("items of an older index version", STALE_ITEMS, REINDEX),
        ("chunks without words", CHUNKS_WITHOUT_WORDS, REINDEX),
        ("chunks without live vectors", CHUNKS_WITHOUT_VECTORS, REINDEX),
        ("items whose embedding failed", FAILED_ITEMS, REINDEX),
        ("orphaned chunks", ORPHANED_CHUNKS, REPAIR),
        ("orphaned words", ORPHANED_WORDS, REPAIR),
        ("orphaned vectors", ORPHANED_VECTORS, REPAIR),
        ("items with a wrong count", WRONG_ITEM_COUNTS, REPAIR),
        ("owners with a wrong count", WRONG_LIBRARY_SIZES, REPAIR),
        ("segments unlike their words", WRONG_SEGMENTS, REPAIR),
    ]
    findings = [Finding(about, _count(query), fix) for about, query, fix in kinds]
    return Report(_generations(), waiting.count(), findings)


def ids(query: str) -> list[Any]:
    """What one of the queries above finds."""
    return [row[0] for row in _rows(sql.SQL(query))]


def _count(query: str) -> int:
    counted = sql.SQL("SELECT count(*) FROM ({found}) AS found").format(found=sql.SQL(query))
    return int(_rows(counted)[0][0])


def _rows(query: sql.Composable) -> list[tuple[Any, ...]]:
    values = {"version": INDEX_VERSION, "generation": live_generation().pk}
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return list(cursor.fetchall())


def _generations() -> list[GenerationSize]:
    counted = ChunkEmbedding.objects.values_list("generation_id").annotate(Count("chunk_id"))
    vectors = dict(counted.order_by())
    return [
        GenerationSize(
            *(each.pk, each.embedder, each.model, each.dimensions, each.state),
            vectors=vectors.get(each.pk, 0),
        )
        for each in Generation.objects.order_by("pk")
    ]
