"""Asks for a feed: conditionally, through the guarded client."""

from dataclasses import dataclass

from knowledge.errors import IngestFailed
from knowledge.sources import feeds, http, webpage
from knowledge.sources.feeds import Entries

LONGEST_FEED = 20_000_000
SECONDS = 20
ACCEPT = "application/rss+xml,application/atom+xml,application/xml;q=0.9,text/html;q=0.5,*/*;q=0.1"
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedFeed:
    """What a feed says now, and what it takes to ask whether it says something else."""

    url: str
    entries: Entries
    etag: str
    last_modified: str


def find_feed(url: str) -> FetchedFeed:
    """The feed at an address, or the first that a page there names."""
    answer = _ask(url)
    if feeds.is_feed(answer.media_type, answer.body):
        return _read(answer)
    page = webpage.parse_page(answer.body, url=answer.url, charset=answer.charset)
    if not page.feeds:
        raise IngestFailed(
            "There is no feed at this address, and the page names none; give the feed's own "
            "address.",
            reason="no_feed",
        )
    return _read(_ask(page.feeds[0]))


def fetch_feed(url: str, *, etag: str, last_modified: str) -> FetchedFeed | None:
    """The feed, or None when it says what it said before."""
    headers = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    answer = _ask(url, {name: value for name, value in headers.items() if value})
    if answer.status == _NOT_MODIFIED:
        return None
    if not feeds.is_feed(answer.media_type, answer.body):
        raise IngestFailed("There is no feed at this address any more.", reason="no_feed")
    return _read(answer)


def _ask(url: str, headers: dict[str, str] | None = None) -> http.Answer:
    wanted = {"Accept": ACCEPT, **(headers or {})}
    return http.fetch(url, headers=wanted, max_bytes=LONGEST_FEED, seconds=SECONDS)


def _read(answer: http.Answer) -> FetchedFeed:
    return FetchedFeed(
        url=answer.url,
        entries=feeds.read_entries(answer.body, url=answer.url),
        etag=http.sendable(answer.headers.get("etag", ""), 500),
        last_modified=http.sendable(answer.headers.get("last-modified", ""), 100),
    )
