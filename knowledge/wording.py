"""The keyword rows of chunks: what full-text search reads, in the dictionary of their language.

Postgres stems each word once for this process; the rows are put together here and copied in,
which takes a third of the time that `to_tsvector` does.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from struct import Struct, pack
from uuid import UUID

from django.db import connection

from knowledge.words import LONGEST_WORD, identifiers, plain

Stem = tuple[bytes, bytes, tuple[tuple[bytes, int], ...] | None, int]
"""A word's one lexeme, if it has any; the word itself unless that is the same; and, for the few
words that Postgres takes apart, all lexemes with their places and how many places they take."""

_MOST_WORDS = 100_000
_LAST_PLACE = 16_383
_MOST_PLACES = 255
_COUNT = Struct("!I")
_NO_PLACE = bytes(2)
_ONE_PLACE = [pack("!HH", 1, place) for place in range(_LAST_PLACE + 1)]
_known: dict[str, dict[str, Stem]] = {}

# A word takes a place for each of its parts that a dictionary was asked about, also when the
# answer was that it is too common to keep.
_STEMS = """
    SELECT word, lexemes, places, CASE WHEN octet_length(word) < 2047 THEN taken ELSE 0 END
    FROM unnest(%s::text[]) AS word,
        LATERAL (
            SELECT array_agg(lexeme), array_agg(positions[1])
            FROM unnest(to_tsvector(%s::regconfig, word))
        ) AS stem (lexemes, places),
        LATERAL (SELECT count(*) FROM ts_parse('default', word) WHERE tokid <> 12) AS t (taken)
"""
_COPY = (
    "COPY knowledge_chunktext (chunk_id, owner_id, item_id, tsv, length) FROM STDIN (FORMAT BINARY)"
)


def write_words(
    owner_id: int, item_id: UUID, configuration: str, texts: Iterable[tuple[int, str]]
) -> None:
    """Write the row of each chunk: stems with their places, and every word as it was written."""
    spoken = [
        (chunk_id, plain(text).lower().split(), identifiers(text)) for chunk_id, text in texts
    ]
    stems = _stems(configuration, {word for _, words, _ in spoken for word in words})
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        # A tsvector's own bytes, for the type need not be looked up to send them.
        copy.set_types(["int8", "int4", "uuid", "bytea", "int4"])
        for chunk_id, words, names in spoken:
            vector, length = tsvector(words, names, stems)
            copy.write_row((chunk_id, owner_id, item_id, vector, length))


def tsvector(
    words: Sequence[str], names: Iterable[str], stems: dict[str, Stem]
) -> tuple[bytes, int]:
    """The words as Postgres keeps them, and how many of them are not too common to count."""
    places = _places(words, stems)
    rows = [lexeme + _packed(kept) for lexeme, kept in places.items()]
    written = {stems[word][1] for word in set(words)}
    written.update(name.encode() + b"\0" for name in names)
    written.discard(b"")
    rows += [name + _NO_PLACE for name in written if name not in places]
    return _COUNT.pack(len(rows)) + b"".join(rows), sum(map(len, places.values()))


def _places(words: Sequence[str], stems: dict[str, Stem]) -> dict[bytes, list[int]]:
    """Where each lexeme stands. Most of the time of indexing is spent in this loop."""
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    at = 0
    for word in words:
        lexeme, _, parts, taken = stems[word]
        if parts is not None:
            for part, place in parts:
                places[part].append(at + place)
        elif lexeme:
            places[lexeme].append(at + 1)
        at += taken
    return places


def _packed(places: list[int]) -> bytes:
    if len(places) == 1 and places[0] <= _LAST_PLACE:
        return _ONE_PLACE[places[0]]
    kept = [place for place in places[:_MOST_PLACES] if place <= _LAST_PLACE]
    return pack(f"!H{len(kept)}H", len(kept), *kept)


def _stems(configuration: str, words: set[str]) -> dict[str, Stem]:
    """Each word's stem, as Postgres gave it now or before."""
    known = _known.setdefault(configuration, {})
    found = {word: stem for word in words if (stem := known.get(word)) is not None}
    if unknown := list(words - found.keys()):
        found |= _asked(configuration, unknown)
        if len(known) > _MOST_WORDS:
            known.clear()
        known.update(found)
    return found


def _asked(configuration: str, words: list[str]) -> dict[str, Stem]:
    with connection.cursor() as cursor:
        cursor.execute(_STEMS, [words, configuration])
        return {
            word: _stem(word, lexemes or [], places or [], taken)
            for word, lexemes, places, taken in cursor.fetchall()
        }


def _stem(word: str, lexemes: Sequence[str], places: Sequence[int], taken: int) -> Stem:
    ends = [lexeme.encode() + b"\0" for lexeme in lexemes]
    itself = word.encode() + b"\0" if len(word) <= LONGEST_WORD else b""
    if taken == 1 and places in ([], [1]):
        lexeme = ends[0] if ends else b""
        return lexeme, b"" if itself == lexeme else itself, None, 1
    return b"", itself, tuple(zip(ends, places, strict=True)), taken
