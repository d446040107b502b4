"""Where a quote stands in the text that it was taken from."""

import re


def span_of(quote: str, text: str) -> tuple[int, int] | None:
    """The characters of the first place that says this word for word, however it is spaced."""
    words = quote.split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return found.span() if found else None
