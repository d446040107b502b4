"""How an answer over MCP is sent: its head with its body, and as an event stream."""

from knowledge.api.asgi import Message, Send

_HEAD = (
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"content-type", b"text/event-stream"),
    (b"x-accel-buffering", b"no"),
)


async def send_event(send: Send, message: bytes, *, is_first: bool = True) -> None:
    await send_piece(send, b"event: message\r\ndata: %s\r\n\r\n" % message, is_first=is_first)


async def send_piece(send: Send, piece: bytes, *, is_first: bool, is_last: bool = True) -> None:
    if is_first:
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEAD)})
    await send({"type": "http.response.body", "body": piece, "more_body": not is_last})


def with_request_id(send: Send, request_id: str) -> Send:
    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
            message = {**message, "headers": headers}
        await send(message)

    return send_with_id


def head_with_body(send: Send) -> Send:
    """Keep the head back until there is a body: the SDK sends it before a call has begun.

    A client that waits for the head has its answer then, and does not wake up twice.
    """
    head: list[Message] = []

    async def send_together(message: Message) -> None:
        if message["type"] == "http.response.start":
            head.append(message)
            return
        if head:
            await send(head.pop())
        await send(message)

    return send_together
