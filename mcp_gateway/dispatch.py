"""Where calls run: a few threads of our own, each call on a connection fresh from the pool.

A call whose caller leaves is stopped: the statement that it waits for is cancelled in the
database, and the next one that it would send is refused.
"""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio
import psycopg
from django.db import DatabaseError, OperationalError, close_old_connections, connections
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from knowledge.asks import Ask
from knowledge.errors import InternalError, InvalidInput, ProviderUnavailable, QuarryError
from knowledge.monitoring.progress import STEPS, Listener, report_to
from mcp_gateway.errors import json_rpc
from mcp_gateway.identity import Caller
from mcp_gateway.tool_table import SECONDS
from tokens.call_slots import CallSlots

P = ParamSpec("P")
T = TypeVar("T")
ParamsT = TypeVar("ParamsT")

Context = ServerRequestContext[Any, Any]
CallerOf = Callable[[Context], Caller]
Work = Callable[[Caller, ParamsT], T]
Handler = Callable[[Context, ParamsT], Awaitable[T]]

STATEMENT_SECONDS = 30
"""The longest that one statement of a call may take, should nobody be there to stop it."""
_CANCEL_SECONDS = 5
_TELLING_SECONDS = 5

logger = logging.getLogger(__name__)
_here = threading.local()


class Dispatcher:
    """Takes calls off the event loop: each to a thread, in its time, as its caller."""

    def __init__(
        self, threads: "DatabaseThreads", caller_of: CallerOf, slots: CallSlots | None = None
    ) -> None:
        self._threads = threads
        self._caller_of = caller_of
        self._slots = slots

    def handler(
        self,
        work: Work[ParamsT, T],
        *,
        seconds: Callable[[ParamsT], float] = lambda params: SECONDS,
        ask: Callable[[ParamsT], Ask | None] = lambda params: None,
        as_error: Callable[[QuarryError, ParamsT], MCPError] = lambda error, _: json_rpc(error),
    ) -> Handler[ParamsT, T]:
        """The work as the SDK calls it. A caller that leaves, or its time running out, stops it."""

        async def handle(context: Context, params: ParamsT) -> T:
            with report_to(_listener_for(context)):
                return await self.run(
                    work,
                    self._caller_of(context),
                    params,
                    seconds=seconds(params),
                    ask=ask(params),
                    as_error=as_error,
                )

        return handle

    async def run(
        self,
        work: Work[ParamsT, T],
        caller: Caller,
        params: ParamsT,
        *,
        seconds: float,
        ask: Ask | None,
        as_error: Callable[[QuarryError, ParamsT], MCPError] = lambda error, _: json_rpc(error),
    ) -> T:
        """What the work returns; its errors as the protocol has them."""
        with _errors_as(lambda error: as_error(error, params)):
            async with self._place(caller, ask):
                try:
                    with anyio.fail_after(seconds):
                        return await self._threads.run(work, caller, params)
                except TimeoutError:
                    raise _too_slow(seconds) from None

    def _place(self, caller: Caller, ask: Ask | None) -> AbstractAsyncContextManager[None]:
        """A place among those that run at once; over stdio there is one caller, and no bound."""
        if self._slots is None or caller.token is None:
            return nullcontext()
        return self._slots.hold(caller.token, ask, length=caller.length)


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
        # Locked while a statement is cancelled, so that the connection does not return to the pool
        # before: the cancellation would hit its next user.
        self._in_use = threading.Lock()

    def through(self, work: Callable[[], T]) -> T:
        # With CONN_MAX_AGE at 0, as the pool demands, every connection is "old" after the call:
        # this hands it back, and drops one that the server has closed.
        close_old_connections()
        database: Any = connections["default"]
        database.statement_timeout_ms = STATEMENT_SECONDS * 1000
        self._database, _here.run = database, self
        try:
            with database.execute_wrapper(self._refuse_or_execute):
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

    def _refuse_or_execute(
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


async def explain_malformed_params(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say what is wrong where the SDK would only say that something is."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"]))
        told = f"The params of {ctx.method} are malformed: {field}: {first['msg']}."
        raise json_rpc(InvalidInput(told, field=field)) from None


def _listener_for(context: Context) -> Listener | None:
    """Tells a client that asked for it how far its call is."""
    if not (context.meta and "progress_token" in context.meta):
        return None
    loop = asyncio.get_running_loop()
    told = -1

    def tell(step: str) -> None:
        nonlocal told
        if (number := STEPS.index(step)) <= told:
            return  # a second address is fetched for the first; progress only ever grows
        told = number
        telling = context.session.report_progress(number, len(STEPS), step)
        # Waited for, so that no step is told after the answer; a client that is gone or
        # does not read must not hold up the work.
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(telling, loop).result(_TELLING_SECONDS)

    return tell


@contextmanager
def _errors_as(as_error: Callable[[QuarryError], MCPError]) -> Iterator[None]:
    try:
        yield
    except QuarryError as error:
        raise as_error(error) from None
    except Exception as error:
        if _is_statement_timeout(error):
            raise as_error(_too_slow(STATEMENT_SECONDS)) from None
        logger.exception("An MCP call failed")
        told = "Something went wrong here; try again, then tell the operator."
        raise as_error(InternalError(told)) from None


def _is_statement_timeout(error: Exception) -> bool:
    """Whether the database gave a statement up; Django wraps what psycopg says, but not always."""
    cause = error.__cause__ if isinstance(error, DatabaseError) else error
    return isinstance(cause, psycopg.errors.QueryCanceled)


def _too_slow(seconds: float) -> ProviderUnavailable:
    return ProviderUnavailable(
        f"This took longer than {seconds:g} seconds and was stopped; ask for less, or try again "
        "later.",
        timeout_sec=seconds,
    )
