"""Django spools a request's whole body before any view sees it; this stops what is too large."""

import json

from config.lingering import App, Message, Receive, Send
from config.middleware import id_for

# A text of 500,000 characters, each escaped to twelve bytes of JSON, and room to spare.
MAX_BODY = 8 * 1024 * 1024


class BodyLimit:
    """Answers 413 in the envelope of every other error, having read no more than the limit."""

    def __init__(self, app: App, *, limit: int = MAX_BODY) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _declared_size(scope) > self.limit:
            await self._refuse(scope, send)
            return
        chunks: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            more = message.get("more_body", False)
            if size > self.limit:
                await self._refuse(scope, send)
                return
        body = b"".join(chunks)
        await self.app(_with_length(scope, len(body)), _replay(body, receive), send)

    async def _refuse(self, scope: Message, send: Send) -> None:
        given = dict(scope["headers"]).get(b"x-request-id", b"")
        request_id = id_for(given.decode("latin-1"))
        body = json.dumps(
            {
                "error": "payload_too_large",
                "message": f"The body may have at most {self.limit:,} bytes.",
                "request_id": request_id,
                "max_bytes": self.limit,
            }
        ).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"x-request-id", request_id.encode()),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _declared_size(scope: Message) -> int:
    declared = dict(scope["headers"]).get(b"content-length", b"")
    return int(declared) if declared.isdigit() else 0


def _with_length(scope: Message, size: int) -> Message:
    """Django REST framework takes a body without a Content-Length for none at all."""
    if not size or b"content-length" in dict(scope["headers"]):
        return scope
    kept = [(name, value) for name, value in scope["headers"] if name != b"transfer-encoding"]
    return {**scope, "headers": [*kept, (b"content-length", str(size).encode())]}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand on what was read, then whatever comes after it, such as the client leaving."""
    is_given = False

    async def replayed() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
