"""OPML: the feeds that a reader follows, in their categories."""

from typing import Any

import lxml.etree

from knowledge.errors import IngestFailed
from knowledge.imports.formats.rows import Export, Row

MOST_NESTED = 20


def read_opml(body: bytes) -> Export:
    """Each outline with an address of a feed, or of a page."""
    # Entities are never expanded, nothing is fetched, and what is malformed is read in part.
    parser = lxml.etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True
    )
    try:
        root = lxml.etree.fromstring(body.lstrip(), parser)
    except (lxml.etree.LxmlError, ValueError):
        root = None
    if root is None or lxml.etree.QName(root).localname.lower() != "opml":
        raise IngestFailed(
            "This OPML file cannot be read; export it again.", reason="not_extractable"
        )
    export = Export("opml")
    _read_outlines(root.find("body"), (), export)
    return export


def _read_outlines(node: Any, folders: tuple[str, ...], export: Export) -> None:
    for child in node if node is not None else ():
        if child.tag != "outline":
            continue
        told = {name.lower(): value.strip() for name, value in child.attrib.items()}
        title = " ".join((told.get("title") or told.get("text") or "").split())
        if feed := told.get("xmlurl"):
            if feed.lower().startswith(("http://", "https://")):
                export.add(Row(kind="feed", url=feed, title=title, folder=" / ".join(folders)))
            else:
                export.leave_out(title or feed, "its address cannot be opened")
        elif link := told.get("url") or told.get("htmlurl"):
            export.add_link(link, title=title, folder=" / ".join(folders))
        elif len(child) and len(folders) < MOST_NESTED:
            _read_outlines(child, (*folders, title) if title else folders, export)
        else:
            export.leave_out(title or "An outline", "it names no feed and no page")
