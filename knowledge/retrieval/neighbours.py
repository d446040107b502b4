"""The chunks that a hit stands among, for a caller who wants to read on around it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.retrieval.binary_cursor import fetch
from knowledge.retrieval.scope import Scope

MAX_WINDOW = 2


@dataclass(frozen=True, slots=True)
class WholeChunk:
    """A chunk with all its text."""

    chunk_id: int
    char_span: tuple[int, int]
    text: str


def chunks_around(
    scope: Scope, chunk_ids: Sequence[int], *, window: int
) -> dict[int, tuple[WholeChunk, ...]]:
    """Of each chunk itself and so many before and after it in its item, in reading order."""
    items, params = scope.allowed_items()
    asked = {**params, "hits": list(chunk_ids), "window": window}
    around: dict[int, list[WholeChunk]] = defaultdict(list)
    for row in fetch(_AROUND.format(items=items), asked):
        whole = WholeChunk(row["chunk_id"], (row["start"], row["end"]), row["text"])
        around[row["hit_id"]].append(whole)
    return {chunk_id: tuple(chunks) for chunk_id, chunks in around.items()}


# The item's own door decides for all its chunks, at the moment when they are read.
_AROUND = """
    SELECT hit.id AS hit_id, chunk.id AS chunk_id, chunk.start, chunk."end", chunk.text
    FROM knowledge_chunk AS hit
        JOIN knowledge_chunk AS chunk ON chunk.item_id = hit.item_id
            AND chunk.position BETWEEN hit.position - %(window)s::int
                AND hit.position + %(window)s::int
    WHERE hit.id = ANY(%(hits)s::bigint[])
        AND hit.item_id IN (SELECT seen.id FROM {items})
    ORDER BY hit.id, chunk.position"""
