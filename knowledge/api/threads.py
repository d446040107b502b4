"""The threads of a web process that may use the database: a few for each kind of work.

Together they are no more than the pool has connections, and none waits for another kind: whoever
calls is known, and whether the server is well is told, however long the calls of others take.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

CALLS = "calls"
"""Calls of tokens over REST; how many run at once is counted before they come here."""
LOOKUPS = "lookups"
"""Who is calling, by a token or a session."""
HEALTH = "health"
"""Readiness, and nothing that waits for more than the database."""
PAGES = "pages"
"""Console, admin, sign-in, OAuth, and whatever else needs no token."""
FILES = "files"
"""Files that come and go in pieces, static files, and metrics, which may wait for a job server."""
STREAMS = "streams"
"""Answers of vendors that come in pieces: these wait long, and hold no connection meanwhile."""


class Threads:
    """Runs plain functions that may use the database, so many at a time and no more."""

    def __init__(self, size: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(size, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the work returns; when its caller leaves, it is dropped or, once begun, finished."""
        context = contextvars.copy_context()  # so that log lines have the id of their request
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._pool, context.run, _run, partial(work, *args, **kwargs)
        )


@cache
def threads_for(kind: str) -> Threads:
    """Those for work of this kind; every request of this process shares them."""
    return Threads(settings.THREADS[kind], kind)


def _run(work: Callable[[], T]) -> T:
    # With CONN_MAX_AGE at 0, as the pool demands, every connection is "old" after the work: this
    # hands it back, and drops one that the server has closed.
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()
