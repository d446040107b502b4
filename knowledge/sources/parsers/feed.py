"""A podcast's feed, RSS or Atom: its episodes, with their recordings and transcripts."""

import base64
from dataclasses import asdict
from typing import Any
from urllib.parse import urljoin

import lxml.etree

from knowledge.errors import IngestFailed
from knowledge.sources.transcripts import parse_transcript

MOST_EPISODES = 5_000
_RECORDINGS = ("audio/", "video/")
_ATOM = "http://www.w3.org/2005/Atom"
_XML = "{http://www.w3.org/XML/1998/namespace}"


def read(request: dict[str, Any]) -> dict[str, Any]:
    """The feed and its episodes, as they stand in it; entries without a recording are left out."""
    root = _root(base64.b64decode(request["body"]))
    channel = next((child for child in root if _name(child) == "channel"), root)
    entries = [node for node in root.iter() if _name(node) in ("item", "atom:entry")]
    episodes = [_episode(entry, request["url"]) for entry in entries[:MOST_EPISODES]]
    return {
        "title": _text(channel, "title", "atom:title"),
        "author": _text(channel, "itunes:author") or _person(channel),
        "language": _text(channel, "language") or channel.get(f"{_XML}lang", ""),
        "episodes": [episode for episode in episodes if episode["media_url"]],
    }


def read_transcript(request: dict[str, Any]) -> dict[str, Any]:
    """The utterances of a transcript that is itself a page."""
    segments = parse_transcript(request["text"], request["kind"])
    return {"segments": [asdict(segment) for segment in segments]}


def _root(body: bytes) -> Any:
    # Entities are never expanded, nothing is fetched, and what is malformed is read in part.
    parser = lxml.etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = lxml.etree.fromstring(body.lstrip(), parser)
    except (lxml.etree.LxmlError, ValueError):
        root = None
    if root is None or not _name(root).lower().endswith(("rss", "rdf", "feed")):
        raise IngestFailed(
            "This is no feed that can be read; send the address of an episode's own page.",
            reason="not_extractable",
        )
    return root


def _name(node: Any) -> str:
    """The element's name, with the usual prefix whatever prefix the feed uses."""
    if not isinstance(node.tag, str):
        return ""
    if not node.tag.startswith("{"):
        return str(node.tag)
    space, _, local = node.tag[1:].partition("}")
    if space == _ATOM:
        return f"atom:{local}"
    if "itunes" in space.lower():
        return f"itunes:{local}"
    if "podcast" in space.lower():
        return f"podcast:{local}"
    is_core = "purl.org/rss" in space or "netscape.com/rdf" in space or "rdf-syntax" in space
    return local if is_core else f"other:{local}"


def _text(node: Any, *names: str) -> str:
    for name in names:
        for child in node:
            if _name(child) == name and (text := " ".join("".join(child.itertext()).split())):
                return text
    return ""


def _person(node: Any) -> str:
    return next((_text(child, "atom:name") for child in node if _name(child) == "atom:author"), "")


def _episode(entry: Any, url: str) -> dict[str, Any]:
    media_url = _recording(entry, url)
    link = _text(entry, "link") or _atom_link(entry, "alternate")
    return {
        "title": _text(entry, "title", "atom:title", "itunes:title"),
        "author": _text(entry, "itunes:author") or _person(entry),
        "guid": _text(entry, "guid", "atom:id") or media_url,
        "number": _text(entry, "itunes:episode"),
        "link": _joined(url, link) if link else "",
        "media_url": media_url,
        "duration": _text(entry, "itunes:duration"),
        "published": _text(entry, "pubDate", "atom:published", "atom:updated", "other:date"),
        "transcripts": [
            _transcript(child, url) for child in entry if _name(child) == "podcast:transcript"
        ],
    }


def _recording(entry: Any, url: str) -> str:
    """Sound before pictures; an enclosure that names no type is taken at its word."""
    found = [
        (child.get("type", "").lower(), child.get("url") or child.get("href") or "")
        for child in entry
        if _name(child) == "enclosure"
        or (_name(child) == "atom:link" and child.get("rel") == "enclosure")
    ]
    fitting = [
        pair for pair in found if pair[1] and (not pair[0] or pair[0].startswith(_RECORDINGS))
    ]
    fitting.sort(key=lambda pair: pair[0].startswith("video/"))
    return _joined(url, fitting[0][1]) if fitting else ""


def _atom_link(entry: Any, rel: str) -> str:
    links = (child for child in entry if _name(child) == "atom:link")
    return next((link.get("href", "") for link in links if link.get("rel", "alternate") == rel), "")


def _transcript(node: Any, url: str) -> dict[str, str]:
    return {
        "url": _joined(url, node.get("url", "")),
        "type": node.get("type", ""),
        "language": node.get("language", ""),
    }


def _joined(url: str, address: str) -> str:
    try:
        return urljoin(url, address.strip())
    except ValueError:
        return ""
