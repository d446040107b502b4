"""Answers that are sent piece by piece."""

from collections.abc import AsyncIterator, Iterator
from typing import Protocol, runtime_checkable

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

from knowledge.api.upload_app import in_thread


@runtime_checkable
class _Closable(Protocol):
    def close(self) -> None: ...


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
    """In the request's own thread, which holds no database connection between two pieces."""
    try:
        while (piece := await in_thread(_next, pieces)) is not None:
            yield piece
    finally:
        if isinstance(pieces, _Closable):
            await in_thread(pieces.close)


def _next(pieces: Iterator[bytes]) -> bytes | None:
    return next(pieces, None)
