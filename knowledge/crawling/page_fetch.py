"""Requests one page of a site: the result is a redirect, "not modified", or its content."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from knowledge.crawling.frontier import Address, address_of
from knowledge.crawling.site import MOST_HOPS, Site, redirect_of
from knowledge.crawling.sitemaps import links_in_markdown
from knowledge.errors import IngestFailed, UnsupportedMedia
from knowledge.ingest.contents import storable_text
from knowledge.models import SourcePage
from knowledge.sources import http, links, webpage
from knowledge.sources.extracted import Extracted

_TAKEN = ("webpage", "markdown", "text", "pdf", "office")
_NOT_MODIFIED = 304
_FOR_GOOD = (301, 308)
_AGENT = re.compile(r"^\s*([\w-]+)\s*:(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """The address leads to another one: None when that is of another site."""

    to: Address | None
    url: str
    is_lasting: bool
    """Whether the redirect is permanent; one that leads to a login is not."""


@dataclass(frozen=True, slots=True)
class NotModified:
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


def ask(site: Site, page: SourcePage, *, conditionally: bool) -> Redirect | NotModified | Read:
    """Ask for a page; redirects to another spelling of its own address are followed."""
    url, headers = (
        page.url,
        {"Accept": links.ACCEPT, **(_conditional_headers(page) if conditionally else {})},
    )
    for _ in range(MOST_HOPS):
        with site.ask(url, headers) as (answer, pieces):
            if answer.status == _NOT_MODIFIED and conditionally:
                return NotModified()
            target = redirect_of(answer)
            if target is None:
                opened = _require_page(links.open_answer(url, answer, pieces))
                break
        is_lasting = answer.status in _FOR_GOOD
        moved = Redirect(to=address_of(site, target.url), url=target.url, is_lasting=is_lasting)
        if moved.to is None or moved.to.key != page.key:
            return moved
        url = moved.to.url
    else:
        raise IngestFailed("It redirects over and over.", reason="too_many_redirects")
    return _read(site, page, opened)


def _conditional_headers(page: SourcePage) -> dict[str, str]:
    headers = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
    return {name: value for name, value in headers.items() if value}


def _require_page(opened: links.OpenedLink) -> links.OpenedLink:
    if opened.kind not in _TAKEN:
        raise UnsupportedMedia(f"Of a site, {opened.kind} is not kept.", media_type=opened.kind)
    return opened


def _read(site: Site, page: SourcePage, opened: links.OpenedLink) -> Read:
    told = _page(site, page, opened) if opened.kind == "webpage" else _file(opened)
    headers = opened.answer.headers
    said = _robots_words(headers)
    return replace(
        told,
        links=() if {"nofollow", "none"} & said else told.links,
        is_noindex=told.is_noindex or bool({"noindex", "none"} & said),
        etag=http.sendable(headers.get("etag", ""), 500),
        last_modified=http.sendable(headers.get("last-modified", ""), 100),
    )


def _page(site: Site, page: SourcePage, opened: links.OpenedLink) -> Read:
    answer = opened.answer
    seen = webpage.parse_page(answer.body, url=answer.url, charset=answer.charset)
    claimed = address_of(site, seen.canonical) if seen.canonical else None
    extracted, failure = None, None
    try:
        extracted = webpage.readable(seen)
        extracted = replace(extracted, text=storable_text(extracted))
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


def _file(opened: links.OpenedLink) -> Read:
    found = links.file_of(opened).found
    if not isinstance(found, Extracted):
        raise UnsupportedMedia("Of a site, recordings are not kept.", media_type=opened.media_type)
    found = replace(found, text=storable_text(found))
    is_markdown = opened.kind == "markdown"
    led = links_in_markdown(found.text, opened.url) if is_markdown else []
    return Read(url=opened.url, kind=opened.kind, extracted=found, links=tuple(led))


def _robots_words(headers: Mapping[str, str]) -> set[str]:
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
