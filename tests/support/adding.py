"""Links to add, recordings to serve, and the jobs that additions leave to a worker."""

from functools import cache
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory
from typing import Any

import dramatiq
from dramatiq.brokers.stub import StubBroker
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge.access import Access
from knowledge.ingest.adding import add_to_knowledge
from knowledge.models import Chunk, Content, Item, Link
from tests.support.recordings import tone, written

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
 xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><title>Stone Talk</title>
<language>en</language><item><title>Episode {guid}</title><guid>{guid}</guid>
<itunes:duration>{length}</itunes:duration>
<enclosure url="/{guid}.wav" length="1" type="audio/wav"/>{more}</item></channel></rss>"""


def add_link(access: Access, url: str, **wish: Any) -> Item:
    return add_to_knowledge(access, kind="url", url=url, **wish).item


@cache
def wav(seconds: int) -> bytes:
    """A recording of just this length; what it says, the fake transcriber makes up."""
    with TemporaryDirectory() as folder:
        return written(Path(folder) / "tone.wav", tone(seconds)).read_bytes()


def serve_recording(site: HTTPServer, path: str = "/talk.wav", seconds: int = 20) -> str:
    """A recording that tells its length by its head alone."""
    site.expect_request(path).respond_with_data(wav(seconds), content_type="audio/wav")
    return str(site.url_for(path))


def serve_unmeasured(site: HTTPServer, path: str = "/talk.wav", seconds: int = 20) -> str:
    """A recording whose length nobody knows before it is fetched: its server tells no size."""
    body = wav(seconds)

    def answer(_: Request) -> Response:
        pieces = (body[start : start + 9_999] for start in range(0, len(body), 9_999))
        return Response(pieces, content_type="audio/wav")

    site.expect_request(path).respond_with_handler(answer)
    return str(site.url_for(path))


def serve_episode(
    site: HTTPServer, *, guid: str = "one", told: int = 20, seconds: int = 20, more: str = ""
) -> str:
    """A feed that tells its episode's length, and the episode, which may have another."""
    feed = FEED.format(guid=guid, length=told, more=more)
    site.expect_request(f"/{guid}.xml").respond_with_data(feed, content_type="application/rss+xml")
    serve_recording(site, f"/{guid}.wav", seconds)
    return str(site.url_for(f"/{guid}.xml"))


def run_jobs(*, but: frozenset[str] = frozenset({"deliver_webhook"})) -> list[str]:
    """Run what is queued and what that queues, each as its last try; what was run."""
    broker = dramatiq.get_broker()
    assert isinstance(broker, StubBroker)
    ran = []
    while message := _next_message(broker):
        if message.actor_name not in but:
            broker.get_actor(message.actor_name).fn(*message.args)
            ran.append(message.actor_name)
    return ran


def rows() -> dict[str, int]:
    """How much there is of all that an addition may leave."""
    return {model.__name__: model.objects.count() for model in (Content, Item, Link, Chunk)}


def _next_message(broker: StubBroker) -> dramatiq.Message[Any] | None:
    for queue in broker.queues.values():
        try:
            return dramatiq.Message.decode(queue.get_nowait())
        except Empty:
            continue
    return None
