"""Secrets that were cut in pieces, padded with invisible signs or wrapped in base64."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from knowledge.screening.assignments import decoded, find_assigned
from knowledge.screening.findings import Finding
from knowledge.screening.secrets import find_tokens

_SEAM = re.compile(
    r"""["'`]\s{0,20}(?:\+|\.{1,2}|&|\|\||,|\\)?\s{0,20}[fbru]?["'`]
    |(?<=[A-Za-z0-9_+/-]{6})\\?\r?\n[ \t>|]{0,20}(?=[A-Za-z0-9_+/-]{4})
    |[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+""",
    re.VERBOSE,
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,8000}={0,2}(?![A-Za-z0-9+/_-])")


def find_split(text: str) -> Iterator[Finding]:
    """Every token that only shows once its pieces are put together or decoded."""
    yield from _across_seams(text)
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
