"""What the database has counted already: how common words are, and which languages there are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from django.db import connection

from knowledge.retrieval import caches
from knowledge.text.languages import DEFAULT, configuration_for

RARE = 1e-4
"""Twice the share of a word where there are no statistics yet."""

_MOST_OWNERS = 20
"""More of them than this say nothing new about how long chunks are."""

_SHARES = """
    SELECT word, share FROM pg_stats,
        unnest(most_common_elems::text::text[], most_common_elem_freqs) AS common (word, share)
    WHERE tablename = 'knowledge_chunktext' AND attname = 'tsv' AND word IS NOT NULL
        AND schemaname = ANY(current_schemas(false))
"""
# Hops from one language to the next in its index, instead of reading every content.
_LANGUAGES = """
    WITH RECURSIVE hop (language) AS (
        SELECT min(language) FROM knowledge_content
        UNION ALL
        SELECT (SELECT min(language) FROM knowledge_content WHERE language > hop.language)
        FROM hop WHERE hop.language IS NOT NULL
    )
    SELECT language FROM hop WHERE language IS NOT NULL
"""
_LENGTHS = """
    SELECT avg(length) FROM (
        SELECT length FROM knowledge_chunktext WHERE owner_id = ANY(%s) LIMIT 2000
    ) AS sample
"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of all chunks at once; a minute old at most."""

    shares: dict[str, float]
    rarest: float
    configurations: tuple[str, ...]

    def share(self, lexemes: Iterable[str]) -> float:
        """The share of chunks that have any of these, never quite none or all."""
        known = sum(self.shares.get(lexeme, self._rarest_share) for lexeme in lexemes)
        return min(0.9999, max(1e-7, known))

    @property
    def _rarest_share(self) -> float:
        """A word that is not among the common ones is rarer than the rarest of them."""
        return self.rarest / 2


_reading = Lock()


def corpus() -> Corpus:
    """The statistics of this database, read anew when they are a minute old."""
    name = str(connection.settings_dict["NAME"])
    if known := caches.corpora.get(name):
        return known
    with _reading, connection.cursor() as cursor:
        cursor.execute(_SHARES)
        shares = {str(word): float(share) for word, share in cursor.fetchall()}
        cursor.execute(_LANGUAGES)
        languages = {row[0] for row in cursor.fetchall()} | {DEFAULT}
    configurations = tuple(sorted({configuration_for(language) for language in languages}))
    rarest = min(shares.values(), default=RARE)
    return caches.corpora.put(name, Corpus(shares, rarest, configurations))


def average_length(owner_ids: Sequence[int]) -> float:
    """About how many words a chunk of these owners has."""
    some = tuple(owner_ids[:_MOST_OWNERS])
    key = (str(connection.settings_dict["NAME"]), some)
    if known := caches.average_lengths.get(key):
        return known
    with connection.cursor() as cursor:
        cursor.execute(_LENGTHS, [list(some)])
        return caches.average_lengths.put(key, float(cursor.fetchone()[0] or 1))
