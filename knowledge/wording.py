"""The keyword rows of chunks: what full-text search reads, in the dictionary of their language."""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from knowledge.words import exact, plain

_WRITE = """
    INSERT INTO knowledge_chunktext (chunk_id, owner_id, item_id, tsv, length)
    SELECT chunk_id, %s, %s, stems || array_to_tsvector(string_to_array(exact, ' ')),
        (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(stems))
    FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS piece (chunk_id, plain, exact),
        to_tsvector(%s::regconfig, plain) AS stems
"""


def write_words(
    owner_id: int, item_id: UUID, configuration: str, texts: Iterable[tuple[int, str]]
) -> None:
    """Write the row of each chunk: stems with their places, and every word as it was written."""
    chunk_ids, plains, exacts = [], [], []
    for chunk_id, text in texts:
        chunk_ids.append(chunk_id)
        plains.append(plain(text))
        exacts.append(" ".join(exact(text, plains[-1])))
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, [owner_id, item_id, chunk_ids, plains, exacts, configuration])
