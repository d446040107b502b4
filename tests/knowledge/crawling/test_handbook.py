"""A site of eighty pages: crawled once, and refreshed by what has changed."""

import pytest
from pytest_httpserver import HTTPServer

from knowledge.models import Item, Source
from tests.support.crawling import Crawl, item_of, paths, reasons
from tests.support.site import DocSite, handbook

COUNT = 80
pytestmark = pytest.mark.django_db


@pytest.fixture
def book(site: HTTPServer) -> DocSite:
    return handbook(site, COUNT)


@pytest.fixture
def source(book: DocSite, crawled: Crawl) -> Source:
    """Crawled with patterns that leave the calendar out."""
    return crawled(book, exclude=["/calendar/*"])


def test_every_page_is_kept_once_and_asked_for_once(book: DocSite, source: Source) -> None:
    assert (source.state, source.error, source.percent) == ("done", "", 100)
    assert paths(source, "kept") == book.real
    assert Item.objects.count() == len(book.real) == COUNT
    assert {count for path, count in book.asked.items()} == {1}
    assert paths(source, "same") == {"/old-home", "/guide/old", "/guide/copy", "/guide/print"}
    assert reasons(source)["/leaves"] == "off_site"
    assert not any(path.startswith(("/private", "/calendar")) for path in book.asked)
    assert {agent.partition("/")[0] for agent in book.agents} == {"Quarry"}


def test_a_refresh_fetches_what_has_changed_archives_what_is_gone_and_brings_it_back(
    book: DocSite, source: Source, crawled: Crawl
) -> None:
    book.write("/guide/topic-9", "a new subject", "/guide/brand-new")
    book.write("/guide/brand-new", "what was not there before")
    lost = book.files.pop("/guide/topic-20.md")
    book.forget()
    again = crawled(source)
    fetched = {path for path in book.served if path.startswith("/guide/")}
    assert fetched == {"/guide/topic-9", "/guide/brand-new"}
    assert set(book.asked.values()) == {1}
    assert (again.state, Item.objects.count()) == ("done", COUNT + 1)
    assert "a new subject" in item_of(source, book, "/guide/topic-9").content.text
    assert paths(again, "gone") == {"/guide/topic-20.md"}
    gone = item_of(source, book, "/guide/topic-20.md")
    assert list(Item.objects.filter(archived=True)) == [gone]
    book.files["/guide/topic-20.md"] = lost
    crawled(source)
    assert not Item.objects.filter(archived=True).exists()
    assert Item.objects.count() == COUNT + 1


def test_an_endless_calendar_takes_no_real_page_s_place(book: DocSite, crawled: Crawl) -> None:
    source = crawled(book, max_pages=COUNT + 30, depth=5)
    kept = paths(source, "kept")
    assert {path for path in kept if not path.startswith("/calendar")} == book.real
    assert len(kept) == COUNT + 30
    assert sum(book.asked.values()) < 3 * (COUNT + 30)
    assert source.pages.count() <= 5 * (COUNT + 30)
