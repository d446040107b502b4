"""What one address of a site answers: where it leads, that nothing is new, or what it says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from knowledge.crawling.frontier import Address, address_of
from knowledge.crawling.site import MOST_HOPS, Site, redirect_of
from knowledge.crawling.sitemaps import links_in_markdown
from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.ingest.contents import checked_text
from knowledge.models import SourcePage
from knowledge.sources import links, webpage
from knowledge.sources.extracted import Extracted

_TAKEN = ("webpage", "markdown", "text", "pdf", "office")
_NOT_MODIFIED = 304
_FOR_GOOD = (301, 308)
_AGENT = re.compile(r"^\s*([\w-]+)\s*:(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The address leads to another one: None when that is of another site."""

    to: Address | None
    url: str
    is_lasting: bool
    """Whether it is said to be for good; what only sends to a login is not."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """It says what it said before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a page says, and where it leads."""

    url: str
    kind: str
    extracted: Extracted | None
    """None when there is nothing to keep; `failure` says why."""
    failure: IngestFailed | None = None
    links: tuple[str, ...] = ()
    canonical: Address | None = None
    """The page that it says it is another address of."""
    is_noindex: bool = False
    etag: str = ""
    last_modified: str = ""


def ask(site: Site, page: SourcePage, *, conditionally: bool) -> Moved | Unchanged | Read:
    """Ask for a page; redirects to another spelling of its own address are followed."""
    url, headers = page.url, {"Accept": links.ACCEPT, **(_known(page) if conditionally else {})}
    for _ in range(MOST_HOPS):
        with site.ask(url, headers) as (answer, pieces):
            if answer.status == _NOT_MODIFIED and conditionally:
                return Unchanged()
            target = redirect_of(answer)
            if target is None:
                opened = _taken(links.opened_as(url, answer, pieces))
                break
        is_lasting = answer.status in _FOR_GOOD
        moved = Moved(to=address_of(site, target.url), url=target.url, is_lasting=is_lasting)
        if moved.to is None or moved.to.key != page.key:
            return moved
        url = moved.to.url
    else:
        raise IngestFailed("It redirects over and over.", reason="too_many_redirects")
    return _read(site, page, opened)


def _known(page: SourcePage) -> dict[str, str]:
    headers = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
    return {name: value for name, value in headers.items() if value}


def _taken(opened: links.Opened) -> links.Opened:
    if opened.kind not in _TAKEN:
        raise UnsupportedMedia(f"Of a site, {opened.kind} is not kept.", media_type=opened.kind)
    return opened


def _read(site: Site, page: SourcePage, opened: links.Opened) -> Read:
    told = _page(site, page, opened) if opened.kind == "webpage" else _file(opened)
    headers = opened.answer.headers
    said = _said_to_us(headers)
    return replace(
        told,
        links=() if {"nofollow", "none"} & said else told.links,
        is_noindex=told.is_noindex or bool({"noindex", "none"} & said),
        etag=_sendable(headers.get("etag", ""), 500),
        last_modified=_sendable(headers.get("last-modified", ""), 100),
    )


def _sendable(value: str, longest: int) -> str:
    """A header that can be sent back as it came; else none."""
    return value if len(value) <= longest and value.isascii() and value.isprintable() else ""


def _page(site: Site, page: SourcePage, opened: links.Opened) -> Read:
    answer = opened.answer
    seen = webpage.look_at(answer.body, url=answer.url, charset=answer.charset)
    claimed = address_of(site, seen.canonical) if seen.canonical else None
    extracted, failure = None, None
    try:
        extracted = webpage.readable(seen)
        extracted = replace(extracted, text=checked_text(extracted))
    except IngestFailed as error:
        failure = error
    return Read(
        url=answer.url,
        kind="webpage",
        extracted=extracted,
        failure=failure,
        links=() if {"nofollow", "none"} & set(seen.robots) else seen.links,
        canonical=claimed if claimed and claimed.key != page.key else None,
        is_noindex=bool({"noindex", "none"} & set(seen.robots)),
    )


def _file(opened: links.Opened) -> Read:
    found = links.file_of(opened).found
    if not isinstance(found, Extracted):
        raise UnsupportedMedia("Of a site, recordings are not kept.", media_type=opened.media_type)
    found = replace(found, text=checked_text(found))
    is_markdown = opened.kind == "markdown"
    led = links_in_markdown(found.text, opened.url) if is_markdown else []
    return Read(url=opened.url, kind=opened.kind, extracted=found, links=tuple(led))


def _said_to_us(headers: Mapping[str, str]) -> set[str]:
    """The words of X-Robots-Tag for everybody; those for a robot of another name are not ours."""
    words: set[str] = set()
    is_ours = True
    for word in headers.get("x-robots-tag", "").lower().split(","):
        if named := _AGENT.match(word):
            is_ours = named[1] == "quarry" or named[1].startswith("unavailable")
            word = named[2]
        if is_ours:
            words.add(word.strip())
    return words
