"""Where calls run: a few threads of our own, each call on a connection fresh from the pool.

A call whose caller leaves is stopped: the statement that it waits for is cancelled in the
database, and the next one that it would send is refused.
"""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

import psycopg
from django.db import DatabaseError, OperationalError, close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")

STATEMENT_SECONDS = 30
"""The longest that one statement of a call may take, should nobody be there to stop it."""
_CANCEL_SECONDS = 5

logger = logging.getLogger(__name__)
_here = threading.local()


class DatabaseThreads:
    """Runs plain functions that use the database, so many at a time and no more."""

    def __init__(self, size: int) -> None:
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="mcp")
        self._stoppers = ThreadPoolExecutor(size, thread_name_prefix="mcp-stop")

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Wait for the work; a caller that leaves stops it."""
        run = Run()
        context = contextvars.copy_context()  # so that log lines have the id of their request
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._pool, context.run, run.through, partial(work, *args, **kwargs)
            )
        except asyncio.CancelledError:
            self._stoppers.submit(run.stop)
            raise

    def close(self) -> None:
        """Let what has begun finish, and begin nothing more."""
        self._pool.shutdown(cancel_futures=True)
        self._stoppers.shutdown()


class Run:
    """One piece of work on its thread, which another thread may stop."""

    def __init__(self) -> None:
        self._is_stopped = False
        self._must_refuse = False
        self._database: Any = None
        # Held while a statement is cancelled, so that the connection does not go back to the
        # pool meanwhile: the cancellation would hit whoever has it next.
        self._in_use = threading.Lock()

    def through(self, work: Callable[[], T]) -> T:
        # With CONN_MAX_AGE at 0, as the pool demands, every connection is "old" after the call:
        # this hands it back, and drops one that the server has closed.
        close_old_connections()
        database: Any = connections["default"]
        database.statement_timeout_ms = STATEMENT_SECONDS * 1000
        self._database, _here.run = database, self
        try:
            with database.execute_wrapper(self._refusing):
                return work()
        finally:
            _here.run = None
            with self._in_use:
                self._database = None
            close_old_connections()

    def stop(self) -> None:
        """Cancel the statement that is waited for; without one, refuse the next."""
        self._is_stopped = self._must_refuse = True
        with self._in_use:
            connection = self._database and self._database.connection
            if connection is None:
                return
            try:
                connection.cancel_safe(timeout=_CANCEL_SECONDS)
            except psycopg.Error:
                logger.warning("A statement could not be cancelled", exc_info=True)

    def acknowledge(self) -> bool:
        """Whether this was stopped, once the work itself has ended."""
        self._must_refuse = False  # a statement sent past Django is cancelled without our notice
        return self._is_stopped

    def _refusing(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        # Once and no more: that unwinds the work, and what it then rolls back and records must
        # pass. A statement that was cancelled has unwound it too.
        if self._must_refuse:
            self._must_refuse = False
            raise OperationalError("Whoever asked for this has left.")
        try:
            return execute(sql, params, many, context)
        except DatabaseError:
            self._must_refuse = False
            raise


def was_stopped() -> bool:
    """Whether the call on this thread was stopped; from here on, what it sends passes."""
    run: Run | None = getattr(_here, "run", None)
    return run is not None and run.acknowledge()
