"""A feed, RSS or Atom: its entries, and the recordings and transcripts of episodes."""

import base64
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from urllib.parse import urljoin

import lxml.etree

from knowledge.errors import IngestFailed
from knowledge.sources.transcripts import parse_transcript

MOST_EPISODES = 5_000
_RECORDINGS = ("audio/", "video/")
_MEDIA = ("audio", "video")
_ATOM = "http://www.w3.org/2005/Atom"
_XML = "{http://www.w3.org/XML/1998/namespace}"


def read(request: dict[str, Any]) -> dict[str, Any]:
    """The feed and its episodes, as they stand in it; entries without a recording are left out."""
    told = read_entries(request)
    entries = told.pop("entries")
    return {**told, "episodes": [entry for entry in entries if entry["media_url"]]}


def read_entries(request: dict[str, Any]) -> dict[str, Any]:
    """The feed and all its entries, with or without a recording."""
    root = _root(base64.b64decode(request["body"]))
    channel = next((child for child in root if _name(child) == "channel"), root)
    entries = [node for node in root.iter() if _name(node) in ("item", "atom:entry")]
    link = _text(channel, "link") or _atom_link(channel, "alternate")
    return {
        "title": _text(channel, "title", "atom:title"),
        "link": _join_url(request["url"], link) if link else "",
        "author": _text(channel, "itunes:author") or _person(channel),
        "language": _text(channel, "language") or channel.get(f"{_XML}lang", ""),
        "entries": [_episode(entry, request["url"]) for entry in entries[:MOST_EPISODES]],
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
    if "search.yahoo.com/mrss" in space:
        return f"media:{local}"
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
    recording, media_url = _recording(entry, url)
    link = _text(entry, "link") or _atom_link(entry, "alternate")
    return {
        "title": _text(entry, "title", "atom:title", "itunes:title", "media:title"),
        "author": _text(entry, "itunes:author") or _person(entry),
        "guid": _text(entry, "guid", "atom:id") or media_url,
        "number": _text(entry, "itunes:episode"),
        "link": _join_url(url, link) if link else "",
        "media_url": media_url,
        "duration": _text(entry, "itunes:duration") or _media_duration(recording),
        "published": _text(entry, "pubDate", "atom:published", "atom:updated", "other:date"),
        "transcripts": [
            _transcript(child, url) for child in entry if _name(child) == "podcast:transcript"
        ],
    }


def _recording(entry: Any, url: str) -> tuple[Any, str]:
    """The element that names the recording, and its address: sound before pictures.

    An enclosure that names no type is taken at its word, and comes before media:content.
    """
    found = [node for node in _enclosures(entry) if _address(node)]
    found.sort(key=lambda node: (_is_video(node), _name(node) == "media:content"))
    return (found[0], _join_url(url, _address(found[0]))) if found else (None, "")


def _enclosures(entry: Any) -> Iterator[Any]:
    for node in entry:
        name, kind = _name(node), node.get("type", "").lower()
        is_recording = kind.startswith(_RECORDINGS)
        if name == "enclosure" or (name == "atom:link" and node.get("rel") == "enclosure"):
            if is_recording or not kind:
                yield node
        elif name == "media:group":
            yield from _enclosures(node)
        elif name == "media:content" and (is_recording or _medium(node) in _MEDIA):
            yield node


def _media_duration(recording: Any) -> str:
    is_media = recording is not None and _name(recording) == "media:content"
    return str(recording.get("duration", "")) if is_media else ""


def _address(node: Any) -> str:
    return str(node.get("url") or node.get("href") or "").strip()


def _medium(node: Any) -> str:
    return str(node.get("medium", "")).lower()


def _is_video(node: Any) -> bool:
    return node.get("type", "").lower().startswith("video/") or _medium(node) == "video"


def _atom_link(entry: Any, rel: str) -> str:
    links = (child for child in entry if _name(child) == "atom:link")
    return next((link.get("href", "") for link in links if link.get("rel", "alternate") == rel), "")


def _transcript(node: Any, url: str) -> dict[str, str]:
    return {
        "url": _join_url(url, node.get("url", "")),
        "type": node.get("type", ""),
        "language": node.get("language", ""),
    }


def _join_url(url: str, address: str) -> str:
    try:
        return urljoin(url, address.strip())
    except ValueError:
        return ""
