"""Agents: real SDK clients over HTTP, in each era of the protocol, as plain functions."""

import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from mcp_gateway.asgi import McpApp
from tests.support.mcp_agent import DEADLINE, ERAS, Agent, AgentWith


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A real server in this process, on whichever port is free."""
    config = uvicorn.Config(
        McpApp(), host="127.0.0.1", port=0, lifespan="on", ws="none", log_config=None
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + DEADLINE
    while not server.started:
        assert thread.is_alive(), "The server did not start."
        assert time.monotonic() < deadline, "The server did not start in time."
        time.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()
    yield f"http://{host}:{port}"
    server.should_exit = True
    thread.join(DEADLINE)


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """A protocol revision: the stateless one and the newest with a handshake."""
    return str(request.param)


@pytest.fixture
def agent_with(server_url: str, era: str) -> AgentWith:
    """An agent that holds this secret."""
    return lambda secret: Agent(server_url, secret, era)
