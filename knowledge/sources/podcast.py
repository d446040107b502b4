"""Podcasts: from a feed, an episode's page or an Apple link to a transcript or a recording."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from knowledge.errors import IngestFailed
from knowledge.sources import canonical, http, transcripts
from knowledge.sources.child import run_in_child
from knowledge.sources.extracted import Extracted, FetchedLink, Recording, Segment
from knowledge.sources.feeds import Episode, Feed, Transcript, primary, read_feed
from knowledge.sources.webpage import Page

APPLE_LOOKUP = "https://itunes.apple.com/lookup"
APPLE_HOSTS = {"podcasts.apple.com", "itunes.apple.com"}
LONGEST_FEED = 20_000_000
FEED_SECONDS = 15
LONGEST_TRANSCRIPT = 5_000_000
TRANSCRIPT_SECONDS = 10
MOST_TRANSCRIPTS = 4
MOST_FEEDS = 2
SHORT_TEXT = 1_500
"""A page that plays a sound and says less than this is about the sound."""

_APPLE_PATH = re.compile(r"/(?:[a-z]{2}/)?podcast/(?:([^/]+)/)?id(\d+)/?")


def is_apple(url: str) -> bool:
    """Whether this is a podcast's address at Apple, which shows no feed of its own."""
    parts = urlsplit(url)
    return parts.hostname in APPLE_HOSTS and bool(_APPLE_PATH.fullmatch(parts.path))


def open_feed(body: bytes, *, url: str, asked: str) -> FetchedLink:
    """The episode that the asked address names, or else the newest."""
    feed = read_feed(body, url=url)
    wanted = _episode_in_address(asked)
    if not wanted:
        return _fetch_episode(feed, feed.newest, is_lasting=False)
    episode = feed.find(lambda one: wanted in (one.guid, one.link, one.number))
    # A key has no fragment: the feed's own address must not come to mean this episode.
    is_lasting = not urlsplit(asked).fragment
    return _fetch_episode(feed, _require_episode(episode, wanted), is_lasting=is_lasting)


def open_episode(episode: Episode, *, feed_url: str) -> FetchedLink:
    """An episode that a feed told of before; the feed is not asked again."""
    return _fetch_episode(Feed(url=feed_url, episodes=()), episode)


def open_apple(url: str) -> FetchedLink:
    """The episode or, for a show, the newest one, from the feed that Apple names."""
    parts = urlsplit(url)
    if not (match := _APPLE_PATH.fullmatch(parts.path)):
        raise _apple_knows_nothing()
    slug, show_id, episode_id = match[1] or "", match[2], parse_qs(parts.query).get("i", [""])[0]
    results = _look_up(show_id)
    feed = _fetch_feed(_feed_url(results))
    if not episode_id:
        return _fetch_episode(feed, feed.newest, is_lasting=False)
    row = next((row for row in results if str(row.get("trackId")) == episode_id), {})
    guid, media_url = row.get("episodeGuid"), row.get("episodeUrl")
    episode = (
        feed.find(lambda episode: episode.guid == guid)
        or feed.find(lambda episode: episode.media_url == media_url)
        or feed.find(lambda episode: _slug(episode.title) == _slug(unquote(slug)))
    )
    return _fetch_episode(feed, _require_episode(episode, episode_id))


def open_page(page: Page, *, url: str) -> FetchedLink | None:
    """The episode that a page is about; None when it is a page like any other."""
    if not page.sounds_like_podcast:
        return None
    for feed_url in page.feeds[:MOST_FEEDS]:
        if found := _from_feed(feed_url, page_url=url):
            return found
    sounds = page.episodes or (page.sounds if len(page.text) < SHORT_TEXT else ())
    if not sounds:
        return None
    recording = Recording(
        media_url=sounds[0],
        title=page.title,
        author=page.author,
        language=page.language,
        published_at=page.published_at,
    )
    return FetchedLink(
        kind="podcast", key=canonical.key(url), found=recording, media_url=recording.media_url
    )


def _episode_in_address(asked: str) -> str:
    parts = urlsplit(asked)
    return unquote(parts.fragment) or parse_qs(parts.query).get("episode", [""])[0]


def _require_episode(episode: Episode | None, wanted: str) -> Episode:
    if episode is None:
        raise IngestFailed(
            f"The feed has no episode {wanted[:200]}; send the feed's address with the episode's "
            "guid after a #.",
            reason="no_such_episode",
        )
    return episode


def _fetch_feed(url: str) -> Feed:
    answer = http.fetch(url, max_bytes=LONGEST_FEED, seconds=FEED_SECONDS)
    return read_feed(answer.body, url=answer.url)


def _from_feed(feed_url: str, *, page_url: str) -> FetchedLink | None:
    """The feed's own word on a page; a feed that fails leaves the page what it is."""
    try:
        feed = _fetch_feed(feed_url)
    except IngestFailed:
        return None
    wanted = canonical.key(page_url)
    episode = feed.find(lambda episode: _same(episode.link, wanted))
    return _fetch_episode(feed, episode) if episode else None


def _same(link: str, wanted: str) -> bool:
    try:
        return bool(link) and canonical.key(link) == wanted
    except IngestFailed:
        return False


def _fetch_episode(feed: Feed, episode: Episode, *, is_lasting: bool = True) -> FetchedLink:
    """What the publisher wrote down, if that can be read, or else the recording."""
    key = canonical.episode_key(feed.url, episode.guid)
    for transcript in episode.transcripts[:MOST_TRANSCRIPTS]:
        try:
            found = _fetch_transcript(episode, transcript)
        except IngestFailed:
            continue
        return FetchedLink(
            kind="podcast",
            key=key,
            url=_page_of(episode),
            rung="publisher",
            found=found,
            is_lasting=is_lasting,
            media_url=episode.media_url,
        )
    recording = Recording(
        media_url=episode.media_url,
        title=episode.title,
        author=episode.author,
        language=episode.language,
        published_at=episode.published_at,
        duration_sec=episode.duration_sec,
    )
    return FetchedLink(
        kind="podcast",
        key=key,
        url=_page_of(episode),
        found=recording,
        is_lasting=is_lasting,
        media_url=episode.media_url,
    )


def _page_of(episode: Episode) -> str:
    """The episode's own page, or the recording itself when it has none that can be opened."""
    try:
        return canonical.address_for_people(episode.link)
    except IngestFailed:
        return episode.media_url


def _fetch_transcript(episode: Episode, transcript: Transcript) -> Extracted:
    answer = http.fetch(transcript.url, max_bytes=LONGEST_TRANSCRIPT, seconds=TRANSCRIPT_SECONDS)
    text = answer.body.decode("utf-8-sig", "replace")
    kind = transcript.kind or transcripts.kind_of(answer.media_type, answer.url)
    words, parts = transcripts.as_text(_segments(text, kind))
    if len(words) < 200 and (episode.duration_sec or 0) > 300:
        raise IngestFailed("The transcript is a stub.", reason="not_extractable")
    return Extracted(
        text=words,
        parts=parts,
        title=episode.title,
        author=episode.author,
        language=primary(transcript.language) or episode.language,
        published_at=episode.published_at,
        duration_sec=episode.duration_sec,
    )


def _segments(text: str, kind: str) -> list[Segment]:
    if kind != "html":
        is_vtt = text.startswith("WEBVTT")
        return transcripts.parse_transcript(text, "vtt" if is_vtt else kind or "text")
    told = run_in_child(
        "knowledge.sources.parsers.feed:read_transcript",
        {"text": text, "kind": kind},
        seconds=20,
        megabytes=1_000,
    )
    return [Segment(**row) for row in told["segments"]]


def _look_up(show_id: str) -> list[dict[str, Any]]:
    asked = urlencode({"id": show_id, "entity": "podcastEpisode", "limit": 200})
    answer = http.fetch(f"{APPLE_LOOKUP}?{asked}")
    try:
        rows = json.loads(answer.body)["results"]
        return [row for row in rows if isinstance(row, dict)]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _apple_knows_nothing() from None


def _feed_url(results: list[dict[str, Any]]) -> str:
    for row in results:
        if isinstance(row.get("feedUrl"), str):
            return str(row["feedUrl"])
    raise _apple_knows_nothing()


def _apple_knows_nothing() -> IngestFailed:
    return IngestFailed(
        "Apple names no feed for this podcast; send the address of its feed or of the episode.",
        reason="not_extractable",
    )


def _slug(title: str) -> str:
    return "-".join(re.findall(r"\w+", title.lower()))
