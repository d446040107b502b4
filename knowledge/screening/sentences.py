"""Cuts a text into sentences, however it is wrapped."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.findings import Span

_END = re.compile(
    r"""(?<![.!?…])[.!?…]+["'”»)\]]*\s+ | [。！？।॥؟۔]+\s* | \n\s*\n | \n(?=\s*(?:[-*•#>|+]|\d{1,3}[.)]|[^\W\d_]{0,30}[A-Z]|</?\w|<!--|```|[\w\ -]{1,30}:\s))
    | \n(?=[^\Wa-z\d_])""",
    re.VERBOSE,
)
_LONGEST = 600


def sentences(text: str) -> Iterator[Span]:
    """The span of each sentence; a very long one is cut at a blank."""
    start = 0
    for end in _END.finditer(text):
        yield from _cut(text, start, end.end())
        start = end.end()
    yield from _cut(text, start, len(text))


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > _LONGEST:
        blank = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        middle = blank + 1 if blank > 0 else start + _LONGEST
        yield start, middle
        start = middle
    if text[start:end].strip():
        yield start, end
