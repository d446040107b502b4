"""Lines that OCR found on a page, put into the order in which a person would read them."""

from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

WIDE = 0.2
"""A column's lines take this share of the page: the cells of a table take less, and stay rows."""
PARAGRAPH = 0.9
"""A gap of this many line heights begins a paragraph."""


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        return self.bottom - self.top


def in_reading_order(boxes: list[Box]) -> str:
    """The text of the page: block after block, columns from left to right, row after row."""
    boxes = [box for box in boxes if box.text.strip()]
    if not boxes:
        return ""
    width = max(box.right for box in boxes) - min(box.left for box in boxes)
    height = median(box.height for box in boxes)
    return "\n\n".join(_lines(block) for block in _blocks(boxes, width, height * PARAGRAPH))


def _blocks(boxes: list[Box], width: float, gap: float) -> Iterator[list[Box]]:
    for band in _split(boxes, gap, across=False):
        columns = _split(band, gap, across=True)
        if len(columns) > 1 and all(_is_wide(column, width) for column in columns):
            for column in columns:
                yield from _blocks(column, width, gap)
        else:
            yield band


def _split(boxes: list[Box], gap: float, *, across: bool) -> list[list[Box]]:
    """Groups with at least `gap` of blank between them, along one direction."""
    groups: list[list[Box]] = []
    end = float("-inf")
    for box in sorted(boxes, key=lambda box: box.left if across else box.top):
        start, stop = (box.left, box.right) if across else (box.top, box.bottom)
        if start > end + gap:
            groups.append([])
        groups[-1].append(box)
        end = max(end, stop)
    return groups


def _is_wide(column: list[Box], width: float) -> bool:
    return len(column) > 1 and median(b.right - b.left for b in column) >= WIDE * width


def _lines(boxes: list[Box]) -> str:
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: (box.top + box.bottom) / 2):
        if rows and _on_one_row(rows[-1][-1], box):
            rows[-1].append(box)
        else:
            rows.append([box])
    return "\n".join(" ".join(box.text.strip() for box in sorted(row)) for row in rows)


def _on_one_row(above: Box, box: Box) -> bool:
    shared = min(above.bottom, box.bottom) - max(above.top, box.top)
    return shared > 0.5 * min(above.height, box.height)
