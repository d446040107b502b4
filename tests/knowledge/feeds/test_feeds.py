"""Feeds: new entries come in by themselves, each once; one that fails says why and backs off."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from knowledge.access import Access
from knowledge.errors import Conflict, IngestFailed, InvalidInput, NotFound, OutOfScope
from knowledge.feeds import actors, following, polling
from knowledge.feeds.following import FeedChanges
from knowledge.ingest import arrivals
from knowledge.library.items import create_folder
from knowledge.models import Feed, FeedEntry, Item
from tests.support.adding import add_link, run_jobs, serve_episode
from tests.support.children import read_in_this_process
from tests.support.exchange import exported, imported, wipe, with_lines
from tests.support.news import ATOM, News
from tests.support.pages import ARTICLE, serve_page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    monkeypatch.setattr(arrivals, "RETRY_SEC", 0)
    settings.QUARRY_HOME = tmp_path
    read_in_this_process(monkeypatch)


@pytest.fixture
def news(site: HTTPServer) -> News:
    return News(site)


def follow(access: Access, news: News, **changes: object) -> Feed:
    feed = following.follow_feed(access, url=news.url, changes=FeedChanges(**changes))  # type: ignore[arg-type]
    run_jobs()
    return feed


def poll(feed: Feed) -> Feed:
    actors.poll_feed.fn(str(feed.pk))
    run_jobs()
    feed.refresh_from_db()
    return feed


def titles(feed: Feed, state: str) -> list[str]:
    return list(feed.entries.filter(state=state).values_list("title", flat=True))


def test_the_newest_entries_come_first_and_older_ones_stay_out(library: Access, news: News) -> None:
    news.publish("chalk", "slate", "marble")
    feed = follow(library, news, max_entries=2, tags=["news"])
    assert titles(feed, "added") == ["marble", "slate"]
    assert titles(feed, "skipped") == ["chalk"]
    items = Item.objects.all()
    assert {tuple(each.tags) for each in items} == {("news",)}
    assert {each.content.kind for each in items} == {"webpage"}


def test_a_new_entry_becomes_an_item_once_and_the_feed_is_asked_conditionally(
    library: Access, news: News
) -> None:
    news.publish("chalk")
    feed = follow(library, news)
    poll(feed)
    news.publish("slate")
    poll(feed)
    poll(feed)
    assert news.asked == ["200", "304", "200", "304"]
    assert titles(feed, "added") == ["slate", "chalk"]
    assert Item.objects.count() == 2


def test_a_flood_of_entries_is_cut_to_the_limit(library: Access, news: News) -> None:
    news.publish("first")
    feed = follow(library, news, max_entries=2)
    news.publish("a", "b", "c", "d")
    poll(feed)
    assert titles(feed, "added") == ["d", "c", "first"]
    assert titles(feed, "skipped") == ["b", "a"]
    [skipped, _] = feed.entries.filter(state="skipped")
    assert skipped.reason == "over_limit"
    following.add_entry(library, feed.pk, skipped.pk)
    run_jobs()
    assert titles(feed, "skipped") == ["a"]


def test_an_entry_whose_page_is_in_the_library_adds_nothing(library: Access, news: News) -> None:
    news.publish("chalk")
    mine = add_link(library, news.site.url_for("/chalk"), tags=["mine"])
    feed = follow(library, news, tags=["news"])
    assert feed.entries.get().state == "there"
    mine.refresh_from_db()
    assert mine.tags == ["mine"]


def test_an_entry_that_fails_says_why_and_can_be_tried_again(library: Access, news: News) -> None:
    news.publish("chalk")
    news.site.clear()
    news.__post_init__()
    news.site.expect_request("/chalk").respond_with_data("", status=404)
    feed = follow(library, news)
    entry = feed.entries.get()
    assert (entry.state, entry.reason) == ("failed", "gone")
    news.site.clear()
    serve_page(news.site, "/chalk", ARTICLE)
    following.add_entry(library, feed.pk, entry.pk)
    run_jobs()
    assert titles(feed, "added") == ["chalk"]


def test_a_feed_that_fails_says_why_and_is_asked_less_and_less(library: Access, news: News) -> None:
    news.publish("chalk")
    feed = follow(library, news)
    news.status = 503
    pauses = []
    for _ in range(7):
        poll(feed)
        pauses.append(round((feed.next_poll_at - timezone.now()) / timedelta(hours=1)))
    assert pauses == [2, 4, 8, 16, 24, 24, 24]
    assert (feed.state, feed.reason, feed.failures) == ("failing", "server_error", 7)
    news.status = 200
    poll(feed)
    assert (feed.state, feed.error, feed.failures) == ("active", "", 0)


def test_a_feed_that_is_gone_for_good_is_paused(library: Access, news: News) -> None:
    feed = follow(library, news)
    news.status = 410
    assert poll(feed).state == "paused"
    assert "410" in feed.error
    asked = len(news.asked)
    poll(feed)
    assert len(news.asked) == asked
    news.status = 200
    following.poll_now(library, feed.pk)
    run_jobs()
    feed.refresh_from_db()
    assert feed.state == "active"


def test_a_feed_that_became_a_page_says_so(library: Access, news: News) -> None:
    feed = follow(library, news)
    news.site.clear()
    serve_page(news.site, "/feed", ARTICLE)
    assert poll(feed).reason == "no_feed"


def test_the_sweep_polls_what_is_due_once_a_slot(library: Access, news: News) -> None:
    feed = follow(library, news)
    assert sweep() == []
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        assert sweep() == ["poll_feed"]
        assert sweep() == []
    following.pause_feed(library, feed.pk)
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=False):
        assert sweep() == []


def sweep() -> list[str]:
    actors.poll_feeds.fn()
    return run_jobs()


def test_an_episode_waits_for_its_price_unless_the_feed_may_transcribe(
    library: Access, site: HTTPServer
) -> None:
    asks = following.follow_feed(library, url=serve_episode(site, guid="one", told=120))
    run_jobs()
    entry = asks.entries.get()
    assert (entry.state, entry.minutes) == ("priced", 2.0)
    assert Item.objects.count() == 0
    following.add_entry(library, asks.pk, entry.pk)
    trusted = following.follow_feed(
        library, url=serve_episode(site, guid="two"), changes=FeedChanges(may_transcribe=True)
    )
    run_jobs()
    assert asks.entries.get().state == trusted.entries.get().state == "added"
    assert {each.content.kind for each in Item.objects.all()} == {"podcast"}
    assert all(each.content.is_ready for each in Item.objects.all())


def test_a_page_that_names_its_feed_is_as_good_as_the_feed(library: Access, news: News) -> None:
    link = f'<link rel="alternate" type="application/rss+xml" href="{news.url}">'
    page = serve_page(news.site, "/blog", ARTICLE.replace("</head>", f"{link}</head>"))
    assert following.follow_feed(library, url=page).url == news.url
    with pytest.raises(Conflict, match="already"):
        following.follow_feed(library, url=news.url)


def test_atom_is_followed_too(library: Access, site: HTTPServer) -> None:
    serve_page(site, "/first", ARTICLE)
    site.expect_request("/atom").respond_with_data(ATOM, content_type="application/atom+xml")
    feed = following.follow_feed(library, url=site.url_for("/atom"))
    run_jobs()
    assert feed.title == "Atom stone"
    assert titles(feed, "added") == ["First"]


def test_what_is_no_feed_is_refused(library: Access, site: HTTPServer) -> None:
    page = serve_page(site, "/page", ARTICLE)
    with pytest.raises(IngestFailed, match="names none"):
        following.follow_feed(library, url=page)
    for url in ("javascript:alert(1)", "ftp://example.org/feed"):
        with pytest.raises((InvalidInput, IngestFailed)):
            following.follow_feed(library, url=url)
    assert Feed.objects.count() == 0


def test_an_entry_without_a_link_or_with_a_script_is_left_out(library: Access, news: News) -> None:
    news.items = [
        "<item><title>&lt;script&gt;alert(1)&lt;/script&gt;</title><guid>x</guid></item>",
        "<item><title>js</title><guid>y</guid><link>javascript:alert(1)</link></item>",
    ]
    feed = follow(library, news)
    assert set(feed.entries.values_list("state", "reason")) == {("skipped", "no_link")}


def test_old_entries_are_forgotten_once_the_feed_lists_them_no_more(
    library: Access, news: News, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "MOST_KEPT", 2)
    news.publish("a", "b")
    feed = follow(library, news)
    news.items = []
    news.publish("c", "d", "e")
    poll(feed)
    assert FeedEntry.objects.count() == 2


def test_nobody_sees_or_touches_the_feed_of_another(
    library: Access, stranger: User, news: News
) -> None:
    news.publish("chalk")
    feed = follow(library, news)
    theirs = Access.whole_library(stranger.pk)
    assert following.list_feeds(theirs) == []
    for ask in (following.get_feed, following.poll_now, following.unfollow_feed):
        with pytest.raises(NotFound):
            ask(theirs, feed.pk)
    with pytest.raises(NotFound):
        following.add_entry(theirs, feed.pk, feed.entries.get().pk)


def test_a_feed_goes_to_a_folder_of_its_owner_only(
    library: Access, stranger: User, news: News, folder: object
) -> None:
    mine = folder("Stone")  # type: ignore[operator]
    news.publish("chalk")
    feed = following.follow_feed(library, url=news.url, folder_id=mine.pk)
    run_jobs()
    assert Item.objects.get().folders.get() == mine
    with pytest.raises(OutOfScope):
        following.file_feed(Access.whole_library(stranger.pk), feed.pk, mine.pk)


def test_letting_a_feed_go_keeps_its_items(library: Access, news: News) -> None:
    news.publish("chalk")
    feed = follow(library, news)
    following.unfollow_feed(library, feed.pk)
    assert (Feed.objects.count(), FeedEntry.objects.count(), Item.objects.count()) == (0, 0, 1)


def test_settings_of_a_feed_are_checked(library: Access, news: News) -> None:
    feed = follow(library, news)
    with pytest.raises(InvalidInput, match="max_entries"):
        following.update_feed(library, feed.pk, FeedChanges(max_entries=0))
    changed = following.update_feed(library, feed.pk, FeedChanges(title=" New  name "))
    assert changed.title == "New name"
    assert isinstance(changed.changed_at, datetime)


def test_feeds_are_exported_and_imported_and_twice_is_as_once(
    library: Access, stranger: User, news: News
) -> None:
    User.objects.update(is_superuser=True)  # whose rows keep their ids
    news.publish("chalk", "slate", "marble")
    shelf = create_folder(library, "News")
    feed = follow(library, news, max_entries=2, tags=["news"])
    following.file_feed(library, feed.pk, shelf.pk)
    archive = exported(library)
    wipe(library)

    report = imported(library, archive)

    assert (report.feeds, report.items, report.problems) == (1, 2, [])
    assert exported(library) == archive
    again = imported(library, archive)
    assert again.feeds == 0
    mine = Feed.objects.get()
    assert (mine.pk, mine.folder, mine.tags, mine.max_entries) == (feed.pk, shelf, ["news"], 2)
    assert titles(mine, "added") == ["marble", "slate"]
    assert {entry.item_id for entry in mine.entries.filter(state="added")} == {
        item.pk for item in Item.objects.all()
    }
    news.publish("gneiss")
    poll(mine)  # what had come does not come again
    assert titles(mine, "added") == ["gneiss", "marble", "slate"]
    assert Item.objects.count() == 3

    theirs = Access.whole_library(stranger.pk)
    bad = with_lines(archive, "feeds.jsonl", lambda lines: [{**lines[0], "url": "file:///etc"}])
    assert [each.file for each in imported(theirs, bad).problems] == ["feeds.jsonl"]
    assert imported(theirs, archive).feeds == 1
    assert imported(theirs, archive).feeds == 0
    other = Feed.objects.get(owner=stranger)
    assert other.pk != feed.pk
    assert not other.entries.filter(item__owner_id=library.owner_id).exists()
