"""Word documents: headings, lists, tables and notes, as Markdown."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from knowledge.sources.extracted import Extracted
from knowledge.sources.parsers.archive import Archive, attribute, child, local
from knowledge.sources.parsers.draft import Draft, table
from knowledge.sources.parsers.ooxml import facts

_HEADING = re.compile(r"heading (\d)")
SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
REPEATED = ("Fallback", "moveFrom", "pPr", "rPr")
NOTES = ("footnotes", "endnotes")


def read(path: Path, filename: str) -> Extracted:
    archive = Archive(path)
    main = archive.main_part()
    related = dict(archive.relations(main).values())
    document = _Document(archive, related)
    draft = Draft()
    items: list[str] = []
    for block in document.blocks(archive.children(main, of="body")):
        if block.lstrip().startswith(("- ", "1. ")):
            items.append(block)
            continue
        draft.add("\n".join(items))
        items = []
        draft.add(block)
    draft.add("\n".join(items))
    for kind in NOTES:
        if kind in related:
            for note in archive.children(related[kind], of=kind):
                draft.add(run_text(note))
    return draft.finish(**facts(archive))


class _Document:
    """Knows which styles are headings and which lists are numbered."""

    def __init__(self, archive: Archive, related: dict[str, str]) -> None:
        styles = archive.tree(related.get("styles", ""))
        self._levels = _heading_levels(styles)
        self._listed = {
            attribute(style, "styleId"): numbering
            for style in styles
            if (numbering := child(style, "pPr", "numPr")) is not None
        }
        self._ordered = _ordered_lists(archive.tree(related.get("numbering", "")))

    def blocks(self, elements: Iterator[Element]) -> Iterator[str]:
        for element in elements:
            if local(element) == "p":
                yield self._paragraph(element)
            elif local(element) == "tbl":
                yield table(list(_rows(element)))
            elif local(element) == "sdt" and (content := child(element, "sdtContent")) is not None:
                yield from self.blocks(iter(content))

    def _paragraph(self, element: Element) -> str:
        text = run_text(element).strip()
        style = child(element, "pPr")
        if not text or style is None:
            return text
        if level := self._level(style):
            return f"{'#' * level} {' '.join(text.split())}"
        if (numbering := self._numbering(style)) is not None:
            depth = _number(attribute(child(numbering, "ilvl"), "val"), most=8)
            which = attribute(child(numbering, "numId"), "val")
            mark = "1." if (which, depth) in self._ordered else "-"
            return f"{'   ' * depth}{mark} {' '.join(text.split())}"
        return text

    def _numbering(self, style: Element) -> Element | None:
        """The paragraph's own list, or that of its style."""
        own = child(style, "numPr")
        if own is None:
            return self._listed.get(attribute(child(style, "pStyle"), "val"))
        # The list 0 takes a paragraph out of the list of its style.
        return None if attribute(child(own, "numId"), "val") == "0" else own

    def _level(self, style: Element) -> int:
        if outline := attribute(child(style, "outlineLvl"), "val"):
            return _outline_level(outline)
        return self._levels.get(attribute(child(style, "pStyle"), "val"), 0)


def run_text(element: Element) -> str:
    """The words within, with tabs and line breaks, and without what a fallback would repeat."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name in REPEATED:
        return ""
    text = SIGNS.get(name, "") + "".join(run_text(inner) for inner in element)
    return f"{text}\n" if name == "p" else text


def _rows(element: Element) -> Iterator[list[str]]:
    for row in element:
        if local(row) == "tr":
            yield [run_text(cell) for cell in row if local(cell) == "tc"]


def _heading_levels(styles: Element) -> dict[str, int]:
    levels = {}
    for style in styles:
        name = attribute(child(style, "name"), "val").lower()
        outline = attribute(child(style, "pPr", "outlineLvl"), "val")
        if found := _HEADING.fullmatch(name):
            level = min(int(found[1]), 6)
        else:
            level = 1 if name == "title" else _outline_level(outline) if outline else 0
        levels[attribute(style, "styleId")] = level
    return levels


def _ordered_lists(numbering: Element) -> set[tuple[str, int]]:
    """The list and depth of every numbered item style; all others are bullets."""
    ordered: dict[str, set[int]] = {}
    found = set()
    for element in numbering:
        if local(element) == "abstractNum":
            ordered[attribute(element, "abstractNumId")] = {
                _number(attribute(level, "ilvl"), most=8)
                for level in element
                if local(level) == "lvl"
                and attribute(child(level, "numFmt"), "val") not in ("bullet", "none", "")
            }
        elif local(element) == "num":
            depths = ordered.get(attribute(child(element, "abstractNumId"), "val"), set())
            found |= {(attribute(element, "numId"), depth) for depth in depths}
    return found


def _outline_level(value: str) -> int:
    """Word counts from 0, and 9 is body text."""
    level = _number(value, most=9) + 1
    return level if level <= 6 else 0


def _number(value: str, *, most: int) -> int:
    return min(int(value), most) if value.isdecimal() and len(value) < 4 else 0
