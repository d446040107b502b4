"""Feeds: their entries and episodes, read from bytes that we fetched ourselves."""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from knowledge.errors import IngestFailed
from knowledge.sources import transcripts
from knowledge.sources.child import run_in_child
from knowledge.sources.webpage import as_moment

SECONDS = 20
MEGABYTES = 1_000

_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/rdf+xml"}
_FEED_HEAD = re.compile(rb"<(?:rss|(?:\w+:)?RDF|feed)[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Where a publisher says that a transcript is."""

    url: str
    kind: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One recording of a feed. Empty fields are what the feed does not tell."""

    guid: str
    media_url: str
    title: str
    author: str
    language: str
    link: str
    number: str
    published_at: datetime | None
    duration_sec: float | None
    transcripts: tuple[Transcript, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The episodes at one address, in the feed's own order."""

    url: str
    episodes: tuple[Episode, ...]

    @property
    def newest(self) -> Episode:
        """The last published; the first in the feed, where that is not told."""
        long_ago = datetime.min.replace(tzinfo=UTC)
        return max(self.episodes, key=lambda episode: episode.published_at or long_ago)

    def find(self, fits: Callable[[Episode], bool]) -> Episode | None:
        """The first episode that fits."""
        return next(filter(fits, self.episodes), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a feed, with or without a recording."""

    guid: str
    link: str
    title: str
    published_at: datetime | None
    episode: dict[str, Any]
    """What `episode_of` makes an episode from; empty where there is no recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """A feed as it is followed: its name, its site and all its entries, in its own order."""

    title: str
    site_url: str
    entries: tuple[Entry, ...]


def is_feed(media_type: str, head: bytes) -> bool:
    """Whether an answer is a feed, by its type or its first words."""
    is_markup = media_type.endswith("xml") or media_type in ("", "text/plain", "text/html")
    looks_like = bool(_FEED_HEAD.search(head[:1000])) and b"<html" not in head[:1000].lower()
    return media_type in _FEED_TYPES or (is_markup and looks_like)


def read_feed(body: bytes, *, url: str) -> Feed:
    """The feed, taken apart in a process of its own; one without recordings is refused."""
    told = run_in_child(
        "knowledge.sources.parsers.feed:read",
        {"body": base64.b64encode(body).decode(), "url": url},
        seconds=SECONDS,
        megabytes=MEGABYTES,
    )
    if not told["episodes"]:
        raise IngestFailed(
            "This feed holds no recordings; send the address of one of its pages, or "
            "follow the feed on the page Sources.",
            reason="not_extractable",
        )
    return Feed(url=url, episodes=tuple(_episode(row, told) for row in told["episodes"]))


def read_entries(body: bytes, *, url: str) -> Entries:
    """All entries of a feed, taken apart in a process of its own."""
    told = run_in_child(
        "knowledge.sources.parsers.feed:read_entries",
        {"body": base64.b64encode(body).decode(), "url": url},
        seconds=SECONDS,
        megabytes=MEGABYTES,
    )
    about = {name: told[name] for name in ("title", "author", "language")}
    return Entries(
        title=told["title"],
        site_url=told["link"],
        entries=tuple(_entry(row, about) for row in told["entries"]),
    )


def _entry(row: dict[str, Any], about: dict[str, Any]) -> Entry:
    return Entry(
        guid=row["guid"] or row["link"] or f"{row['title']} {row['published']}",
        link=row["link"] or (row["guid"] if row["guid"].startswith(("http:", "https:")) else ""),
        title=row["title"],
        published_at=_moment(row["published"]),
        episode={"entry": row, "feed": about} if row["media_url"] else {},
    )


def episode_of(told: dict[str, Any]) -> Episode:
    """The episode of an entry that was kept for later."""
    return _episode(told["entry"], told["feed"])


def _episode(row: dict[str, Any], feed: dict[str, Any]) -> Episode:
    language = primary(feed["language"])
    offered = [
        Transcript(
            url=told["url"],
            kind=transcripts.kind_of(told["type"], told["url"]),
            language=told["language"],
        )
        for told in row["transcripts"]
        if told["url"]
    ]
    offered.sort(key=lambda one: (primary(one.language or language) != language, _rank(one.kind)))
    return Episode(
        guid=row["guid"],
        media_url=row["media_url"],
        title=row["title"],
        author=row["author"] or feed["author"] or feed["title"],
        language=language,
        link=row["link"],
        number=row["number"],
        published_at=_moment(row["published"]),
        duration_sec=_duration(row["duration"]),
        transcripts=tuple(offered),
    )


def _rank(kind: str) -> int:
    return transcripts.KINDS.index(kind) if kind in transcripts.KINDS else len(transcripts.KINDS)


def primary(language: str) -> str:
    """The language without its region."""
    return language.replace("_", "-").split("-")[0].lower()


def _moment(told: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(told)
    except (ValueError, IndexError, OverflowError):
        return as_moment(told)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _duration(told: str) -> float | None:
    numbers = told.strip().split(":")
    if len(numbers) > 3 or not all(re.fullmatch(r"\d{1,7}(\.\d+)?", number) for number in numbers):
        return None
    seconds = 0.0
    for number in numbers:
        seconds = seconds * 60 + float(number)
    return seconds or None
