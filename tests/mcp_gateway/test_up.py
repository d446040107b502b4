"""How `manage.py up` listens."""

import asyncio
import socket
from collections.abc import Callable

import pytest
import uvloop

from knowledge.api.asgi import Message
from mcp_gateway.event_stream import head_with_body
from mcp_gateway.management.commands.up import _listen


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_body_never_waits_for_the_acknowledgement_of_its_head(
    host: str, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner, _listen(host, 0) as listener:
        assert runner.run(nodelay_of_an_accepted_connection(listener))


async def nodelay_of_an_accepted_connection(listener: socket.socket) -> int:
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def on_connection(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(on_connection, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        try:
            return await accepted
        finally:
            writer.close()
            await writer.wait_closed()


def test_the_head_of_an_mcp_answer_is_sent_with_the_first_of_its_body() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def answer() -> None:
        send_together = head_with_body(send)
        await send_together({"type": "http.response.start", "status": 200, "headers": []})
        assert sent == []
        await send_together({"type": "http.response.body", "body": b"a", "more_body": True})
        await send_together({"type": "http.response.body", "body": b"b"})

    asyncio.run(answer())
    assert [message.get("body") for message in sent] == [None, b"a", b"b"]
