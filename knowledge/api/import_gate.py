"""ASGI app in front of POST /import: it authenticates before it reads a large body.

Django spools a body whole before any view can ask for a token.
"""

from io import BytesIO

from django.core.handlers.asgi import ASGIRequest

from knowledge.api.asgi import (
    SILENCE_SEC,
    App,
    ClientLeft,
    FellSilent,
    HoldPlace,
    Message,
    Receive,
    Send,
    TooLarge,
    read_pieces,
)
from knowledge.api.exchange import ImportView, too_large
from knowledge.api.threads import LOOKUPS, threads_for
from knowledge.api.upload_app import send_error
from knowledge.errors import Busy, QuarryError
from knowledge.ingest import uploads

_ROUTE = "/api/v1/import"


def is_import(scope: Message) -> bool:
    """Whether this request brings an archive."""
    is_http: bool = scope["type"] == "http"
    return is_http and (scope["method"], scope["path"]) == ("POST", _ROUTE)


class ImportGate:
    """Lets large bodies through to Django from whoever may import; others are answered without."""

    def __init__(self, app: App, hold_place: HoldPlace) -> None:
        self.app = app
        self.hold_place = hold_place

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        owner_id = await threads_for(LOOKUPS).run(_owner_of, scope)
        if owner_id is None:
            await self.app(scope, receive_empty_body(receive), send)
            return
        body = LimitedBody(receive, max_bytes=uploads.max_bytes(), too_large=too_large())
        try:
            async with self.hold_place(owner_id):
                await self.app(scope, body.next, send)
        except Busy as error:
            body.refusal = error
        if body.refusal:
            await send_error(body.refusal, scope, send)


def _owner_of(scope: Message) -> int | None:
    """Whose library the archive is for, if its sender may import."""
    view = ImportView()
    view.request = view.initialize_request(ASGIRequest(scope, BytesIO()))
    try:
        view.check_welcome()
    except Exception:  # whatever it is, the view will meet it too, and say so
        return None
    return view.access.owner_id


def receive_empty_body(receive: Receive) -> Receive:
    """No body, so that the view refuses at once, with all that its refusals carry."""
    is_given = False

    async def receive_nothing() -> Message:
        nonlocal is_given
        if not is_given:
            is_given = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await receive())["type"] == "http.request":
            pass
        return message

    return receive_nothing


class LimitedBody:
    """A body as it comes, up to the limit; then whatever follows, such as the client leaving.

    One that cannot be taken ends as if its sender had left, upon which Django says nothing.
    """

    def __init__(self, receive: Receive, *, max_bytes: int, too_large: QuarryError) -> None:
        self._receive = receive
        self._pieces = read_pieces(receive, max_bytes=max_bytes, silence_sec=SILENCE_SEC)
        self._too_large = too_large
        self._is_whole = False
        self.refusal: QuarryError | None = None

    async def next(self) -> Message:
        if self._is_whole:
            return await self._receive()
        try:
            piece = await anext(self._pieces, None)
        except TooLarge:
            self.refusal = self._too_large
        except FellSilent as error:
            self.refusal = error
        except ClientLeft:
            pass
        else:
            self._is_whole = piece is None
            return {"type": "http.request", "body": piece or b"", "more_body": not self._is_whole}
        return {"type": "http.disconnect"}
