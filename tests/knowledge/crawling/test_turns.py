"""A crawl is worked on in turns, by one worker at a time, and never forgotten."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from knowledge.access import Access
from knowledge.crawling import actors, crawl, documentation, frontier, page_fetch
from knowledge.crawling.site import Site
from knowledge.models import Content, Item, Source, SourcePage
from tests.support.adding import run_jobs
from tests.support.crawling import Crawl, paths, reasons
from tests.support.site import DocSite

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_crawl_takes_turns_and_asks_for_nothing_twice(
    docs: DocSite, library: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl, "TURN_SEC", 0.0001)
    docs.write("/", "the start", *(f"/page-{number}" for number in range(5)))
    for number in range(5):
        docs.write(f"/page-{number}", f"subject {number}")
    source = documentation.add_source(library, name="Docs", start_url=docs.url())
    assert run_jobs().count("crawl_source") >= 6
    assert documentation.get_source(library, source.pk).state == "done"
    assert set(docs.asked.values()) == {1}


def test_only_one_worker_asks_a_host_and_another_message_is_harmless(
    docs: DocSite, library: Access
) -> None:
    docs.write("/", "the start")
    source = documentation.add_source(library, name="Docs", start_url=docs.url())
    waits: list[float | None] = []

    def work_too(path: str) -> None:
        waits.append(crawl.take_turn(source.pk))
        connection.close()

    docs.before_answering = work_too
    actors.crawl_source.send(str(source.pk))
    run_jobs()
    assert set(waits) == {crawl.ANOTHER_AT_IT_SEC}
    assert set(docs.asked.values()) == {1}


def test_a_source_deleted_while_a_page_is_read_leaves_noitem_of(
    docs: DocSite, library: Access
) -> None:
    docs.write("/", "the start")
    source = documentation.add_source(library, name="Docs", start_url=docs.url())

    def delete(path: str) -> None:
        if path == "/":
            documentation.delete_source(library, source.pk)
            connection.close()

    docs.before_answering = delete
    run_jobs()
    assert docs.served["/"] == 1
    assert not Item.objects.exists()
    assert not Content.objects.exists()


def test_a_page_that_ends_its_worker_each_time_is_given_up(
    docs: DocSite, library: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs.write("/", "the start", "/killer", "/next")
    docs.write("/next", "what follows")
    ask = page_fetch.ask

    def die_of_it(site: Site, page: SourcePage, *, conditionally: bool) -> Any:
        if page.url.endswith("/killer"):
            raise SystemExit
        return ask(site, page, conditionally=conditionally)

    monkeypatch.setattr(page_fetch, "ask", die_of_it)
    source = documentation.add_source(library, name="Docs", start_url=docs.url())
    for _ in range(frontier.MAX_TRIES):
        with pytest.raises(SystemExit):
            crawl.take_turn(source.pk)
    assert crawl.take_turn(source.pk) is None
    source = documentation.get_source(library, source.pk)
    assert (source.state, paths(source, "kept")) == ("done", {"/", "/next"})
    assert reasons(source) == {"/killer": "crashed"}


def test_sources_are_crawled_again_after_a_week_and_never_if_the_operator_says_so(
    docs: DocSite, crawled: Crawl, settings: Settings
) -> None:
    docs.write("/", "the start")
    source = crawled(docs)
    actors.sweep_sources.fn()
    assert "crawl_source" not in run_jobs()
    week = timezone.now() - timedelta(days=8)
    Source.objects.filter(pk=source.pk).update(finished_at=week)
    settings.QUARRY_SOURCE_REFRESH_DAYS = 0
    actors.sweep_sources.fn()
    assert "crawl_source" not in run_jobs()
    settings.QUARRY_SOURCE_REFRESH_DAYS = 7
    actors.sweep_sources.fn()
    assert "crawl_source" in run_jobs()
    source.refresh_from_db()
    assert (source.crawl, source.state) == (2, "done")


def test_a_crawl_whose_job_was_lost_goes_on(docs: DocSite, library: Access) -> None:
    docs.write("/", "the start")
    source = documentation.add_source(library, name="Docs", start_url=docs.url())
    run_jobs(but=frozenset({"crawl_source"}))
    actors.sweep_sources.fn()
    assert run_jobs() == []
    long_ago = timezone.now() - timedelta(minutes=11)
    Source.objects.filter(pk=source.pk).update(changed_at=long_ago)
    actors.sweep_sources.fn()
    run_jobs()
    source.refresh_from_db()
    assert source.state == "done"
