"""Answers that are sent piece by piece."""

from collections.abc import AsyncIterator, Generator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request


def stream(
    request: Request | HttpRequest,
    pieces: Iterator[bytes],
    *,
    content_type: str,
    headers: dict[str, str],
) -> StreamingHttpResponse:
    """The pieces as an answer, each made when the one before it has been sent."""
    is_async = isinstance(getattr(request, "_request", request), ASGIRequest)
    return StreamingHttpResponse(
        _in_its_thread(pieces) if is_async else pieces, content_type=content_type, headers=headers
    )


async def _in_its_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """In the request's own thread, which has its database connection and its transaction."""
    try:
        while (piece := await sync_to_async(_next)(pieces)) is not None:
            yield piece
    finally:
        if isinstance(pieces, Generator):
            await sync_to_async(pieces.close)()


def _next(pieces: Iterator[bytes]) -> bytes | None:
    return next(pieces, None)
