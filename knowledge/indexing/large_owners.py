"""A partial HNSW index for each owner with very many chunks, over that owner's whole library."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connection
from psycopg import sql

from knowledge.models import Generation, LibrarySize

LARGE_OWNER_CHUNKS = 100_000
"""Below this, bits and an exact second look are as quick, and cost nothing to keep."""

_NAME = re.compile(r"knowledge_hnsw_g(\d+)_o(\d+)")
_IS_VALID = """
    SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relname = %s AND indisvalid AND relnamespace = current_schema()::regnamespace
"""
_ALL = r"""
    SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relname LIKE 'knowledge\_hnsw\_g%' AND relnamespace = current_schema()::regnamespace
"""
# The largest of what the server has by itself and what a graph of these vectors takes, but never
# more than the shared buffers, which are set by the machine's memory.
_MEMORY = """
    SELECT set_config('maintenance_work_mem', greatest(own, least(buffers, %s)) || 'kB', false)
    FROM (SELECT setting::bigint AS own FROM pg_settings WHERE name = 'maintenance_work_mem') AS a,
        (SELECT setting::bigint * 8 AS buffers FROM pg_settings WHERE name = 'shared_buffers') AS b
"""
_CREATE = sql.SQL(
    "CREATE INDEX CONCURRENTLY {name} ON knowledge_chunkembedding "
    "USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops) "
    "WITH (m = 16, ef_construction = 100) "
    "WHERE owner_id = {owner} AND generation_id = {generation}"
)
_PROGRESS = """
    SELECT phase, blocks_done, blocks_total FROM pg_stat_progress_create_index
    WHERE pid = %s AND blocks_total > 0
"""


class LargeOwnerIndex(NamedTuple):
    """The graph of one owner's vectors in one generation."""

    generation_id: int
    owner_id: int

    @property
    def name(self) -> str:
        return f"knowledge_hnsw_g{self.generation_id}_o{self.owner_id}"


def whale_index(generation_id: int, owner_id: int) -> str | None:
    """The name of the owner's graph, if there is one and it is whole."""
    name = LargeOwnerIndex(generation_id, owner_id).name
    return name if _rows(_IS_VALID, [name]) else None


def indexes_to_have(
    generation: Generation, whale_chunks: int = LARGE_OWNER_CHUNKS
) -> set[LargeOwnerIndex]:
    """The indexes that the owners with more chunks than the threshold should have."""
    whales = LibrarySize.objects.filter(chunks__gt=whale_chunks)
    return {LargeOwnerIndex(generation.pk, pk) for pk in whales.values_list("pk", flat=True)}


def indexes_there_are() -> dict[LargeOwnerIndex, bool]:
    """The graphs there are, and whether each is whole; a killed build leaves one that is not."""
    found = {}
    for name, is_valid in _rows(_ALL):
        if match := _NAME.fullmatch(name):
            found[LargeOwnerIndex(int(match[1]), int(match[2]))] = bool(is_valid)
    return found


def drop_index(index: LargeOwnerIndex) -> None:
    """Drop a graph while searches go on; those that begin now no longer see it."""
    name = sql.Identifier(index.name)
    _run(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {name}").format(name=name))


def build_index(index: LargeOwnerIndex, dimensions: int) -> None:
    """Build a graph while searches and additions go on; not within a transaction."""
    chunks = LibrarySize.objects.get(pk=index.owner_id).chunks
    statement = _CREATE.format(
        name=sql.Identifier(index.name),
        dimensions=sql.Literal(dimensions),
        owner=sql.Literal(index.owner_id),
        generation=sql.Literal(index.generation_id),
    )
    with _memory_for(chunks, dimensions):
        _run(statement)


def build_progress(pid: int) -> tuple[str, int, int] | None:
    """What the build in that server process is doing, and how many blocks of the table it read."""
    rows = _rows(_PROGRESS, [pid])
    return rows[0] if rows else None


@contextmanager
def _memory_for(chunks: int, dimensions: int) -> Iterator[None]:
    """A graph that does not fit in the memory for it takes many times as long."""
    kilobytes = chunks * (2 * dimensions + 600) // 1024
    _rows(_MEMORY, [kilobytes])
    try:
        yield
    finally:
        _run(sql.SQL("RESET maintenance_work_mem"))


def _run(statement: sql.Composable) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _rows(statement: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
