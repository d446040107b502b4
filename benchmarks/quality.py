"""Retrieval quality: public collections through the product, beside bm25s and exact cosine."""

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import UUID

import numpy as np

from benchmarks import harness
from benchmarks.collections import (
    Collection,
    Document,
    SpanQuestion,
    only_relevant,
    parts_of,
    read_collection,
    read_span_questions,
)
from benchmarks.metrics import Span, length, ndcg, recall, reciprocal_rank, shared

MODES = ("semantic", "keyword", "hybrid")
DOCUMENTS = 20
PAGE = 20
MOST_PAGES = 25
SPAN_HITS = (1, 5, 8)
LONGEST_PART = 400_000

Ranking = list[str]
Embeddings = np.ndarray[Any, np.dtype[np.float32]]


def main() -> None:
    options = _options()
    harness.require("bm25s", "Stemmer")
    is_new = not options.loaded
    harness.start_product(options.home / "quality", embedder=options.embedder, fresh=is_new)
    remember_embeddings(options.embedder, options.home / "embeddings.sqlite", options.fresh)
    judged = [folder for folder in options.data if (folder / "corpus.jsonl").exists()]
    collections = [_collection(folder, small=options.small) for folder in judged]
    shelf_of = add_collection if is_new else find_collection
    libraries = [shelf_of(collection) for collection in collections]
    spans = _with_spans(options.data) if is_new else []
    texts = [add_texts(folder / "raw", small=options.small) for folder in spans]
    harness.settle()
    ranking = [row for pair in zip(collections, libraries, strict=True) for row in measure(*pair)]
    chunks = [row for text in texts for row in measure_chunks(text)]
    harness.show("Ranking", ranking)
    if chunks:
        harness.show("Characters of the answers among the first hits", chunks)
    harness.write_json(options, {"ranking": ranking, "chunks": chunks})


def _collection(folder: Path, *, small: bool) -> Collection:
    collection = read_collection(folder, most_queries=10 if small else None)
    return only_relevant(collection) if small else collection


def _with_spans(folders: Iterable[Path]) -> list[Path]:
    return [folder for folder in folders if (folder / "raw" / "questions_df.csv").exists()]


def _options() -> Any:
    options = harness.parser(__doc__)
    options.add_argument("--data", type=Path, action="append", required=True, metavar="FOLDER")
    options.add_argument("--embedder", default="granite")
    options.add_argument("--fresh", action="store_true", help="embed again what is remembered")
    options.add_argument(
        "--loaded", action="store_true", help="search what the last run added, and add nothing"
    )
    return options.parse_args()


# Ranking --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shelf:
    """A collection in the product: who owns it, and which item is which document."""

    owner_id: int
    documents: dict[UUID, str]


def add_collection(collection: Collection) -> Shelf:
    """Add every document as its owner would."""
    from knowledge.access import Access

    owner_id = harness.new_owner(collection.name)
    access = Access.whole_library(owner_id)
    with harness.stopwatch(f"{collection.name}: {len(collection.documents)} documents added"):
        documents = {add(access, one.title, one.text): one.id for one in collection.documents}
    return Shelf(owner_id, documents)


def find_collection(collection: Collection) -> Shelf:
    """A collection that an earlier run added, in the order in which it did."""
    from django.contrib.auth import get_user_model

    from knowledge.models import Item

    owner = get_user_model().objects.get(username=collection.name)
    items = Item.objects.filter(owner=owner).order_by("created_at").values_list("pk", flat=True)
    names = (document.id for document in collection.documents)
    return Shelf(owner.pk, dict(zip(items, names, strict=True)))


def add(access: Any, title: str, text: str) -> UUID:
    """Add a text and do at once what a worker would do later."""
    from knowledge.indexing import generations
    from knowledge.ingest import adding
    from knowledge.models import IndexStatus

    item = adding.add_text(access, title=title, text=text)
    if item.index_status != IndexStatus.DONE:
        generations.embed_item(item.pk)
    return item.pk


def measure(collection: Collection, shelf: Shelf) -> list[harness.Row]:
    """One row for each way to rank the collection's documents."""
    by_word, by_meaning = _bm25s(collection.documents), _exact_cosine(shelf)
    ways: dict[str, Callable[[str], Ranking]] = {
        **{mode: _engine(shelf, mode) for mode in MODES},
        "bm25s": lambda query: _best(by_word(query)),
        "exact cosine": lambda query: _best(by_meaning(query)),
        "RRF": lambda query: _best(_by_rank(by_word(query), by_meaning(query))),
        "exact blend": lambda query: _best(_blend(by_word(query), by_meaning(query))),
    }
    rows = []
    for name, rank in ways.items():
        with harness.stopwatch(f"{collection.name}: {len(collection.queries)} queries, {name}"):
            rankings = {query: rank(text) for query, text in collection.queries.items()}
        rows.append({"collection": collection.name, "by": name, **scores(collection, rankings)})
    return rows


def scores(collection: Collection, rankings: dict[str, Ranking]) -> harness.Row:
    """The means over all questions, in hundredths."""
    judged = [(ranking, collection.gains[query]) for query, ranking in rankings.items()]
    return {
        "nDCG@10": 100 * fmean(ndcg(*pair) for pair in judged),
        "Recall@20": 100 * fmean(recall(*pair) for pair in judged),
        "MRR@10": 100 * fmean(reciprocal_rank(*pair) for pair in judged),
    }


def _engine(shelf: Shelf, mode: str) -> Callable[[str], Ranking]:
    """The product's own search, its chunks folded to their documents by the best one."""
    from knowledge.access import Access
    from knowledge.retrieval.search import LibrarySearchRequest, search

    access = Access.whole_library(shelf.owner_id)

    def rank(query: str) -> Ranking:
        found: dict[str, None] = {}
        for page in range(MOST_PAGES):
            request = LibrarySearchRequest(query=query, mode=mode, limit=PAGE, offset=page * PAGE)
            hits = search(access, request).hits
            found |= dict.fromkeys(shelf.documents[hit.item.pk] for hit in hits)
            if len(found) >= DOCUMENTS or len(hits) < PAGE:
                break
        return list(found)[:DOCUMENTS]

    return rank


Scores = dict[str, float]


def _bm25s(documents: Sequence[Document]) -> Callable[[str], Scores]:
    """bm25s with English stop words and the Snowball stemmer, and our own k1 and b."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str], ids: bool = True) -> Any:
        return bm25s.tokenize(
            texts, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=ids
        )

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(tokens([document.words for document in documents]), show_progress=False)

    def score(query: str) -> Scores:
        words = tokens([query], ids=False)[0]
        if not words:
            return {}
        found = index.get_scores(words)
        return {documents[at].id: float(found[at]) for at in np.nonzero(found > 0)[0].tolist()}

    return score


def _exact_cosine(shelf: Shelf) -> Callable[[str], Scores]:
    """Every vector of the index compared with the query's, in numpy; a document by its best."""
    from knowledge.indexing.generations import live_generation
    from knowledge.providers import embedder_named

    generation = live_generation()
    embedder = embedder_named(generation.embedder)
    rows = harness.execute(
        "SELECT item_id, vector::real[] FROM knowledge_chunkembedding "
        "WHERE owner_id = %s ORDER BY chunk_id",
        [shelf.owner_id],
    )
    names = [shelf.documents[item_id] for item_id, _ in rows]
    vectors = np.array([vector for _, vector in rows], np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    background = generation.background

    def score(query: str) -> Scores:
        found = (vectors @ embedder.embed_query(query) - background) / (1 - background)
        best: Scores = {}
        for at in np.argsort(-found, kind="stable"):
            best.setdefault(names[at], float(found[at]))
        return best

    return score


def _best(scores: Scores) -> Ranking:
    return sorted(scores, key=lambda name: -scores[name])[:DOCUMENTS]


def _by_rank(*signals: Scores) -> Scores:
    """Reciprocal rank fusion of the first hundred of each."""
    fused: dict[str, float] = defaultdict(float)
    for scores in signals:
        for rank, name in enumerate(sorted(scores, key=lambda name: -scores[name])[:100], 1):
            fused[name] += 1 / (60 + rank)
    return fused


def _blend(by_word: Scores, by_meaning: Scores) -> Scores:
    """The product's own 70 to 30, of scores that nothing has approximated."""
    most = max(by_word.values(), default=1.0)
    return {
        name: 0.7 * max(0.0, meaning) + 0.3 * by_word.get(name, 0.0) / most
        for name, meaning in by_meaning.items()
    }


# Chunks ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Texts:
    """Long texts in the product, and questions about them."""

    name: str
    owner_id: int
    places: dict[UUID, tuple[str, int]]  # where in which text an item begins
    questions: list[SpanQuestion]


def add_texts(folder: Path, *, small: bool) -> Texts:
    """Add each text in as few items as the product takes."""
    from knowledge.access import Access

    questions = read_span_questions(folder)
    if small:
        questions = [one for one in questions if one.corpus == questions[0].corpus][:10]
    texts = Texts(folder.parent.name, harness.new_owner(f"texts of {folder}"), {}, questions)
    access = Access.whole_library(texts.owner_id)
    for name in sorted({one.corpus for one in questions}):
        text = (folder / f"{name}.md").read_text()
        with harness.stopwatch(f"{name}: {len(text):,} characters added"):
            for start, part in parts_of(text, longest=LONGEST_PART):
                texts.places[add(access, name, part)] = (name, start)
    return texts


def measure_chunks(texts: Texts) -> list[harness.Row]:
    """How much of each answer the first hits hold, and how much else they bring along.

    Of whole chunks, and of the passages that an answer shows of them.
    """
    rows = []
    for mode in MODES:
        answers = [_hits(texts, question, mode) for question in texts.questions]
        for part in ("chunk", "passage"):
            found = [[_place(hit, texts.places, part) for hit in hits] for hits in answers]
            for most in SPAN_HITS:
                pairs = zip(texts.questions, found, strict=True)
                held = [span_scores(one.corpus, one.spans, spans[:most]) for one, spans in pairs]
                means = {name: fmean(row[name] for row in held) for name in held[0]}
                rows.append({"texts": texts.name, "by": mode, "of": part, "hits": most, **means})
    return rows


def _hits(texts: Texts, question: SpanQuestion, mode: str) -> list[Any]:
    from knowledge.access import Access
    from knowledge.retrieval.search import LibrarySearchRequest, search

    access = Access.whole_library(texts.owner_id)
    request = LibrarySearchRequest(query=question.text, mode=mode, limit=max(SPAN_HITS))
    return search(access, request).hits


def _place(hit: Any, places: dict[UUID, tuple[str, int]], part: str) -> tuple[str, Span]:
    corpus, start = places[hit.item.pk]
    span = (hit.chunk.start, hit.chunk.end) if part == "chunk" else hit.passage_span
    return corpus, (start + span[0], start + span[1])


def span_scores(
    corpus: str, wanted: Sequence[Span], found: Sequence[tuple[str, Span]]
) -> harness.Row:
    """Recall, precision and intersection over union in characters.

    What was found in another text counts as found and not wanted.
    """
    right = [span for name, span in found if name == corpus]
    both = shared(right, wanted)
    total = sum(end - start for _, (start, end) in found)
    return {
        "recall": 100 * both / length(wanted),
        "precision": 100 * both / total if total else 0.0,
        "IoU": 100 * both / (total + length(wanted) - both),
    }


# Embeddings remembered ------------------------------------------------------------------------


def remember_embeddings(name: str, path: Path, fresh: bool) -> None:
    """Embed a text once for all runs: only the embedder's speed is lost, and not measured here."""
    from knowledge import providers
    from knowledge.retrieval import semantic

    semantic.PATIENCE_SEC = 600.0  # on a busy machine a vector may come late; that is not measured
    if fresh:
        path.unlink(missing_ok=True)
    make = providers._EMBEDDERS[name]
    harness.register_embedder(name, lambda: RememberingEmbedder(make(), path))


class RememberingEmbedder:
    """An embedder that looks up what it has embedded before."""

    def __init__(self, embedder: Any, path: Path) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self.background = embedder.background
        self.languages = embedder.languages
        self.reads_neighbours = embedder.reads_neighbours
        self._known = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._known.execute("CREATE TABLE IF NOT EXISTS v (key BLOB PRIMARY KEY, vector BLOB)")

    def embed_document(self, chunks: Sequence[str]) -> Embeddings:
        return self._embed("document", chunks, self._embedder.embed_document)

    def embed_query(self, text: str) -> Embeddings:
        def embed(texts: Sequence[str]) -> Embeddings:
            return np.stack([self._embedder.embed_query(query) for query in texts])

        vector: Embeddings = self._embed("query", [text], embed)[0]
        return vector

    def _embed(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Embeddings]
    ) -> Embeddings:
        keys = [sha256(f"{self.name} {kind} {text}".encode()).digest() for text in texts]
        new = [at for at, key in enumerate(keys) if self._vector(key) is None]
        if new:
            vectors = embed([texts[at] for at in new])
            rows = [(keys[at], vector.tobytes()) for at, vector in zip(new, vectors, strict=True)]
            self._known.executemany("INSERT OR REPLACE INTO v VALUES (?, ?)", rows)
        return np.array([self._vector(key) for key in keys])

    def _vector(self, key: bytes) -> Embeddings | None:
        row = self._known.execute("SELECT vector FROM v WHERE key = ?", [key]).fetchone()
        return np.frombuffer(row[0], np.float32) if row else None


if __name__ == "__main__":
    main()
