"""Django spools a request's whole body before any view sees it; this stops what is too large."""

from knowledge.api.asgi import (
    MAX_BODY,
    App,
    ClientLeft,
    Message,
    Receive,
    Send,
    TooLarge,
    headers_of,
    read_whole,
    replay,
    request_id_for,
    send_json,
)


class BodyLimit:
    """Answers 413 in the envelope of every other error, having read no more than the limit."""

    def __init__(self, app: App, *, limit: int = MAX_BODY) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            body = await read_whole(scope, receive, max_bytes=self.limit)
        except TooLarge:
            await self._refuse(scope, send)
        except ClientLeft:
            return
        else:
            await self.app(_with_length(scope, len(body)), replay(body, receive), send)

    async def _refuse(self, scope: Message, send: Send) -> None:
        request_id = request_id_for(headers_of(scope).get("x-request-id", ""))
        body = {
            "error": "payload_too_large",
            "message": f"The body may have at most {self.limit:,} bytes.",
            "request_id": request_id,
            "max_bytes": self.limit,
        }
        await send_json(send, 413, body, {"x-request-id": request_id})


def _with_length(scope: Message, size: int) -> Message:
    """Django REST framework takes a body without a Content-Length for none at all."""
    if not size or b"content-length" in dict(scope["headers"]):
        return scope
    kept = [(name, value) for name, value in scope["headers"] if name != b"transfer-encoding"]
    return {**scope, "headers": [*kept, (b"content-length", str(size).encode())]}
