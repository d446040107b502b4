"""Peers, each set up as its own documentation says, behind one small face.

All get the same ids, owners, vectors and texts, answer a question for one owner, and hand back
ids with texts, as an agent needs them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks.loading import LIMIT
from benchmarks.synthetic import Array, Question


class Store(Protocol):
    """What is asked of a peer."""

    name: str
    setup: str
    mode: str

    def __init__(self, folder: Path, dimensions: int) -> None: ...

    def add(self, ids: range, owners: Sequence[int], vectors: Array, texts: list[str]) -> None:
        """Store one batch."""

    def finish(self) -> None:
        """Build whatever is built once everything is there."""

    def search(self, question: Question, owner: int) -> list[int]:
        """The ids of the ten best of one owner."""


class Chroma:
    name = "Chroma"
    setup = "HNSW with its defaults, cosine, where filter"
    mode = "semantic"

    def __init__(self, folder: Path, dimensions: int) -> None:
        import chromadb
        from chromadb.config import Settings

        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._most = client.get_max_batch_size()
        self._rows = client.create_collection(
            "chunks", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def add(self, ids: range, owners: Sequence[int], vectors: Array, texts: list[str]) -> None:
        for at in range(0, len(ids), self._most):
            part = slice(at, at + self._most)
            self._rows.add(
                ids=[str(id_) for id_ in ids[part]],
                embeddings=vectors[part].astype("float32"),
                metadatas=[{"owner": int(owner)} for owner in owners[part]],
                documents=texts[part],
            )

    def finish(self) -> None:
        """It indexes while it adds."""

    def search(self, question: Question, owner: int) -> list[int]:
        found = self._rows.query(
            query_embeddings=[question.vector],
            n_results=LIMIT,
            where={"owner": owner},
            include=["documents", "distances"],
        )
        return [int(id_) for id_ in found["ids"][0]]


class LanceFlat:
    name = "LanceDB"
    setup = "no vector index, as it advises below 100k rows; BTREE on the owner, prefilter"
    mode = "semantic"

    def __init__(self, folder: Path, dimensions: int) -> None:
        import lancedb
        import pyarrow as pa

        self._schema = pa.schema(
            [
                ("id", pa.int64()),
                ("owner", pa.int64()),
                ("text", pa.string()),
                ("vector", pa.list_(pa.float32(), dimensions)),
            ]
        )
        self._table = lancedb.connect(folder).create_table("chunks", schema=self._schema)

    def add(self, ids: range, owners: Sequence[int], vectors: Array, texts: list[str]) -> None:
        import pyarrow as pa

        flat = pa.array(vectors.astype("float32").ravel())
        lists = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
        columns = [pa.array(ids), pa.array(owners, pa.int64()), pa.array(texts), lists]
        self._table.add(pa.table(columns, schema=self._schema))

    def finish(self) -> None:
        self._table.optimize()
        self._table.create_scalar_index("owner", index_type="BTREE")

    def search(self, question: Question, owner: int) -> list[int]:
        return self._found(self._query(question, owner))

    def _query(self, question: Question, owner: int) -> Any:
        query: Any = self._table.search(question.vector)
        return query.distance_type("cosine").where(f"owner = {owner}", prefilter=True)

    def _found(self, query: Any) -> list[int]:
        rows = query.select(["id", "text", "_distance"]).limit(LIMIT).to_arrow()
        ids: list[int] = rows["id"].to_pylist()
        return ids


class LanceIndexed(LanceFlat):
    name = "LanceDB, indexed"
    setup = "IVF_PQ with its defaults and refine_factor 10; BTREE on the owner, prefilter"

    def finish(self) -> None:
        super().finish()
        self._table.create_index(metric="cosine", index_type="IVF_PQ")

    def search(self, question: Question, owner: int) -> list[int]:
        return self._found(self._query(question, owner).refine_factor(10))


class SqliteVec:
    name = "sqlite-vec"
    setup = "float32, the owner as partition key"
    mode = "semantic"

    def __init__(self, folder: Path, dimensions: int) -> None:
        import pysqlite3  # many builds of Python's own sqlite3 load no extensions
        import sqlite_vec

        folder.mkdir(parents=True)
        self._database = pysqlite3.connect(folder / "chunks.sqlite")
        self._database.enable_load_extension(True)
        sqlite_vec.load(self._database)
        self._database.execute(
            "CREATE VIRTUAL TABLE chunks USING vec0(id integer primary key, "
            f"owner integer partition key, vector float[{dimensions}] distance_metric=cosine, "
            "+text text)"
        )

    def add(self, ids: range, owners: Sequence[int], vectors: Array, texts: list[str]) -> None:
        blobs = (vector.astype("float32").tobytes() for vector in vectors)
        rows = zip(ids, map(int, owners), blobs, texts, strict=True)
        with self._database:
            self._database.executemany(
                "INSERT INTO chunks (id, owner, vector, text) VALUES (?, ?, ?, ?)", rows
            )

    def finish(self) -> None:
        """It compares every vector of the partition; there is no index."""

    def search(self, question: Question, owner: int) -> list[int]:
        rows = self._database.execute(
            "SELECT id, text FROM chunks WHERE vector MATCH ? AND owner = ? AND k = ?",
            [question.vector.tobytes(), owner, LIMIT],
        )
        return [id_ for id_, _ in rows]


class Tantivy:
    name = "tantivy"
    setup = "BM25, English stop words and stemmer, the owner as a required term"
    mode = "keyword"

    def __init__(self, folder: Path, dimensions: int) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("id", stored=True)
        schema.add_integer_field("owner", indexed=True)
        schema.add_text_field("text", stored=True, tokenizer_name="english")
        folder.mkdir(parents=True)
        self._index = tantivy.Index(schema.build(), path=str(folder))
        self._index.register_tokenizer("english", self._analyzer())
        self._writer = self._index.writer(heap_size=256_000_000)

    def _analyzer(self) -> Any:
        import tantivy

        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        for one in (
            tantivy.Filter.lowercase(),
            tantivy.Filter.stopword("english"),
            tantivy.Filter.stemmer("english"),
        ):
            analyzer = analyzer.filter(one)
        return analyzer.build()

    def add(self, ids: range, owners: Sequence[int], vectors: Array, texts: list[str]) -> None:
        import tantivy

        for id_, owner, text in zip(ids, owners, texts, strict=True):
            self._writer.add_document(tantivy.Document(id=id_, owner=int(owner), text=text))

    def finish(self) -> None:
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._index.reload()

    def search(self, question: Question, owner: int) -> list[int]:
        import tantivy

        words, _ = self._index.parse_query_lenient(question.text, ["text"])
        theirs = tantivy.Query.term_query(self._index.schema, "owner", owner)
        must = tantivy.Occur.Must
        query = tantivy.Query.boolean_query([(must, theirs), (must, words)])
        searcher = self._index.searcher()
        hits = searcher.search(query, LIMIT).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]


STORES: tuple[type[Store], ...] = (Chroma, LanceFlat, LanceIndexed, SqliteVec, Tantivy)
