"""Django as an ASGI app whose views run on our own threads.

Django's own handler starts a thread for each request and goes back and forth between it and the
event loop four times. Here a body is whole before its view begins, a view runs from end to end on
one thread of a bounded pool, and its answer is sent when the thread is free again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any, ParamSpec, TypeVar, cast

from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.core.signals import request_started
from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch, set_script_prefix
from django.utils.module_loading import import_string

from knowledge.api.asgi import (
    BODY,
    MATCH,
    ClientLeft,
    Message,
    Receive,
    Send,
    SpooledBody,
    declared_length,
    has_body,
    watch_client,
)
from knowledge.api.threads import FILES, STREAMS, Threads, threads_for

P = ParamSpec("P")
T = TypeVar("T")

EVENT_STREAM = "text/event-stream"
_PIECE = 64 * 1024
_KEPT_WHOLE = 4 * _PIECE
"""A stream up to this size is read at once, on the thread of its view."""


@dataclass(slots=True)
class _Answer:
    """What a view answered: its head, its body as far as it is made, and how to go on."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    close: Callable[[], None] | None = None
    """Ends the answer; None once it has ended, with all its body in `body`."""
    rest: Iterator[bytes] = field(default_factory=lambda: iter(()))
    is_live: bool = False
    """Whether each piece is to be sent at once."""


class DjangoHandler(ASGIHandler):
    """Django's middleware and views, called on whatever thread this is called on."""

    def __init__(self, middleware: Sequence[str] | None = None) -> None:
        """With the middleware of all requests, or with these, which only look at answers."""
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        if middleware is not None:
            self._replace_middleware(middleware)

    def _replace_middleware(self, middleware: Sequence[str]) -> None:
        hooks = ("_view_middleware", "_template_response_middleware", "_exception_middleware")
        vars(self).update({name: [] for name in hooks})
        handler: Any = convert_exception_to_response(self._get_response)  # type: ignore[attr-defined]
        for path in reversed(middleware):
            handler = convert_exception_to_response(import_string(path)(handler))
        self._middleware_chain = handler

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """The route that an app before Django has found, if one has."""
        match: ResolverMatch | None = cast(ASGIRequest, request).scope.get(MATCH)
        if match is None:
            return super().resolve_request(request)
        request.resolver_match = match
        return match

    def answer(self, scope: Message, body: IO[bytes]) -> _Answer:
        """The answer of the view, closed on this thread unless it is too long to be made here."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=type(self), scope=scope)
        request, refusal = self.create_request(scope, body)
        response: Any = self.get_response(request) if request else refusal
        response._handler_class = type(self)
        with ExitStack() as ending:
            ending.callback(response.close)
            answer = _read_answer(response, is_head=scope["method"] == "HEAD")
            if answer.close:
                ending.pop_all()  # whoever sends the rest closes it
        return answer


class ThisThread:
    """Runs what neither waits nor uses the database at once, on the event loop's own thread."""

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)


class DjangoApp:
    """Answers requests by Django, on threads of one kind."""

    def __init__(self, handler: DjangoHandler, threads: Threads | ThisThread) -> None:
        self._handler = handler
        self._threads = threads

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        body: SpooledBody | None = scope.get(BODY)
        if body is None and has_body(scope):  # whoever hands it on limits it
            try:
                body = await SpooledBody.read(scope, receive, max_bytes=None, seconds=None)
            except ClientLeft:
                return
            if declared_length(scope) is None:
                body.attach_to(scope)
        try:
            file = body.file if body else BytesIO()
            answer = await self._threads.run(self._handler.answer, scope, file)
        finally:
            if body:
                body.close()
        await _send_answer(answer, receive, send)


def _read_answer(response: Any, *, is_head: bool) -> _Answer:
    answer = _Answer(response.status_code, _headers_of(response), b"")
    if not response.streaming:
        answer.body = response.content
        return answer
    answer.rest = iter(() if is_head else response)
    if response.headers.get("Content-Type") == EVENT_STREAM:
        answer.is_live, is_whole = True, False  # its head goes out before its first piece is made
    else:
        answer.body, is_whole = _take(answer.rest, _KEPT_WHOLE)
    answer.close = None if is_whole else response.close
    return answer


def _headers_of(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    cookies = [("Set-Cookie", each.output(header="").strip()) for each in response.cookies.values()]
    return [
        (name.encode("ascii"), value.encode("latin-1"))
        for name, value in [*response.items(), *cookies]
    ]


def _take(pieces: Iterator[bytes], count: int) -> tuple[bytes, bool]:
    """About so many bytes, and whether they are the last ones."""
    taken = bytearray()
    for piece in pieces:
        taken += piece
        if len(taken) >= count:
            return bytes(taken), False
    return bytes(taken), True


async def _send_answer(answer: _Answer, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    if answer.close:
        await _send_stream(answer, answer.close, receive, send)
        return
    for start in range(0, len(answer.body) - _PIECE, _PIECE):
        await _send_piece(send, answer.body[start : start + _PIECE])
    last = (len(answer.body) - 1) // _PIECE * _PIECE if answer.body else 0
    await send({"type": "http.response.body", "body": answer.body[last:]})


async def _send_stream(
    answer: _Answer, close: Callable[[], None], receive: Receive, send: Send
) -> None:
    """Each piece is made once the client has taken the one before; nothing waits for a client."""
    threads = threads_for(STREAMS if answer.is_live else FILES)
    try:
        async with watch_client(receive) as client:
            piece, is_whole = answer.body, False
            while not (is_whole or client.done()):
                await _send_piece(send, piece)
                piece, is_whole = await threads.run(
                    _take, answer.rest, 1 if answer.is_live else _PIECE
                )
            await send({"type": "http.response.body", "body": piece})
    finally:
        await threads.run(close)


async def _send_piece(send: Send, piece: Any) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": True})
