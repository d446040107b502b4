"""A bucket in place of the disk."""

from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer
from pytest_django import Settings

from knowledge.storage import S3Store, live_store


@pytest.fixture
def bucket(settings: Settings) -> Iterator[S3Store]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings.QUARRY_S3_BUCKET = "originals"
    settings.QUARRY_S3_ENDPOINT = f"http://{host}:{port}"
    settings.QUARRY_S3_ACCESS_KEY = settings.QUARRY_S3_SECRET_KEY = "testing"
    store = live_store()
    assert isinstance(store, S3Store)
    store._client.create_bucket(Bucket="originals")
    yield store
    store._client.close()
    server.stop()
