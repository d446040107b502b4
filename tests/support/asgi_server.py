"""An ASGI app on a real server in this process, on whichever port is free."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.support.waiting import DEADLINE, eventually


@contextmanager
def serve_app(app: Any, **options: Any) -> Iterator[tuple[str, int]]:
    """Its host and port, for as long as this lasts."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, ws="none", log_config=None, **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    eventually(lambda: server.started or not thread.is_alive())
    assert server.started, "The server did not start."
    try:
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield host, port
    finally:
        server.should_exit = True
        thread.join(DEADLINE)
