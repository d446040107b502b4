"""Slides: each a page with its title as heading, its lists and tables, and the speaker's notes."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from knowledge.sources.extracted import Extracted
from knowledge.sources.parsers.archive import Archive, attribute, child, inside, local
from knowledge.sources.parsers.draft import Draft, table
from knowledge.sources.parsers.ooxml import facts

TITLES = ("title", "ctrTitle")
FURNITURE = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read(path: Path, filename: str) -> Extracted:
    archive = Archive(path)
    draft = Draft()
    known = facts(archive)
    for number, name in enumerate(_slides(archive), 1):
        slide = archive.tree(name)
        title = _title(slide)
        known["title"] = known["title"] or title
        draft.add(f"## Slide {number}: {title}" if title else f"## Slide {number}", page=number)
        for block in _blocks(slide):
            draft.add(block, page=number)
        draft.add(_notes(archive, name), page=number)
    return draft.finish(**known, headed=False)


def _slides(archive: Archive) -> Iterator[str]:
    """The names of the slides' members, in the order they are shown."""
    main = archive.main_part()
    related = archive.relations(main)
    for slide in inside(child(archive.tree(main), "sldIdLst")):
        # A slide has two attributes called id; the one that points is the relation's.
        ids = [value for key, value in slide.items() if key.endswith("}id")]
        kind, name = related.get(ids[0] if ids else "", ("", ""))
        if kind == "slide" and name in archive:
            yield name


def _title(slide: Element) -> str:
    titles = (_lines(shape) for shape in _shapes(slide) if _placeholder(shape) in TITLES)
    return " ".join(" ".join(titles).split())


def _blocks(slide: Element) -> Iterator[str]:
    for shape in _shapes(slide):
        if local(shape) == "graphicFrame":
            rows = (row for row in shape.iter() if local(row) == "tr")
            yield table([[_lines(cell) for cell in row if local(cell) == "tc"] for row in rows])
        elif _placeholder(shape) in (None, "subTitle"):
            yield _lines(shape)
        elif _placeholder(shape) not in (*TITLES, *FURNITURE):
            yield "\n".join(
                f"{'   ' * level}- {' '.join(text.split())}"
                for level, paragraph in _paragraphs(shape)
                if (text := _paragraph(paragraph)).strip()
            )


def _notes(archive: Archive, name: str) -> str:
    for kind, notes in archive.relations(name).values():
        if kind == "notesSlide" and notes in archive:
            bodies = [s for s in _shapes(archive.tree(notes)) if _placeholder(s) == "body"]
            said = "\n".join(_lines(body) for body in bodies).strip()
            return f"Notes: {said}" if said else ""
    return ""


def _shapes(slide: Element) -> Iterator[Element]:
    return (shape for shape in slide.iter() if local(shape) in ("sp", "graphicFrame"))


def _placeholder(shape: Element) -> str | None:
    """What the layout calls this place; None is a box that stands for itself."""
    place = child(shape, "nvSpPr", "nvPr", "ph")
    return None if place is None else attribute(place, "type") or "body"


def _paragraphs(shape: Element) -> Iterator[tuple[int, Element]]:
    for paragraph in inside(child(shape, "txBody")):
        if local(paragraph) == "p":
            level = attribute(child(paragraph, "pPr"), "lvl")
            yield int(level) if level in set("12345678") else 0, paragraph


def _paragraph(element: Element) -> str:
    signs = ("\n" if local(e) == "br" else e.text or "" for e in element.iter() if _is_text(e))
    return "".join(signs)


def _is_text(element: Element) -> bool:
    return local(element) in ("t", "br")


def _lines(shape: Element) -> str:
    return "\n".join(_paragraph(paragraph) for _, paragraph in _paragraphs(shape))
