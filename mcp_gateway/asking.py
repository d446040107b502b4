"""From the SDK's event loop to a plain function and back: time, progress and errors."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import anyio
import psycopg
from django.db import DatabaseError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import PaginatedRequestParams
from pydantic import ValidationError

from knowledge.errors import InternalError, InvalidInput, ProviderUnavailable, QuarryError
from knowledge.progress import STEPS, Listener
from mcp_gateway.errors import json_rpc
from mcp_gateway.identity import Caller
from mcp_gateway.registry import SECONDS
from mcp_gateway.threads import STATEMENT_SECONDS, DatabaseThreads

logger = logging.getLogger(__name__)

T = TypeVar("T")

Context = ServerRequestContext[Any, Any]
CallerOf = Callable[[Context], Caller]
AsError = Callable[[QuarryError], MCPError]

_TELLING_SECONDS = 5


class Door:
    """Where asks leave the event loop: each in its thread, in its time, as its caller."""

    def __init__(self, threads: DatabaseThreads, caller_of: CallerOf) -> None:
        self._threads = threads
        self._caller_of = caller_of

    async def ask(
        self,
        context: Context,
        work: Callable[..., T],
        *args: Any,
        seconds: float = SECONDS,
        as_error: AsError = json_rpc,
    ) -> T:
        """The work's answer. A caller that leaves, or its time running out, stops the work."""
        with _errors_as(as_error):
            try:
                with anyio.fail_after(seconds):
                    return await self._threads.run(work, self._caller_of(context), *args)
            except TimeoutError:
                raise _too_slow(seconds) from None

    def listener_for(self, context: Context) -> Listener | None:
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


def no_cursor(params: PaginatedRequestParams | None) -> None:
    """Refuse a cursor where there is nothing but the first page."""
    if params and params.cursor is not None:
        raise json_rpc(InvalidInput("This is one page; leave out the cursor.", field="cursor"))


async def explain_malformed_params(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say what is wrong where the SDK would only say that something is."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"]))
        told = f"The params of {ctx.method} are malformed: {field}: {first['msg']}."
        raise json_rpc(InvalidInput(told, field=field)) from None


@contextmanager
def _errors_as(as_error: AsError) -> Iterator[None]:
    try:
        yield
    except QuarryError as error:
        raise as_error(error) from None
    except Exception as error:
        if _ran_out_of_time(error):
            raise as_error(_too_slow(STATEMENT_SECONDS)) from None
        logger.exception("An MCP call failed")
        told = "Something went wrong here; try again, then tell the operator."
        raise as_error(InternalError(told)) from None


def _ran_out_of_time(error: Exception) -> bool:
    """Whether the database gave a statement up; Django wraps what psycopg says, but not always."""
    cause = error.__cause__ if isinstance(error, DatabaseError) else error
    return isinstance(cause, psycopg.errors.QueryCanceled)


def _too_slow(seconds: float) -> ProviderUnavailable:
    return ProviderUnavailable(
        f"This took longer than {seconds:g} seconds and was stopped; ask for less, or try again "
        "later.",
        timeout_sec=seconds,
    )
