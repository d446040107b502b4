"""Patterns of addresses in which `*` stands for anything, matched in the time of one reading."""

from collections.abc import Collection
from urllib.parse import quote, urlsplit

_KEPT = "%/:?@!$&'()*+,;=-._~[]"


def fits(pattern: str, text: str) -> bool:
    """Whether the pattern stands for the whole text."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *middle, last = others
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last):
        return False
    at = len(first)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end


def is_wanted(url: str, include: Collection[str], exclude: Collection[str]) -> bool:
    """Whether a page is one of those included, if any are named, and none of those excluded."""
    if include and not any(is_of(pattern, url) for pattern in include):
        return False
    return not any(is_of(pattern, url) for pattern in exclude)


def is_of(pattern: str, url: str) -> bool:
    """Whether the pattern stands for the address's path or, with a `?` in it, path and query."""
    parts = urlsplit(url)
    path = parts.path or "/"
    if "?" in pattern:
        path = f"{path}?{parts.query}"
    return fits(percent_encode(pattern), percent_encode(path))


def percent_encode(text: str) -> str:
    """As it goes over the wire, whichever way somebody wrote it down."""
    return quote(text, safe=_KEPT)
