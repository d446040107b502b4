"""What a text only quotes or shows as code, and does not say itself."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from bisect import bisect_left
from functools import lru_cache

from knowledge.screening.findings import Span

_PAIRS = re.compile(
    r"""
      “[^“”\n]{1,600}[”"] | „[^„“”"\n]{1,600}[“”"] | «[^«»\n]{1,600}» | »[^»«\n]{1,600}« | ‹[^‹›\n]{1,600}›
    | 「[^「」\n]{1,600}」 | 『[^『』\n]{1,600}』 | 《[^《》\n]{1,200}》 | ‘[^‘’\n]{3,600}’(?!\w) | ”[^”\n]{1,600}”
    | (?<![\w=(\[{])(?<!\w:\ )"[^"\n]{1,600}"(?!\w) | (?<![\w=(\[{])'[^'\n]{3,400}'(?!\w)
    | ``[^`\n]{1,600}`` | `[^`\n]{1,600}`
    """,
    re.VERBOSE,
)
_FENCE = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n(?:(?![ \t]*\1)[^\n]*\n)*[ \t]*\1[ \t]*\r?$", re.MULTILINE
)
_INDENTED = re.compile(r"(?:\A|\n[ \t]*\n)(?P<block>(?:(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n)+)")
_SETTING = re.compile(r"^[ \t]*[\w-]{1,40}[ \t]*[:=][ \t]*$")


def quoted_spans(text: str) -> list[Span]:
    """Where the text holds up somebody's words or code, in any language's marks."""
    if not any(mark in text for mark in "“„«»‹「『《‘”\"'`"):
        return []
    return [match.span() for match in _PAIRS.finditer(text) if not _is_value(text, match.start())]


def unquoted(text: str) -> str:
    """The text's own words; what is quoted becomes blanks, so that places stay the same."""
    spans = quoted_spans(text)
    if sum(end - start for start, end in spans) > 0.8 * len(text.strip()):
        return text
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def fenced_spans(text: str) -> list[Span]:
    """Blocks of code."""
    return (
        [match.span() for match in _FENCE.finditer(text)] if "```" in text or "~~~" in text else []
    )


def indented_spans(text: str) -> list[Span]:
    """Blocks that are set in from the margin after an empty line, as Markdown shows code."""
    return [match.span("block") for match in _INDENTED.finditer(text)] if "\n    " in text else []


def is_shown_as_code(text: str, place: int) -> bool:
    """Between code marks on its own line, or in a string of a program: nothing there is unseen."""
    line = text[max(0, place - 500) : place].rpartition("\n")[2]
    if line.count("`") % 2:
        return True
    if not any(line.count(mark) % 2 for mark in "\"'"):
        return False
    return any(_is_within(place, spans) for spans in _shown_blocks(text))


@lru_cache(maxsize=1)
def _shown_blocks(text: str) -> tuple[list[Span], list[Span]]:
    """Found once for a text, however many places in it are asked about."""
    return fenced_spans(text), indented_spans(text)


def _is_within(place: int, spans: list[Span]) -> bool:
    at = bisect_left(spans, (place, 0)) - 1
    return at >= 0 and place < spans[at][1]


def _is_value(text: str, start: int) -> bool:
    """Quotation marks of a setting or an argument are syntax: they quote nobody."""
    line = text[max(0, start - 80) : start].rpartition("\n")[2]
    return _SETTING.match(line) is not None or line.rstrip().endswith(("=", "(", "[", "{"))
