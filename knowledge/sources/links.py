"""Links: what an address leads to, tried in one order, with the page itself fetched once."""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from django.conf import settings

from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.monitoring.progress import tell
from knowledge.sources import canonical, feeds, files, http, podcast, webpage, youtube
from knowledge.sources.extracted import FetchedLink, Recording
from knowledge.sources.remote_audio import remote_length

SECONDS = 40
LONGEST_PAGE = 20_000_000
LONGEST_FILE = 100_000_000
ACCEPT = "text/html,application/xhtml+xml,application/rss+xml;q=0.9,*/*;q=0.8"

_RECORDED = ("audio", "video")
_FILES = ("pdf", "image", "office")
_HTML = ("text/html", "application/xhtml+xml")
_SOUND_NAMES = (".m4a", ".m4b", ".mp3", ".wav", ".ogg", ".opus", ".oga", ".flac", ".aac")
_DISPOSITION = re.compile(r"filename\*?=(?:UTF-8'')?\"?([^\";]+)", re.IGNORECASE)


def open_link(url: str) -> FetchedLink:
    """What the link leads to: a video, a recording, an episode, a file or a page, in this order."""
    tell("fetching")
    url = canonical.unwrap_amp(url.strip())
    if found := _fetch_special_site(url):
        return _with_length(_with_address(found, url))
    opened = _open(url)
    if found := _fetch_special_site(opened.url):
        return _with_length(_with_address(found, opened.url))
    # The text of an AMP cache must not be stored under the publisher's key.
    if canonical.unwrap_amp(opened.url) != opened.url:
        opened = _open(canonical.unwrap_amp(opened.url))
    return _with_length(_with_address(_read(opened), opened.url))


def open_episode(episode: feeds.Episode, *, feed_url: str) -> FetchedLink:
    """An episode that a feed told of before, with its length."""
    tell("fetching")
    return _with_length(podcast.open_episode(episode, feed_url=feed_url))


def _with_address(found: FetchedLink, url: str) -> FetchedLink:
    """With an address for people, unless the source knows a better one."""
    return found if found.url else replace(found, url=canonical.address_for_people(url))


def _with_length(fetched: FetchedLink) -> FetchedLink:
    """With a recording's length, where its source tells none and its first bytes do."""
    found = fetched.found
    if not isinstance(found, Recording) or found.duration_sec or fetched.kind == "youtube":
        return fetched
    seconds = remote_length(found.media_url)
    return replace(fetched, found=replace(found, duration_sec=seconds))


def fetch_media(
    content_kind: str, media_url: str, to: Path, *, max_bytes: int, seconds: float
) -> None:
    """The recording in a file; a failure leaves no file behind."""
    if content_kind == "youtube":
        youtube.download_audio(media_url, to, max_bytes=max_bytes, seconds=seconds)
    else:
        http.download(media_url, to, max_bytes=max_bytes, seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLink:
    """An answer whose kind is known; a recording's bytes are left where they are."""

    asked: str
    answer: http.Answer
    kind: str
    media_type: str

    @property
    def url(self) -> str:
        return self.answer.url

    @property
    def key(self) -> str:
        return canonical.answer_key(self.asked, self.url)

    @property
    def filename(self) -> str:
        return _filename(self.answer)


def _fetch_special_site(url: str) -> FetchedLink | None:
    """Fetch from a site with its own API (YouTube, Apple Podcasts); None for any other address."""
    if video_id := canonical.video_id(url):
        return youtube.open_video(video_id)
    if canonical.same_site(url, "https://youtube.com/"):
        raise IngestFailed(
            "This is a page of YouTube's and no video; send the address of one video.",
            reason="not_extractable",
        )
    return podcast.open_apple(url) if podcast.is_apple(url) else None


def _open(url: str) -> OpenedLink:
    most = settings.QUARRY_MAX_DOWNLOAD_MB * 1_000_000
    with http.stream(url, headers={"Accept": ACCEPT}, max_bytes=most, seconds=SECONDS) as (
        answer,
        pieces,
    ):
        return open_answer(url, answer, pieces)


def open_answer(asked: str, answer: http.Answer, pieces: Iterator[bytes]) -> OpenedLink:
    """An answer whose body is yet to come, with its kind found out."""
    head = _head(pieces)
    media_type = _media_type(answer, head)
    kind = "feed" if media_type == "feed" else files.kind_of(media_type)
    if kind not in _RECORDED:
        answer = replace(answer, body=_whole(head, pieces, kind=kind))
    return OpenedLink(asked=asked, answer=answer, kind=kind, media_type=media_type)


def _head(pieces: Iterator[bytes]) -> bytes:
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= files.HEAD:
            break
    return head


def _whole(head: bytes, pieces: Iterator[bytes], *, kind: str) -> bytes:
    most = LONGEST_FILE if kind in _FILES else LONGEST_PAGE
    body = bytearray()
    for piece in chain([head], pieces):
        body += piece
        if len(body) > most:
            raise IngestFailed(
                f"It is larger than the {most // 1_000_000} MB that are read from a link; upload "
                "the part that matters.",
                reason="too_large",
            )
    return bytes(body)


def _media_type(answer: http.Answer, head: bytes) -> str:
    """By the first bytes; what the server says decides only between kinds of text."""
    if not head:
        raise IngestFailed("The address answers with nothing; check it.", reason="not_extractable")
    try:
        found = files.sniff(head[: files.HEAD], _filename(answer))
    except UnsupportedMedia:
        found = ""
    if found and files.kind_of(found) in _RECORDED + _FILES:
        return _sound_alone(found, answer)
    if feeds.is_feed(answer.media_type, head):
        return "feed"
    if answer.media_type in _HTML or found == "text/html":
        return "text/html"
    if found == "text/plain" and answer.media_type in ("text/markdown", "text/x-markdown"):
        return "text/markdown"
    return found or files.sniff(head[: files.HEAD], _filename(answer))


def _sound_alone(found: str, answer: http.Answer) -> str:
    """A container that may hold pictures holds none when the server or the name says so."""
    said = answer.media_type.startswith("audio/")
    named = urlsplit(answer.url).path.lower().endswith(_SOUND_NAMES)
    return found.replace("video/mp4", "audio/mp4") if said or named else found


def _filename(answer: http.Answer) -> str:
    if told := _DISPOSITION.search(answer.headers.get("content-disposition", "")):
        return PurePosixPath(unquote(told[1])).name
    return _last_step(answer.url)


def _last_step(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name


def _read(opened: OpenedLink) -> FetchedLink:
    tell("reading")
    if opened.kind in _RECORDED:
        # Storage that a recording is sent on to has names of its own.
        named = PurePosixPath(_last_step(opened.asked) or opened.filename)
        found = Recording(media_url=opened.asked, title=named.stem)
        return FetchedLink(kind=opened.kind, key=opened.key, found=found)
    if opened.kind == "feed":
        return podcast.open_feed(opened.answer.body, url=opened.url, asked=opened.asked)
    if opened.kind == "webpage":
        return _page(opened)
    return file_of(opened)


def _page(opened: OpenedLink) -> FetchedLink:
    answer = opened.answer
    page = webpage.parse_page(answer.body, url=answer.url, charset=answer.charset)
    if episode := podcast.open_page(page, url=answer.url):
        return episode
    return FetchedLink(kind="webpage", key=opened.key, found=webpage.readable(page))


def file_of(opened: OpenedLink) -> FetchedLink:
    """The text of a document that a link served."""
    body = _in_utf8(opened) if opened.kind in ("text", "markdown") else opened.answer.body
    with tempfile.NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        found = files.read_file(
            Path(file.name), media_type=opened.media_type, filename=opened.filename
        )
    title = found.title or PurePosixPath(opened.filename).stem
    return FetchedLink(
        kind=opened.kind,
        key=opened.key,
        found=replace(found, title=title),
    )


def _in_utf8(opened: OpenedLink) -> bytes:
    """The text in the encoding that files have unless they say otherwise."""
    body, charset = opened.answer.body, opened.answer.charset
    try:
        return body.decode(charset).encode() if charset else body
    except (LookupError, ValueError):
        return body
