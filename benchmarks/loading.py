"""The synthetic library in the product's tables, written as its pipeline does but in bulk.

Only a content's text is cut short: no search reads it, and it would double the size on disk.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.synthetic import BACKGROUND, Array, Library, Question

EMBEDDER = "bench"
LIMIT = 10
_ITEMS_AT_ONCE = 5_000
_TABLES = ("knowledge_chunk", "knowledge_chunktext", "knowledge_chunkembedding")
_VERSION = 2  # to be raised when what is loaded changes


class KnownQuestions:
    """An embedder that has the vector of every question that will be asked, and of nothing else."""

    name = EMBEDDER
    background = BACKGROUND
    languages: frozenset[str] | None = None
    reads_neighbours = False

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._vectors: dict[str, Array] = {}

    def learn(self, questions: list[Question]) -> None:
        self._vectors |= {question.text: question.vector for question in questions}

    def embed_query(self, text: str) -> Array:
        return self._vectors[text]

    def embed_document(self, chunks: object) -> Array:
        raise NotImplementedError("Vectors are loaded, not made.")


def start_loaded(home: Path, library: Library, *, fresh: bool = False) -> KnownQuestions:
    """The product with this library in it: as an earlier run left it, or loaded now."""
    mark = home / "loaded.json"
    state = {"chunks": library.chunks, "dimensions": library.dimensions, "version": _VERSION}
    is_loaded = not fresh and mark.exists() and json.loads(mark.read_text()) == state
    harness.start_product(home, embedder=EMBEDDER, fresh=not is_loaded)
    embedder = KnownQuestions(library.dimensions)
    harness.register_embedder(EMBEDDER, lambda: embedder)
    if not is_loaded:
        mark.unlink(missing_ok=True)
        load(library)
        mark.write_text(json.dumps(state))
    return embedder


def product_search(access: Any, mode: str) -> Callable[[Question], list[int]]:
    """The whole search, from the question to hits with their items and passages."""
    from knowledge.retrieval.search import LibrarySearchRequest, search

    def ask(question: Question) -> list[int]:
        request = LibrarySearchRequest(query=question.text, mode=mode, limit=LIMIT)
        return [hit.chunk.pk for hit in search(access, request).hits]

    return ask


def product_ranking(access: Any, mode: str) -> Callable[[Question], list[int]]:
    """The engine alone: ids and scores, which is what other stores answer."""
    from knowledge.retrieval.scope import Narrowing
    from knowledge.retrieval.search import rank

    def ask(question: Question) -> list[int]:
        ranking = rank(access, query=question.text, mode=mode, limit=LIMIT, narrowing=Narrowing())
        return [row["chunk_id"] for row in ranking.rows]

    return ask


def load(library: Library) -> None:
    """Write everything, then the indexes, then what the planner wants to know."""
    with harness.stopwatch(f"{library.items:,} items"):
        owner_ids = _write_items(library)
    with _without_indexes():
        with harness.stopwatch(f"{library.chunks:,} chunks"):
            _write_chunks(library, owner_ids)
        with harness.stopwatch("their words"):
            _write_words(library, owner_ids)
            _count_libraries()
        with harness.stopwatch("their vectors"):
            _write_vectors(library, owner_ids)
    with harness.stopwatch("vacuum and statistics"):
        harness.settle()
    _build_whale_index()


def _write_items(library: Library) -> Array:
    """Owners, folders, contents, items and filings; each item's owner."""
    from knowledge.models import Filing, Folder, Item

    owner_ids = {
        name: harness.new_owner(name)
        for name in dict.fromkeys(block.owner for block in library.blocks)
    }
    item_owners = np.zeros(library.items, np.int64)
    for block in library.blocks:
        owner_id = owner_ids[block.owner]
        numbers = range(library.item_of(block.start), library.item_of(block.stop - 1) + 1)
        item_owners[numbers] = owner_id
        _write_block_items(library, owner_id, numbers)
        if block.folder:
            folder = Folder.objects.create(owner_id=owner_id, name=block.folder)
            ids = Item.objects.filter(pk__in=[library.item_ids[at] for at in numbers])
            filings = [Filing(item_id=pk, folder=folder) for pk in ids.values_list("pk", flat=True)]
            Filing.objects.bulk_create(filings, batch_size=_ITEMS_AT_ONCE)
    return item_owners


def _write_block_items(library: Library, owner_id: int, numbers: range) -> None:
    from knowledge.indexing.pipeline import INDEX_VERSION
    from knowledge.models import Content, IndexStatus, Item

    sizes = library.item_sizes()
    for at in range(numbers.start, numbers.stop, _ITEMS_AT_ONCE):
        some = range(at, min(at + _ITEMS_AT_ONCE, numbers.stop))
        contents = [
            Content(owner_id=owner_id, title=f"Item {n}", text="Cut short.", language="en")
            for n in some
        ]
        Content.objects.bulk_create(contents)
        Item.objects.bulk_create(
            Item(
                id=library.item_ids[n],
                owner_id=owner_id,
                content=content,
                chunk_count=sizes[n],
                index_status=IndexStatus.DONE,
                index_version=INDEX_VERSION,
            )
            for n, content in zip(some, contents, strict=True)
        )


def _count_libraries() -> None:
    """Searches choose their plan by these counters."""
    from django.db.models import Sum

    from knowledge.models import Item, LibrarySize

    harness.execute(
        "UPDATE knowledge_item SET word_count = words FROM "
        "(SELECT item_id, sum(length) AS words FROM knowledge_chunktext GROUP BY item_id) AS texts "
        "WHERE id = item_id"
    )
    sums = Item.objects.values_list("owner_id").annotate(Sum("chunk_count"), Sum("word_count"))
    for owner_id, chunks, words in sums:
        LibrarySize.objects.change(
            owner_id, chunks=chunks, words=words, fresh=chunks, languages=["en"]
        )


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Build each index once at the end, which is several times quicker than row by row."""
    indexes = harness.execute(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index "
        "WHERE indrelid = ANY(%s::text[]::regclass[]) AND NOT indisunique",
        [list(_TABLES)],
    )
    for name, _ in indexes:
        harness.execute(f"DROP INDEX {name}")
    yield
    for name, definition in indexes:
        with harness.stopwatch(f"index {name}"):
            harness.execute(definition)


def _write_chunks(library: Library, owner_ids: Array) -> None:
    from django.db import connection

    columns = 'id, item_id, owner_id, position, start, "end", heading_path, text, locator'
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY knowledge_chunk ({columns}) FROM STDIN") as copy,
    ):
        for batch in library.batches():
            items = library.item_of(np.array(batch)).tolist()
            for chunk, item, text in zip(batch, items, library.texts(batch), strict=True):
                place = chunk - int(library.item_starts[item])
                key = (chunk + 1, library.item_ids[item], int(owner_ids[item]), place)
                copy.write_row((*key, 0, len(text), [], text, '{"char_span": [0, 0]}'))
    harness.execute(
        "SELECT setval(pg_get_serial_sequence('knowledge_chunk', 'id'), %s)", [library.chunks]
    )


def _write_words(library: Library, owner_ids: Array) -> None:
    """By the product's own function, on as many connections as there are cores to keep busy."""
    from django.db import connection

    from knowledge.indexing.binary_rows import Keys
    from knowledge.indexing.keyword_rows import word_rows, write_words

    def write(batch: range) -> None:
        texts = library.texts(batch)
        items = library.item_of(np.array(batch))
        for item in np.unique(items).tolist():
            places = np.nonzero(items == item)[0].tolist()
            chunk_ids = [batch.start + place + 1 for place in places]
            words = [f"Item {item}\n{texts[place]}" for place in places]
            owner_id, item_id = int(owner_ids[item]), library.item_ids[item]
            write_words(Keys(chunk_ids, owner_id, item_id), word_rows("english", words))

    def write_and_leave(batch: range) -> None:
        try:
            write(batch)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write_and_leave, library.batches()))


def _write_vectors(library: Library, owner_ids: Array) -> None:
    from knowledge.indexing.binary_rows import VECTORS, Keys, copy_rows, field, halfvec
    from knowledge.indexing.generations import live_generation

    generation = live_generation()
    item_ids = np.frombuffer(b"".join(pk.bytes for pk in library.item_ids), "V16")
    for batch in library.batches():
        items = library.item_of(np.array(batch))
        keys = Keys(np.array(batch) + 1, owner_ids[items], item_ids[items])
        vectors = [field(halfvec(vector)) for vector in library.vectors(batch)]
        copy_rows(VECTORS, keys, vectors, generation_id=generation.pk)


def _build_whale_index() -> None:
    """What an operator is told to run once a library has become very large."""
    from django.core.management import call_command, get_commands

    if "reindex" in get_commands():
        with harness.stopwatch("whale indexes"):
            call_command("reindex", "--whales", verbosity=0)
