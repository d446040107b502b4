"""What a site itself says its pages are: sitemaps, their indexes, and llms.txt."""

import base64
import logging
import re
from collections import deque
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from knowledge.crawling.robots import Robots
from knowledge.crawling.site import Site
from knowledge.errors import IngestFailed
from knowledge.sources.child import run_in_child
from knowledge.sources.inflating import Inflater

logger = logging.getLogger(__name__)

MOST_SITEMAPS = 50
MOST_TOLD = 50_000
MAX_BYTES = 20_000_000
"""Of one sitemap, as it comes and unpacked."""
LLMS_BYTES = 1_000_000
SECONDS = 20
MEGABYTES = 1_000

_LINK = re.compile(r"\]\(\s*<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)>?|<(https?://[^\s<>]+)>")


def pages_told(site: Site, robots: Robots) -> Iterator[str]:
    """The addresses in every sitemap and llms.txt; what cannot be read is passed over."""
    waiting = deque(robots.sitemaps or [site.address("/sitemap.xml")])
    seen: set[str] = set()
    while waiting and len(seen) < MOST_SITEMAPS:
        url = waiting.popleft()
        if url not in seen and site.has(url) and (url in robots.sitemaps or robots.allows(url)):
            seen.add(url)
            told = _sitemap(site, url)
            yield from told["pages"]
            waiting.extend(told["sitemaps"])
    for url in _llms_addresses(site):
        if robots.allows(url):
            yield from _llms(site, url)


def links_in_markdown(text: str, url: str) -> list[str]:
    """The addresses that a Markdown text links to."""
    found: dict[str, None] = {}
    for match in _LINK.finditer(text):
        try:
            address = urljoin(url, match[1] or match[2]).partition("#")[0]
        except ValueError:
            continue
        if address.startswith(("http://", "https://")):
            found[address] = None
    return list(found)


def _sitemap(site: Site, url: str) -> dict[str, list[str]]:
    try:
        body = _gunzip(site.fetch(url, max_bytes=MAX_BYTES).body)
        told = run_in_child(
            "knowledge.sources.parsers.sitemap:read",
            {"body": base64.b64encode(body).decode()},
            seconds=SECONDS,
            megabytes=MEGABYTES,
        )
    except IngestFailed as error:
        logger.info("The sitemap %s was not read: %s", url, error.message)
        return {"pages": [], "sitemaps": []}
    return {"pages": told["pages"], "sitemaps": told["sitemaps"]}


def _gunzip(body: bytes) -> bytes:
    """A sitemap that is a gzip file; one that came so by its encoding is unpacked already."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    inflater = Inflater("gzip")
    whole = bytearray()
    for piece in inflater.inflate(body):
        whole += piece
        if len(whole) > MAX_BYTES:
            raise IngestFailed("It inflates too much.", reason="inflates_too_much")
    inflater.finish()
    return bytes(whole)


def _llms_addresses(site: Site) -> list[str]:
    """At the root and, where the documentation begins further down, beside its start."""
    beside = urljoin(urlsplit(site.start_url).path or "/", "llms.txt")
    return list(dict.fromkeys([site.address("/llms.txt"), site.address(beside)]))


def _llms(site: Site, url: str) -> list[str]:
    try:
        answer = site.fetch(url, max_bytes=LLMS_BYTES)
    except IngestFailed as error:
        logger.info("%s was not read: %s", url, error.message)
        return []
    text = answer.body.decode(errors="replace")
    # Many a site answers any address with a page of its own.
    is_page = "html" in answer.media_type or text.lstrip()[:1] == "<"
    return [] if is_page else links_in_markdown(text, answer.url)
