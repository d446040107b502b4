"""A peer behind a minimal ASGI app: LanceDB, or pgvector's own query; run by `benchmarks.load`.

Takes `{"vector": [...], "owner": 1}` by POST and answers `{"ids": [...], "texts": [...]}`.
"""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.loading import LIMIT

THREADS = 8


class PgVector:
    """The nearest of one owner by the table's index, with their texts, by one statement."""

    def __init__(self, where: str) -> None:
        from psycopg_pool import ConnectionPool

        self._pool = ConnectionPool(where, min_size=1, max_size=THREADS, open=True)

    def search(self, vector: list[float], owner: int) -> tuple[list[int], list[str]]:
        with self._pool.connection() as connection:
            rows = connection.execute(
                "SELECT chunk.id, chunk.text FROM (SELECT chunk_id FROM knowledge_chunkembedding "
                "WHERE owner_id = %s ORDER BY vector <=> %s::halfvec LIMIT %s) AS near "
                "JOIN knowledge_chunk AS chunk ON chunk.id = near.chunk_id",
                [owner, str(vector), LIMIT],
                prepare=True,
            ).fetchall()
        return [id_ for id_, _ in rows], [text for _, text in rows]


class Lance:
    """A table of LanceDB that another process has filled."""

    def __init__(self, where: str) -> None:
        import lancedb

        self._table = lancedb.connect(Path(where)).open_table("chunks")

    def search(self, vector: list[float], owner: int) -> tuple[list[int], list[str]]:
        query: Any = self._table.search(np.array(vector, np.float32)).distance_type("cosine")
        rows = (
            query.where(f"owner = {owner}", prefilter=True)
            .select(["id", "text", "_distance"])
            .limit(LIMIT)
            .to_arrow()
        )
        return rows["id"].to_pylist(), rows["text"].to_pylist()


def make_app(kind: str, where: str) -> Any:
    store = PgVector(where) if kind == "pgvector" else Lance(where)
    threads = ThreadPoolExecutor(THREADS)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked = json.loads(body)
        loop = asyncio.get_running_loop()
        ids, texts = await loop.run_in_executor(
            threads, store.search, asked["vector"], asked["owner"]
        )
        answer = json.dumps({"ids": ids, "texts": texts}).encode()
        length = (b"content-length", str(len(answer)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": answer})

    return app


if __name__ == "__main__":
    import uvicorn

    _, kind, where, port = sys.argv
    uvicorn.run(make_app(kind, where), port=int(port), log_level="error", lifespan="off")
