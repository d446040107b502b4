"""MCP over HTTP as a bare ASGI app: our gate first, then the SDK.

The SDK takes most of a second to import, so nothing here touches it before `lifespan`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from knowledge.api.asgi import (
    MAX_BODY,
    SMALL_BODY,
    ClientLeft,
    Message,
    Receive,
    Send,
    SpooledBody,
    TooLarge,
    TooSlow,
    declared_length,
    headers_of,
    read_whole,
    replay,
    request_id_for,
    send_json,
    watch_client,
)
from knowledge.api.parsing import refuse_crowded_json
from knowledge.api.threads import LOOKUPS, threads_for
from knowledge.errors import (
    Busy,
    CapabilityDenied,
    InternalError,
    InvalidInput,
    InvalidToken,
    MethodNotAllowed,
    MissingToken,
    NotFound,
    PayloadTooLarge,
    QuarryError,
)
from knowledge.sources.readers import open_readers
from mcp_gateway.event_stream import head_with_body, send_event, send_piece, with_request_id
from mcp_gateway.identity import FRESH_SECONDS, Caller, attach_caller
from tokens.authentication import authenticate, secret_from_header
from tokens.call_slots import CallSlots
from tokens.models import Token
from tokens.oauth.addresses import base_url, challenge

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp_types import CallToolRequestParams

    from mcp_gateway.dispatch import Dispatcher
    from mcp_gateway.plain_requests import PlainRequest

logger = logging.getLogger(__name__)

PATHS = ("/mcp", "/mcp/")

PING_SEC = 15.0
"""While a call lasts, its client hears of it so often, lest a proxy end the connection."""


class Refusal(Exception):
    """The gate's answer to a request that goes no further."""

    def __init__(self, status: int, error: QuarryError, **headers: str) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class McpApp:
    """The MCP endpoint. Serves between the start and the end of its `lifespan`."""

    def __init__(self, slots: CallSlots | None = None) -> None:
        self._slots = slots or CallSlots()
        self._sessions: StreamableHTTPSessionManager | None = None
        self._dispatcher: Dispatcher | None = None

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Run what the endpoint needs; once per event loop, as often as one likes."""
        from mcp_gateway.dispatch import DatabaseThreads, Dispatcher
        from mcp_gateway.server import caller_by_http, http_sessions

        threads = DatabaseThreads(settings.THREADS["calls"])
        dispatcher = Dispatcher(threads, caller_by_http, self._slots)
        sessions = http_sessions(dispatcher, max_body=MAX_BODY)
        try:
            async with sessions.run():
                self._sessions, self._dispatcher = sessions, dispatcher
                yield
        finally:
            self._sessions = self._dispatcher = None
            await asyncio.to_thread(threads.close)  # what they still do may need this loop

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _serve_lifespan(self, receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        from mcp_gateway.plain_requests import read_plain

        if self._sessions is None or self._dispatcher is None:
            raise RuntimeError("McpApp serves only within its lifespan().")
        headers = headers_of(scope)
        request_id = request_id_for(headers.get("x-request-id", ""))
        send = head_with_body(with_request_id(send, request_id))
        try:
            _refuse_elsewhere(scope, headers)
            base = base_url(scope.get("scheme", "http"), headers.get("host", ""))
            secret, token = await _look_up_token(base, headers)
            looked_up = monotonic()
            body = await self._read_body(scope, receive, token)
            if monotonic() - looked_up > FRESH_SECONDS:
                secret, token = await _look_up_token(base, headers)
                looked_up = monotonic()
            _refuse_crowded(body)
            _ask_for_more(base, token, body)
        except Refusal as refusal:
            await _refuse(refusal, request_id, send)
            return
        except TooLarge:
            await _refuse(_too_large(), request_id, send)
            return
        except Busy as error:
            told = str(error.details["retry_after_sec"])
            await _refuse(Refusal(429, error, retry_after=told), request_id, send)
            return
        except TooSlow as slow:
            await _refuse(Refusal(408, InvalidInput(str(slow))), request_id, send)
            return
        except ClientLeft:
            return
        plain = read_plain(headers, body)
        if plain and plain.call is None:
            await send_event(send, plain.answer_for(token))
            return
        caller = Caller(
            secret,
            edge="mcp",
            request_id=request_id,
            token=token,
            looked_up=looked_up,
            length=len(body),
        )
        if plain and plain.call:
            call = _call_tool(plain, plain.call, caller, self._dispatcher)
            await _answer(call, receive, send)
            return
        attach_caller(scope, caller)
        await self._sessions.handle_request(scope, replay(body, receive), send)

    async def _read_body(self, scope: Message, receive: Receive, token: Token) -> bytes:
        length = declared_length(scope)
        if length is not None and length <= SMALL_BODY:
            return await read_whole(scope, receive, max_bytes=MAX_BODY)
        async with self._slots.bodies.hold(token):
            body = await SpooledBody.read(scope, receive, max_bytes=MAX_BODY)
        try:
            return body.content()
        finally:
            body.close()


async def _serve_lifespan(app: McpApp, receive: Receive, send: Send) -> None:
    await receive()
    async with app.lifespan():
        with open_readers():
            await send({"type": "lifespan.startup.complete"})
            await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def _answer(work: Coroutine[Any, Any, bytes], receive: Receive, send: Send) -> None:
    """Send the answer to a call as the SDK does: one event, after pings while it takes long."""
    call = asyncio.ensure_future(work)
    is_begun = False
    try:
        async with watch_client(receive) as client:
            while not await _is_over(call, client):
                await send_piece(send, b": ping\r\n\r\n", is_first=not is_begun, is_last=False)
                is_begun = True
        if call.done():
            await send_event(send, call.result(), is_first=not is_begun)
    finally:
        call.cancel()  # whose client has left: the statement that it waits for is stopped


async def _call_tool(
    request: "PlainRequest",
    params: "CallToolRequestParams",
    caller: Caller,
    dispatcher: "Dispatcher",
) -> bytes:
    from mcp.shared.exceptions import MCPError

    from mcp_gateway.calls import answer_tool_call
    from mcp_gateway.tool_table import ask_of_tool, seconds_for

    seconds, ask = seconds_for(params.name), ask_of_tool(params.name)
    try:
        result = await dispatcher.run(answer_tool_call, caller, params, seconds=seconds, ask=ask)
    except MCPError as error:
        return request.error_message(error)
    return request.result_message(result)


async def _is_over(*either: "asyncio.Future[Any]") -> bool:
    """Whether one of these is done before a client should hear of its call."""
    done, _ = await asyncio.wait(either, timeout=PING_SEC, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


def _refuse_elsewhere(scope: Message, headers: dict[str, str]) -> None:
    """Refuse other paths and methods, and pages of other sites that reach us through a browser."""
    if scope["path"] not in PATHS:
        raise Refusal(404, NotFound("There is nothing here; MCP is at /mcp."))
    if not _is_allowed_host(headers.get("host", "")):
        logger.warning("Host %r is not in QUARRY_ALLOWED_HOSTS", headers.get("host", ""))
        raise Refusal(421, InvalidInput("This Host is not served; see QUARRY_ALLOWED_HOSTS."))
    if "origin" in headers and not _is_allowed_origin(headers["origin"]):
        raise Refusal(403, InvalidInput("This Origin may not call; see QUARRY_ALLOWED_HOSTS."))
    if scope["method"] != "POST":
        raise Refusal(405, MethodNotAllowed("MCP messages come by POST."), allow="POST")


def _is_allowed_origin(origin: str) -> bool:
    try:
        return _is_allowed_host(urlsplit(origin).netloc)
    except ValueError:
        return False


def _is_allowed_host(host: str) -> bool:
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.MCP_ALLOWED_HOSTS)


async def _look_up_token(base: str, headers: dict[str, str]) -> tuple[str, Token]:
    """The caller's secret and its token, which is live."""
    try:
        secret = secret_from_header(headers.get("authorization"))
        return secret, await threads_for(LOOKUPS).run(authenticate, secret)
    except MissingToken as error:
        raise Refusal(401, error, www_authenticate=challenge(base)) from None
    except InvalidToken as error:
        told = challenge(base, error="invalid_token")
        raise Refusal(401, error, www_authenticate=told) from None
    except Exception:
        logger.exception("A token could not be checked")
        told = "Something went wrong here; try again, then tell the operator."
        raise Refusal(500, InternalError(told)) from None


def _ask_for_more(base: str, token: Token, body: bytes) -> None:
    """Refuse a call beyond a connection's scope, so that its client asks its person for more."""
    from mcp_gateway.step_up import needs_more

    if needs_more(token, body):
        error = CapabilityDenied(
            "This connection may only read.", required=["write"], have=["read"]
        )
        told = challenge(base, error="insufficient_scope")
        raise Refusal(403, error, www_authenticate=told)


def _refuse_crowded(body: bytes) -> None:
    try:
        refuse_crowded_json(body)
    except PayloadTooLarge as error:
        raise Refusal(413, error) from None


def _too_large() -> Refusal:
    told = f"A message may have at most {MAX_BODY:,} bytes; send less, or upload a file over REST."
    return Refusal(413, PayloadTooLarge(told, max_bytes=MAX_BODY))


async def _refuse(refusal: Refusal, request_id: str, send: Send) -> None:
    error = refusal.error
    told = {"error": error.code, "message": error.message, "request_id": request_id}
    await send_json(send, refusal.status, {**told, **error.details}, refusal.headers)
