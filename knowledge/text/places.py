"""From characters of a text to pages and seconds of its source."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Place = Mapping[str, Any]
"""A part as it is kept with its content: start and end, and a page or seconds."""

_KEPT = ("page", "start_sec", "end_sec")


def span_locator(parts: Sequence[Place], start: int, end: int) -> dict[str, Any]:
    """Where a span stands: its characters, its first page or second, and the marks within it.

    What stands between two parts, such as a speaker's name, belongs to the second.
    """
    first = bisect_right(parts, start, key=lambda part: part["end"])
    last = bisect_left(parts, end, key=lambda part: part["start"])
    within = parts[first:last] or parts[first : first + 1] or parts[-1:] or [{}]
    opening = {name: within[0][name] for name in _KEPT if within[0].get(name) is not None}
    locator: dict[str, Any] = {"char_span": [start, end], **opening}
    name = "start_sec" if any(part.get("start_sec") is not None for part in within) else "page"
    marks = [
        [before["end"], part[name]]
        for before, part in pairwise(within)
        if part.get(name) is not None
    ]
    if marks:
        locator["marks"] = marks
        locator.setdefault(name, marks[0][1])
    if "end_sec" in locator:
        locator["end_sec"] = within[-1].get("end_sec", locator["end_sec"])
    return locator


def mark_before(locator: Place, name: str, character: int) -> Any:
    """The page or second at a character of a located span; None where there are none."""
    if name not in locator:
        return None
    marks = locator.get("marks", [])
    before = bisect_right(marks, character, key=lambda mark: mark[0])
    return marks[before - 1][1] if before else locator[name]


def link_to(
    url: str, kind: str, *, media_url: str = "", page: int | None, start_sec: float | None
) -> str:
    """The address of a page or second, in the way that its source understands."""
    if page is not None:
        return f"{url.partition('#')[0]}#page={page}" if kind == "pdf" else url
    if start_sec is None:
        return url
    if kind == "youtube":
        return f"{url}{'&' if '?' in url else '?'}t={int(start_sec)}s"
    if kind in ("audio", "video", "podcast"):
        return f"{(media_url or url).partition('#')[0]}#t={int(start_sec)}"
    return url
