"""Workbooks: each sheet a heading and a table; dates read as dates."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from xml.etree.ElementTree import Element

from knowledge.sources.extracted import MAX_STORED_TEXT, Extracted
from knowledge.sources.parsers.archive import Archive, attribute, child, inside, local
from knowledge.sources.parsers.draft import Draft, table, too_long
from knowledge.sources.parsers.ooxml import facts

LAST_COLUMN = 16_384
DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_COLUMN = re.compile(r"[A-Z]{1,3}")


def read(path: Path, filename: str) -> Extracted:
    archive = Archive(path)
    main = archive.main_part()
    cells = _Cells(archive, main)
    draft = Draft()
    for name, member in _sheets(archive, main):
        if rows := table(_rows(archive, member, cells)):
            draft.add(f"## {name}")
            draft.add(rows)
    return draft.finish(**facts(archive), headed=False)


def _sheets(archive: Archive, main: str) -> Iterator[tuple[str, str]]:
    related = archive.relations(main)
    for sheet in inside(child(archive.tree(main), "sheets")):
        ids = [value for key, value in sheet.items() if key.endswith("}id")]
        kind, member = related.get(ids[0] if ids else "", ("", ""))
        if kind == "worksheet" and member in archive:
            yield attribute(sheet, "name"), member


def _rows(archive: Archive, member: str, cells: "_Cells") -> list[list[str]]:
    rows = []
    length = 0
    for element in archive.children(member, of="sheetData"):
        row = _row(element, cells)
        length += len(row) + sum(map(len, row))
        if length > MAX_STORED_TEXT:
            raise too_long()
        if any(row):
            rows.append(row)
    return rows


def _row(element: Element, cells: "_Cells") -> list[str]:
    row: list[str] = []
    for cell in element:
        column = _column(attribute(cell, "r"), default=len(row))
        row += [""] * (column - len(row))
        row[column : column + 1] = [cells.text(cell)]
    return row


def _column(reference: str, *, default: int) -> int:
    letters = _COLUMN.match(reference)
    if not letters:
        return default
    number = 0
    for letter in letters[0]:
        number = number * 26 + ord(letter) - 64
    return min(number, LAST_COLUMN) - 1


class _Cells:
    """Knows the strings that cells share and which formats are dates."""

    def __init__(self, archive: Archive, main: str) -> None:
        related = dict(archive.relations(main).values())
        strings = related.get("sharedStrings", "")
        self._shared = (
            [_words(item) for item in archive.children(strings, of="sst")]
            if strings in archive
            else []
        )
        self._is_date = _date_styles(archive.tree(related.get("styles", "")))
        properties = child(archive.tree(main), "workbookPr")
        in_1904 = attribute(properties, "date1904") in ("1", "true")
        self._epoch = datetime(1904, 1, 1) if in_1904 else datetime(1899, 12, 30)

    def text(self, cell: Element) -> str:
        kind = attribute(cell, "t")
        if kind == "inlineStr":
            return _words(cell)
        found = child(cell, "v")
        value = "" if found is None else found.text or ""
        if kind == "s":
            return self._string(value)
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind in ("", "n") and attribute(cell, "s") in self._is_date:
            return self._date(value)
        return value

    def _string(self, value: str) -> str:
        place = int(value) if value.isdecimal() and len(value) < 10 else len(self._shared)
        return self._shared[place] if place < len(self._shared) else ""

    def _date(self, value: str) -> str:
        try:
            when = self._epoch + timedelta(seconds=round(float(value) * 86_400))
        except (ValueError, OverflowError):
            return value
        return when.strftime("%Y-%m-%d") if when.time() == when.min.time() else when.isoformat(" ")


def _words(element: Element) -> str:
    """Runs of a string; how a word is pronounced (rPh) is not part of it."""
    if local(element) == "t":
        return element.text or ""
    return "".join(_words(inner) for inner in element if local(inner) != "rPh")


def _date_styles(styles: Element) -> set[str]:
    formats = {
        attribute(known, "numFmtId"): attribute(known, "formatCode")
        for known in inside(child(styles, "numFmts"))
    }
    return {
        str(number)
        for number, style in enumerate(inside(child(styles, "cellXfs")))
        if _is_date(attribute(style, "numFmtId"), formats)
    }


def _is_date(format_id: str, formats: dict[str, str]) -> bool:
    if format_id in formats:
        return any(sign in _QUOTED.sub("", formats[format_id]).lower() for sign in "ymdh")
    return format_id.isdecimal() and int(format_id[:4]) in DATES
