"""The route that takes files: a bare ASGI app, so that they go to the disk as they arrive.

Django would hold the whole body in a temporary file before a view could copy it to its place.
"""

import re
from collections.abc import AsyncIterator
from types import SimpleNamespace
from urllib.parse import parse_qs

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from rest_framework.response import Response

from knowledge.api.asgi import (
    SILENCE_SEC,
    ClientLeft,
    HoldPlace,
    Message,
    Receive,
    Send,
    headers_of,
    read_pieces,
    request_id_for,
    send_json,
)
from knowledge.api.errors import answer_error
from knowledge.api.threads import FILES, threads_for
from knowledge.errors import InvalidInput, MethodNotAllowed
from knowledge.ingest import uploads
from knowledge.ingest.uploads import Incoming
from knowledge.validation import as_id

_ROUTE = re.compile(r"/api/v1/uploads/([^/]+)/file")
_WRITTEN_AT_A_TIME = 1024 * 1024


def is_upload(scope: Message) -> bool:
    """Whether this request is for the route of files."""
    return scope["type"] == "http" and _ROUTE.fullmatch(scope["path"]) is not None


class UploadApp:
    """Keeps the file of a PUT to a signed address, or says in the usual envelope why not."""

    def __init__(self, hold_place: HoldPlace) -> None:
        self.hold_place = hold_place

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        request_id = request_id_for(headers.get("x-request-id", ""))
        try:
            answer = await self._receive_file(scope, headers, receive)
        except ClientLeft:
            return
        except Exception as error:
            await send_error(error, scope, send)
            return
        await send_answer(answer, request_id, send)

    async def _receive_file(
        self, scope: Message, headers: dict[str, str], receive: Receive
    ) -> Response:
        _refuse_elsewhere(scope, headers)
        # A connection goes back to the pool after each step: a file may take an hour to arrive.
        files = threads_for(FILES)
        incoming = await files.run(_open_upload, scope, headers)
        try:
            async with self.hold_place(incoming.upload.owner_id):
                async for data in _large_pieces(receive):
                    await files.run(incoming.take, data)
                await files.run(incoming.store)
        finally:
            await files.run(incoming.drop)
        return Response({"upload_id": str(incoming.upload.pk), "size": incoming.received})


def _refuse_elsewhere(scope: Message, headers: dict[str, str]) -> None:
    domain, _port = split_domain_port(headers.get("host", ""))
    if not (domain and validate_host(domain, settings.ALLOWED_HOSTS)):
        raise InvalidInput("This Host is not served; see QUARRY_ALLOWED_HOSTS.")
    if scope["method"] != "PUT":
        raise MethodNotAllowed("Files come here by PUT.")


def _open_upload(scope: Message, headers: dict[str, str]) -> Incoming:
    upload_id = scope["path"].split("/")[-2]
    query = parse_qs(scope["query_string"].decode("latin-1"))
    length = headers.get("content-length", "")
    return uploads.receive_upload(
        as_id(upload_id, field="upload_id"),
        signature=query.get("signature", [""])[0],
        media_type=headers.get("content-type", ""),
        length=int(length) if length.isdecimal() else None,
    )


async def _large_pieces(receive: Receive) -> AsyncIterator[bytes]:
    """The body in pieces worth a trip to a thread."""
    held = bytearray()
    async for piece in read_pieces(receive, silence_sec=SILENCE_SEC):
        held += piece
        if len(held) >= _WRITTEN_AT_A_TIME:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


async def send_error(error: Exception, scope: Message, send: Send) -> None:
    """Answer in the usual envelope, from an app that stands before or beside Django."""
    request_id = request_id_for(headers_of(scope).get("x-request-id", ""))
    answer = answer_error(error, {"request": SimpleNamespace(request_id=request_id)})
    await send_answer(answer, request_id, send)


async def send_answer(answer: Response, request_id: str, send: Send) -> None:
    headers = {"x-request-id": request_id}
    if answer.status_code == 405:
        headers["allow"] = "PUT"
    if "Retry-After" in answer.headers:
        headers["retry-after"] = answer.headers["Retry-After"]
    await send_json(send, answer.status_code, answer.data, headers)
