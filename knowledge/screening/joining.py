"""Secrets that were cut in pieces, padded with invisible signs or wrapped in base64."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice

from knowledge.screening.assignments import find_assigned
from knowledge.screening.findings import Finding
from knowledge.screening.placeholders import decoded
from knowledge.screening.secrets import find_tokens

_SEAM = re.compile(
    r"""["'`]\s{0,20}(?:\+|\.{1,2}|&|\|\||,|\\)?\s{0,20}[fbru]?["'`]
    |(?<=[A-Za-z0-9_+/-]{6})\\?\r?\n[ \t>|]{0,20}(?=[A-Za-z0-9_+/-]{4})
    |[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+""",
    re.VERBOSE,
)
_CONSTANT = re.compile(
    r"""(?<![\w.])(?P<name>[A-Za-z_$][\w$]{0,40})["']?\s{0,4}(?::\s?[\w&']{1,20}\s?)?(?::=|=|:)\s{0,4}[fbru]?["'`](?P<value>[^"'`\n]{4,120})["'`]"""
)
_SUM = re.compile(
    r"(?<![\w.])[A-Za-z_$][\w$]{0,40}(?:\s{0,4}(?:\+|\.{1,2}|&|\|\||,|\}\$?\{)\s{0,4}[A-Za-z_$][\w$]{0,40}){1,7}"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,40}")
_MOST_CONSTANTS = 400
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,8000}={0,2}(?![A-Za-z0-9+/_-])")


def find_split(text: str) -> Iterator[Finding]:
    """Every token that only shows once its pieces are put together or decoded."""
    yield from _across_seams(text)
    yield from _across_constants(text)
    for match in _BASE64.finditer(text):
        plain = decoded(match[0])
        for finding in (*find_tokens(plain), *find_assigned(plain)) if len(plain) > 16 else ():
            yield replace(finding, start=match.start(), end=match.end())


def _across_seams(text: str) -> Iterator[Finding]:
    seams = [match.span() for match in _SEAM.finditer(text)]
    if not seams:
        return
    whole, joints, shifts = _joined(text, seams)
    for finding in find_tokens(whole):
        first, last = bisect_right(joints, finding.start), bisect_right(joints, finding.end - 1)
        if first != last:
            start, end = finding.start + shifts[first], finding.end + shifts[last]
            yield replace(finding, start=start, end=end)


def _across_constants(text: str) -> Iterator[Finding]:
    """A token whose parts have names of their own and are added up, or only counted."""
    parts = list(islice(_CONSTANT.finditer(text), _MOST_CONSTANTS))
    if len(parts) < 2:
        return
    named = {part["name"]: part for part in parts}
    for total in _SUM.finditer(text):
        yield from _together([named[name] for name in _NAME.findall(total[0]) if name in named])
    for first, run in groupby(parts, key=lambda part: part["name"].rstrip("0123456789ABabxyXY_")):
        if first:
            yield from _together(list(run))


def _together(parts: list[re.Match[str]]) -> Iterator[Finding]:
    if len(parts) < 2:
        return
    whole = "".join(part["value"] for part in parts)
    for finding in find_tokens(whole):
        if finding.start < len(parts[0]["value"]) < finding.end:
            yield replace(finding, start=parts[0].start("value"), end=parts[0].end("value"))


def _joined(text: str, seams: list[tuple[int, int]]) -> tuple[str, list[int], list[int]]:
    """The text without its seams; where each was, and how far the text after it moved."""
    pieces, joints, shifts, at, removed = [], [], [0], 0, 0
    for start, end in seams:
        pieces.append(text[at:start])
        joints.append(start - removed)
        removed += end - start
        shifts.append(removed)
        at = end
    return "".join((*pieces, text[at:])), joints, shifts
