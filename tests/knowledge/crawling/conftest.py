"""Sites to crawl, a crawl that runs to its end, and readers that need no process of their own."""

from typing import Any

import pytest
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.crawling import crawl, documentation, frontier, sitemaps
from knowledge.models import Source
from knowledge.sources import files, webpage
from knowledge.sources.parsers.__main__ import _answer
from knowledge.text.languages import language_of
from tests.support.adding import run_jobs
from tests.support.crawling import Crawl
from tests.support.site import DocSite


@pytest.fixture(autouse=True)
def unhurried(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """No delays between asks and no waits after failures: what they are is told elsewhere."""
    settings.QUARRY_CRAWL_DELAY_SEC = 0
    monkeypatch.setattr(frontier, "RETRY_SEC", 0)
    monkeypatch.setattr(crawl, "OUTAGE_SEC", 0)


@pytest.fixture(autouse=True)
def readers_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child takes half a second to start, and here there are hundreds of pages."""
    language_of("Loads its model before the page reader, in its own process, keeps it out.")

    def run_here(target: str, request: dict[str, Any], **_: Any) -> Any:
        return _answer(target, request)["given"]

    for module in (webpage, sitemaps, files):
        monkeypatch.setattr(module, "run_in_child", run_here)


@pytest.fixture
def docs(site: HTTPServer) -> DocSite:
    """A site with nothing on it yet."""
    return DocSite(site)


@pytest.fixture
def crawled(library: Access) -> Crawl:
    """Add a site and crawl it to the end, or crawl a source once more."""

    def crawl_whole(of: DocSite | Source, **wished: Any) -> Source:
        access = wished.pop("access", library)
        if isinstance(of, Source):
            source = documentation.crawl_again(access, of.pk)
        else:
            wished = {"name": "Handbook", "start_url": of.url(), "max_pages": 500, **wished}
            source = documentation.add_source(access, **wished)
        assert source.state == "queued"
        run_jobs()
        return documentation.get_source(access, source.pk)

    return crawl_whole
