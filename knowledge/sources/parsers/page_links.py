"""Where a page leads, and what it asks of those who follow."""

from typing import Any
from urllib.parse import urljoin

from knowledge.sources.extracted import MAX_PAGE_URL

MOST = 2_000


def read(document: Any, url: str) -> dict[str, Any]:
    """Its links, without those that it asks nobody to follow, and its words for robots."""
    base = next((str(href).strip() for href in document.xpath("//base/@href")), "")
    return {
        "links": _links(document, _join_url(url, base) or url),
        "robots": _robots_words(document),
    }


def _links(document: Any, base: str) -> list[str]:
    found: dict[str, None] = {}
    for anchor in document.xpath("//a[@href] | //area[@href]"):
        if len(found) >= MOST:
            break
        if "nofollow" in anchor.get("rel", "").lower().split():
            continue
        address = _join_url(base, anchor.get("href").strip()).partition("#")[0]
        if address.startswith(("http://", "https://")) and len(address) <= MAX_PAGE_URL:
            found[address] = None
    return list(found)


def _join_url(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _robots_words(document: Any) -> list[str]:
    words = (
        meta.get("content", "")
        for meta in document.xpath("//meta[@name][@content]")
        if meta.get("name").strip().lower() in ("robots", "quarry")
    )
    return sorted({word.strip().lower() for said in words for word in said.split(",")} - {""})
