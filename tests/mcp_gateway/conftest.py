"""Agents: real SDK clients over HTTP, in each era of the protocol, as plain functions."""

from collections.abc import Iterator

import pytest

from mcp_gateway.asgi import McpApp
from tests.support.asgi_server import serve_app
from tests.support.mcp_agent import ERAS, Agent, AgentWith


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A real server in this process, on whichever port is free."""
    with serve_app(McpApp(), lifespan="on") as (host, port):
        yield f"http://{host}:{port}"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """A protocol revision: the stateless one and the newest with a handshake."""
    return str(request.param)


@pytest.fixture
def agent_with(server_url: str, era: str) -> AgentWith:
    """An agent that holds this secret."""
    return lambda secret: Agent(server_url, secret, era)
