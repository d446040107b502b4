"""Where a quote stands in the text that it was taken from."""

import re

_WORD = re.compile(r"[^\W_]+")
_BETWEEN_WORDS = r"(?:\]\([^)\s]*\)|[\W_])+?"
"""Whatever Markdown puts between two words that a reader sees beside each other."""


def span_of(quote: str, text: str) -> tuple[int, int] | None:
    """The characters of the first place that says this word for word, however it is spaced."""
    words = quote.split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return found.span() if found else None


def nearest_span(quote: str, text: str, *, near: int) -> tuple[int, int] | None:
    """The place nearest to a character that has these words, whatever marks stand between them."""
    for pattern in _patterns(quote):
        spans = [match.span() for match in re.finditer(pattern, text)]
        if spans:
            return min(spans, key=lambda span: abs(span[0] - near))
    return None


def _patterns(quote: str) -> list[str]:
    """To the letter first, then by its words alone."""
    exact, words = quote.split(), _WORD.findall(quote)
    patterns = [r"\s+".join(map(re.escape, exact))] if exact else []
    if words:
        patterns.append(_BETWEEN_WORDS.join(map(re.escape, words)))
    return patterns
