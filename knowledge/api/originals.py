import re
from collections.abc import Iterator
from typing import Protocol

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request

from knowledge.api.base import AskView, errors, path_id
from knowledge.api.streaming import stream
from knowledge.api.toolsets import LIBRARY
from knowledge.asks import Ask
from knowledge.library import originals
from knowledge.library.originals import Original

ANY_FILE = "application/octet-stream"
_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{0,18})|bytes=-(\d{1,18})")
_AS_A_FILE = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private",
    # Whoever wrote the file, no browser may run it as a page of this server.
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}


RANGE = OpenApiParameter(
    "Range",
    str,
    OpenApiParameter.HEADER,
    description="One range of bytes, such as `bytes=0-1023`; any other is ignored.",
)


class ItemOriginalView(AskView):
    """The file that an item was read from, as it was uploaded."""

    asks = {"GET": Ask.GET_ITEM}
    toolsets = LIBRARY

    @extend_schema(
        operation_id="download_original",
        tags=["items"],
        parameters=[
            RANGE,
        ],
        responses={
            (200, ANY_FILE): OpenApiResponse(
                OpenApiTypes.BINARY, "The file, with its own media type, as a download."
            ),
            (206, ANY_FILE): OpenApiResponse(OpenApiTypes.BINARY, "The range that was asked for."),
            **errors(404, 503),
        },
    )
    def get(self, request: Request, item_id: str) -> StreamingHttpResponse:
        return self._answer(request, item_id, is_head=False)

    def head(self, request: Request, item_id: str) -> StreamingHttpResponse:
        """What GET says before its body, which is not read for it."""
        return self._answer(request, item_id, is_head=True)

    def _answer(self, request: Request, item_id: str, *, is_head: bool) -> StreamingHttpResponse:
        original = originals.get_original(self.access, path_id(item_id))
        return send_original(request, original, is_head=is_head)


class StoredFile(Protocol):
    """A file that is read piece by piece, without a connection to the database."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, count: int) -> Iterator[bytes]: ...


def send_original(
    request: Request | HttpRequest,
    original: Original,
    *,
    is_head: bool = False,
    as_attachment: bool = True,
) -> StreamingHttpResponse:
    """An item's file."""
    return send_file(
        request,
        original,
        media_type=original.upload.media_type,
        filename=original.upload.filename,
        etag=f'"{original.upload.pk.hex}"',  # a stored file never changes
        is_head=is_head,
        as_attachment=as_attachment,
    )


def send_file(
    request: Request | HttpRequest,
    file: StoredFile,
    *,
    media_type: str,
    filename: str,
    etag: str,
    is_head: bool = False,
    as_attachment: bool = True,
) -> StreamingHttpResponse:
    """A file, or the range of it that was asked for, so that nothing in it can run."""
    start, end = _range_of(request, file.size, etag)
    answer = stream(
        iter(()) if is_head else file.read(start, end - start),
        content_type=media_type,
        headers={**_AS_A_FILE, "ETag": etag, "Content-Length": str(end - start)},
    )
    named = content_disposition_header(as_attachment=as_attachment, filename=filename)
    answer["Content-Disposition"] = named or ("attachment" if as_attachment else "inline")
    if end - start < file.size:
        answer.status_code = status.HTTP_206_PARTIAL_CONTENT
        answer["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    return answer


def _range_of(request: Request | HttpRequest, size: int, etag: str) -> tuple[int, int]:
    """The bytes to send, from the first up to and without the last; all, if no range fits."""
    asked = _RANGE.fullmatch(request.headers.get("Range", ""))
    if not asked or request.headers.get("If-Range", etag) != etag:
        return 0, size
    first, last, of_end = asked.groups()
    start, end = int(first or 0), min(int(last or size) + 1, size)
    if of_end:
        start, end = max(0, size - int(of_end)), size
    return (start, end) if start < end else (0, size)
