"""Where calls run: a few threads of our own, each call on a connection fresh from the pool."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseThreads:
    """Runs plain functions that use the database, so many at a time and no more."""

    def __init__(self, size: int) -> None:
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="mcp")

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Wait for the work; a caller that leaves does not stop what has begun."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: _run(work, *args, **kwargs))

    def close(self) -> None:
        """Let what has begun finish, and begin nothing more."""
        self._pool.shutdown(cancel_futures=True)


def _run(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    # With CONN_MAX_AGE at 0, as the pool demands, every connection is "old" after the call:
    # this hands it back, and drops one that the server has closed.
    close_old_connections()
    try:
        return work(*args, **kwargs)
    finally:
        close_old_connections()
