"""Forms that send files: let through to Django beyond the usual size, but only of signed-in people.

Django spools a body whole before any view can ask who sends it.
"""

from asgiref.sync import ThreadSensitiveContext

from console.sessions import person_of
from knowledge.api.asgi import App, Message, Receive, Send
from knowledge.api.import_gate import LimitedBody, refuse
from knowledge.api.upload_app import in_thread
from knowledge.errors import PayloadTooLarge

PATHS = ("/add/files", "/add/imports")
MAX_BYTES = 60_000_000
"""Scripts send each file by itself, of any size; this is for browsers without, and for exports."""


class LargeForms:
    """Takes forms with files from people who are signed in; others have the usual limit."""

    def __init__(self, app: App, usual: App) -> None:
        self.app = app
        self.usual = usual

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async with ThreadSensitiveContext():
            person_id = await in_thread(person_of, scope)
        if person_id is None:
            await self.usual(scope, receive, send)
            return
        body = LimitedBody(receive, max_bytes=MAX_BYTES, too_large=_too_large())
        await self.app(scope, body.next, send)
        if body.refusal:
            await refuse(body.refusal, scope, send)


def is_large_form(scope: Message) -> bool:
    """Whether this request may send files by a form."""
    return scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in PATHS


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(
        f"A form may send at most {MAX_BYTES // 1_000_000} MB; send fewer files at a time.",
        max_bytes=MAX_BYTES,
    )
