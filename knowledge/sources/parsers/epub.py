"""E-books: the chapters in reading order, as Markdown."""

import posixpath
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from lxml import html

from knowledge.errors import IngestFailed
from knowledge.sources.extracted import Extracted
from knowledge.sources.parsers.archive import Archive, attribute, child, inside, local
from knowledge.sources.parsers.draft import Draft, broken_file, table
from knowledge.sources.parsers.ooxml import Facts, moment

CONTAINER = "META-INF/container.xml"
SILENT = ("script", "style", "head", "svg", "nav")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LEAVES = ("p", "dt", "dd", "figcaption", "td", "th")


def read(path: Path, filename: str) -> Extracted:
    archive = Archive(path)
    if "META-INF/encryption.xml" in archive and "META-INF/rights.xml" in archive:
        raise IngestFailed(
            "The book is protected against copying; send one without protection.",
            reason="encrypted",
        )
    package = _package_name(archive)
    root = archive.tree(package)
    draft = Draft()
    for chapter in _chapters(root, posixpath.dirname(package)):
        if chapter in archive:
            for block in _blocks(html.fromstring(archive.read(chapter).strip() or b"<p></p>")):
                draft.add(block)
    return draft.finish(**_facts(root))


def _package_name(archive: Archive) -> str:
    for listed in inside(child(archive.tree(CONTAINER), "rootfiles")):
        if (name := attribute(listed, "full-path")) in archive:
            return name
    raise broken_file("it has no book inside")


def _chapters(root: Element, folder: str) -> Iterator[str]:
    hrefs = {
        attribute(item, "id"): attribute(item, "href") for item in inside(child(root, "manifest"))
    }
    for reference in inside(child(root, "spine")):
        href = unquote(hrefs.get(attribute(reference, "idref"), "")).partition("#")[0]
        yield posixpath.normpath(posixpath.join("/", folder, href)).lstrip("/")


def _blocks(element: html.HtmlElement) -> Iterator[str]:
    """Headings, items, code and tables as such; any other run of words is a paragraph."""
    name = element.tag if isinstance(element.tag, str) else "script"
    if name in SILENT:
        return
    if name in HEADINGS:
        yield f"{'#' * int(name[1])} {_line(element)}" if _line(element) else ""
    elif name in ("ul", "ol"):
        mark = "-" if name == "ul" else "1."
        yield "\n".join(f"{mark} {_line(item)}" for item in element.iterchildren("li"))
    elif name == "pre":
        yield f"```\n{element.text_content()}\n```"
    elif name == "table":
        yield table([[c.text_content() for c in row] for row in element.iter("tr")])
    elif name in LEAVES:
        yield _line(element)
    else:
        yield " ".join((element.text or "").split())
        for inner in element:
            yield from _blocks(inner)
            yield " ".join((inner.tail or "").split())


def _line(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def _facts(root: Element) -> Facts:
    told: dict[str, str] = {}
    for field in inside(child(root, "metadata")):
        told.setdefault(local(field), field.text or "")
    return Facts(
        title=told.get("title", ""),
        author=told.get("creator", ""),
        published_at=moment(told.get("date", "")),
    )
