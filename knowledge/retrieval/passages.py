"""The few sentences of a chunk that answer the query best."""

import re

LONGEST = 360

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_STEM = 5
"""Letters that two forms of one word usually share."""


def best_passage(text: str, query: str, *, longest: int = LONGEST) -> str:
    """A window of whole sentences around the one with most of the query's words."""
    if len(text) <= longest:
        return text.strip()
    sentences = _sentences(text)
    wanted = _stems(query)
    best = max(
        range(len(sentences)), key=lambda n: len(wanted & _stems(text[slice(*sentences[n])]))
    )
    start, end = sentences[best]
    before, after = best - 1, best + 1
    while True:
        if after < len(sentences) and sentences[after][1] - start <= longest:
            end, after = sentences[after][1], after + 1
        elif before >= 0 and end - sentences[before][0] <= longest:
            start, before = sentences[before][0], before - 1
        else:
            break
    return _cut(text, start, end, longest)


def _sentences(text: str) -> list[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    starts = [0, *ends]
    return [(a, b) for a, b in zip(starts, [*ends, len(text)], strict=True) if a < b]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if len(word) > 2}


def _cut(text: str, start: int, end: int, longest: int) -> str:
    passage = text[start:end].strip()
    if len(passage) > longest:
        passage = passage[:longest].rsplit(None, 1)[0] + "…"
    leading = "…" if text[:start].strip() else ""
    trailing = "…" if text[end:].strip() and not passage.endswith("…") else ""
    return f"{leading}{passage}{trailing}"
