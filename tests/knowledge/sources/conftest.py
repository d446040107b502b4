from collections.abc import Callable, Iterator

import pytest

from tests.support.http_servers import RawServer, Script


@pytest.fixture
def serve(settings) -> Iterator[Callable[[Script], RawServer]]:
    """Starts a server, and names its one port to the client as the operator would."""
    servers: list[RawServer] = []

    def start(script: Script) -> RawServer:
        servers.append(RawServer(script))
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [server.host for server in servers]
        return servers[-1]

    yield start
    for server in servers:
        server.close()
