"""Open documents: texts, sheets and slides of LibreOffice and its kin, as Markdown."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from knowledge.sources.extracted import Extracted
from knowledge.sources.parsers.archive import Archive, attribute, inside, local
from knowledge.sources.parsers.draft import Draft, table
from knowledge.sources.parsers.ooxml import Facts, moment

SIGNS = {"tab": "\t", "line-break": "\n", "s": " "}
REPEATED = ("annotation", "tracked-changes", "forms", "note-citation", "sequence-decls")
MOST_REPEATS = 1_000


def read(path: Path, filename: str) -> Extracted:
    archive = Archive(path)
    draft = Draft()
    slide = 0
    is_sheets = False
    for document in archive.children("content.xml", of="body"):
        is_sheets = local(document) == "spreadsheet"
        for element in document:
            if local(element) == "page":
                slide += 1
                draft.add(f"## Slide {slide}", page=slide)
            elif is_sheets and local(element) == "table":
                draft.add(f"## {attribute(element, 'name')}")
            for block in _blocks(element):
                draft.add(block, page=slide or None)
    return draft.finish(**_facts(archive), headed=not (slide or is_sheets))


def _blocks(element: Element) -> Iterator[str]:
    name = local(element)
    if name == "h":
        level = attribute(element, "outline-level")
        yield f"{'#' * (int(level) if level in set('123456') else 1)} {_line(element)}"
    elif name == "p":
        yield _words(element)
    elif name == "list":
        yield "\n".join(_items(element, 0))
    elif name == "table":
        yield table(list(_rows(element)))
    elif name == "notes":
        yield _note(element)
    elif name not in REPEATED:
        for inner in element:
            yield from _blocks(inner)


def _items(element: Element, depth: int) -> Iterator[str]:
    for item in element:
        for inner in item:
            if local(inner) == "list":
                yield from _items(inner, depth + 1)
            elif line := _line(inner):
                yield f"{'   ' * depth}- {line}"


def _note(element: Element) -> str:
    said = " ".join(block for inner in element for block in _blocks(inner)).strip()
    return f"Notes: {said}" if said else ""


def _rows(element: Element) -> Iterator[list[str]]:
    """A row that is repeated is told once: such rows are filling, not facts."""
    for row in element:
        if local(row) == "table-row":
            yield _cells(row)
        elif local(row) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(row)


def _cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in inside(row):
        repeats = attribute(cell, "number-columns-repeated")
        times = int(repeats) if repeats.isdecimal() and len(repeats) < 8 else 1
        cells += [_words(cell)] * min(times, MOST_REPEATS)
    return cells


def _line(element: Element) -> str:
    return " ".join(_words(element).split())


def _words(element: Element) -> str:
    name = local(element)
    if name in REPEATED:
        return ""
    inner = "".join(_words(part) + (part.tail or "") for part in element)
    text = SIGNS.get(name, "") + (element.text or "") + inner
    return f"{text}\n" if name in ("p", "h") else text


def _facts(archive: Archive) -> Facts:
    meta = archive.children("meta.xml", of="meta") if "meta.xml" in archive else ()
    told = {local(field): field.text or "" for field in meta}
    return Facts(
        title=told.get("title", ""),
        author=told.get("initial-creator") or told.get("creator", ""),
        published_at=moment(told.get("creation-date", "")),
    )
