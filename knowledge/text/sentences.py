"""Where the sentences of a text begin and end."""

import re

# Its first character is one of a few, which a search skips to; of alternatives it tries each place.
_SENTENCE_END = re.compile(r"[.!?。！？\n](?:(?<=\n)\n*|(?<!\n)\s+)")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The characters of each sentence, in order and without a gap; a line's end ends one too."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    starts = [0, *ends]
    return [(a, b) for a, b in zip(starts, [*ends, len(text)], strict=True) if a < b]
