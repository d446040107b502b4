"""What stands before POST /import: its body may be large, so its sender must be known first.

Django spools a body whole before any view can ask for a token.
"""

import asyncio
from collections.abc import Awaitable, Callable
from io import BytesIO
from types import SimpleNamespace

from asgiref.sync import ThreadSensitiveContext
from django.core.handlers.asgi import ASGIRequest

from knowledge.api.errors import answer_error
from knowledge.api.exchange import ImportView, too_large
from knowledge.api.receiving import (
    Message,
    Receive,
    Send,
    in_thread,
    request_id_of,
    send_answer,
)
from knowledge.errors import InvalidInput, QuarryError
from knowledge.ingest import uploads

App = Callable[[Message, Receive, Send], Awaitable[None]]

_ROUTE = "/api/v1/import"
_PATIENCE_SEC = 60


def is_import(scope: Message) -> bool:
    """Whether this request brings an archive."""
    is_http: bool = scope["type"] == "http"
    return is_http and (scope["method"], scope["path"]) == ("POST", _ROUTE)


class ImportGate:
    """Lets large bodies through to Django from whoever may import; others are answered without."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async with ThreadSensitiveContext():
            is_welcome = await in_thread(_is_welcome, scope)
        if not is_welcome:
            await self.app(scope, _unread(receive), send)
            return
        body = _Body(receive)
        await self.app(scope, body.next, send)
        if body.refusal:
            await _refuse(body.refusal, scope, send)


def _is_welcome(scope: Message) -> bool:
    view = ImportView()
    view.request = view.initialize_request(ASGIRequest(scope, BytesIO()))
    try:
        view.check_welcome()
    except Exception:  # whatever it is, the view will meet it too, and say so
        return False
    return True


def _unread(receive: Receive) -> Receive:
    """No body, so that the view refuses at once, with all that its refusals carry."""
    is_given = False

    async def unread() -> Message:
        nonlocal is_given
        if not is_given:
            is_given = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await receive())["type"] == "http.request":
            pass
        return message

    return unread


class _Body:
    """A body as it comes, up to the limit; then whatever follows, such as the client leaving.

    One that cannot be taken ends as if its sender had left, upon which Django says nothing.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0
        self._is_whole = False
        self.refusal: QuarryError | None = None

    async def next(self) -> Message:
        if self._is_whole:
            return await self._receive()
        try:
            return self._taken(await _patiently(self._receive))
        except QuarryError as error:
            self.refusal = error
            return {"type": "http.disconnect"}

    def _taken(self, message: Message) -> Message:
        self._size += len(message.get("body", b""))
        if self._size > uploads.max_bytes():
            raise too_large()
        self._is_whole = not message.get("more_body", False)
        return message


async def _patiently(receive: Receive) -> Message:
    try:
        async with asyncio.timeout(_PATIENCE_SEC):
            return await receive()
    except TimeoutError:
        raise InvalidInput(
            f"Nothing came for {_PATIENCE_SEC} seconds, and nothing was kept; send it again.",
            field="body",
        ) from None


async def _refuse(error: QuarryError, scope: Message, send: Send) -> None:
    headers = dict(scope["headers"])
    request_id = request_id_of(headers.get(b"x-request-id", b"").decode("latin-1"))
    answer = answer_error(error, {"request": SimpleNamespace(request_id=request_id)})
    await send_answer(answer, request_id, send)
