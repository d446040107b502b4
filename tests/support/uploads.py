"""The three steps of an upload, over REST."""

from typing import Any

import httpx2
from asgiref.sync import async_to_sync

from config.asgi import application
from tests.support.library import Minted

NOTES = b"Decisions: ship the API docs. The folder rename is deferred to June.\n"
TEXT = "text/plain"


def begin(token: Minted, *, size: int = len(NOTES), **other: Any) -> tuple[int, Any]:
    asked = {"filename": "notes.txt", "mime_type": TEXT, "size": size, **other}
    answer = token.client.post("/api/v1/uploads/signed-url", asked, format="json")
    return answer.status_code, answer.json()


def begun(token: Minted, **other: Any) -> Any:
    status, body = begin(token, **other)
    assert status == 201, body
    return body


def put(address: Any, data: bytes | None = NOTES, **changed: Any) -> tuple[int, Any]:
    """Put a file at a signed address through the whole ASGI application."""
    asked: dict[str, Any] = {
        "method": address["method"],
        "url": address["signed_url"],
        "headers": address["headers"],
        "content": data,
        **changed,
    }

    async def send() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=application)
        async with httpx2.AsyncClient(transport=transport) as client:
            return await client.request(**asked)

    answer = async_to_sync(send)()
    assert answer.headers["x-request-id"]
    return answer.status_code, answer.json()


def finish(token: Minted, address: Any, route: str = "finalize-document", **other: Any) -> Any:
    asked = {"upload_id": address["upload_id"], **other}
    answer = token.client.post(f"/api/v1/uploads/{route}", asked, format="json")
    return answer.status_code, answer.json()


def stored(token: Minted, data: bytes = NOTES, **other: Any) -> Any:
    address = begun(token, size=len(data), **other)
    assert put(address, data)[0] == 200
    return address
