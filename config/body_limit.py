"""Django spools a request's whole body before any view sees it; this stops what is too large."""

from knowledge.api import asgi
from knowledge.api.asgi import App, Message, Receive, Send
from knowledge.budgets import body_budget


class BodyLimit:
    """Answers 413 in the envelope of every other error, having read no more than the limit."""

    def __init__(self, app: App, *, limit: int | None = None) -> None:
        """The limit is that of the path, unless one is given for all."""
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.limit or body_budget(scope["path"]).most
        try:
            body = await asgi.read_whole(scope, receive, max_bytes=limit)
        except asgi.TooLarge:
            await self._refuse(scope, send, limit)
        except asgi.ClientLeft:
            return
        else:
            await self.app(_with_length(scope, len(body)), asgi.replay(body, receive), send)

    async def _refuse(self, scope: Message, send: Send, limit: int) -> None:
        request_id = asgi.request_id_for(asgi.headers_of(scope).get("x-request-id", ""))
        body = {
            "error": "payload_too_large",
            "message": f"The body may have at most {limit:,} bytes.",
            "request_id": request_id,
            "max_bytes": limit,
        }
        await asgi.send_json(send, 413, body, {"x-request-id": request_id})


def _with_length(scope: Message, size: int) -> Message:
    """Django REST framework takes a body without a Content-Length for none at all."""
    if not size or b"content-length" in dict(scope["headers"]):
        return scope
    kept = [(name, value) for name, value in scope["headers"] if name != b"transfer-encoding"]
    return {**scope, "headers": [*kept, (b"content-length", str(size).encode())]}
