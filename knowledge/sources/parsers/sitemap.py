"""A sitemap: the pages that a site names, or the sitemaps that an index names."""

import base64
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from knowledge.sources.extracted import MAX_PAGE_URL

MOST = 50_000


def read(request: dict[str, Any]) -> dict[str, Any]:
    """The addresses in their order; of what is malformed, those before the fault."""
    found: dict[str, list[str]] = {"url": [], "sitemap": []}
    inside = ""
    try:
        for event, node in iterparse(BytesIO(base64.b64decode(request["body"])), ("start", "end")):
            name = _name(node.tag)
            if event == "start":
                inside = name if name in found else inside
                continue
            if name == "loc" and inside and sum(map(len, found.values())) < MOST:
                found[inside] += _address(node.text)
            if name in found:
                inside = ""
                node.clear()
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        pass
    return {"pages": found["url"], "sitemaps": found["sitemap"]}


def _name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _address(text: str | None) -> list[str]:
    address = (text or "").strip()
    return [address] if 0 < len(address) <= MAX_PAGE_URL else []
