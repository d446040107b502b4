"""Turns of a dialogue that a document pretends to continue."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator
from itertools import islice

from knowledge.screening.concepts import Concept as C
from knowledge.screening.findings import Span
from knowledge.screening.hidden_orders import is_grave, is_suspect_in_code, names_a_deed
from knowledge.screening.reading import ideas_of

_TURN = re.compile(
    r"^[ \t]{0,3}(?:[*_>]{1,3}[ \t]?|#{1,5}[ \t]?)?(?:(?P<asks>human|user|instructions?|task|customer|prompt|GPT4 Correct User|h|q|question)|(?P<answers>assistant|ai|model|bot|response|answer|claude|gpt|chatgpt|a|chatbot))[*_]{0,3}[ \t]?[:：][*_]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(r"^[ \t*_>-]{0,4}[^\W\d_][\w .'-]{0,24}[*_]{0,2}(?: \([^)\n]{1,30}\))?:\s", re.MULTILINE)  # fmt: skip
_DONE = re.compile(
    r"\s{0,3}(?:done|on it|sure|certainly|ok(?:ay)?|understood|of course|right away|will do|absolutely|got it|confirmed|yes|finished|summary|erledigt|fatto|hecho|fait|gern)\b",
    re.IGNORECASE,
)
_SHOWN_OFF = re.compile(
    r"(?i)\b(?:example|sample|dialogue|transcript|chat|conversation|play|scene|template|format|dataset|data set|interview|script|support|log)\b|:\s*$"
)
_ROLE = re.compile(
    r"""["']?role["']?\s{0,3}[:=]\s{0,3}["']?(?:system|developer|tool|operator|admin)["']?\s{0,3},?\s{0,20}["']?(?:content|text|message)["']?\s{0,3}[:=]\s{0,3}["']?(?P<words>[^\n]{10,1500})""",
    re.IGNORECASE,
)
_BROKEN_OUT = re.compile(
    r"""["']\s?[}\]]{1,4}\s?,?\s{0,10}\{?["'](?P<name>next[_ ]?\w{1,20}|instructions?|system\w{0,20}|directives?|task|action|commands?|policy|note_\w{1,20}|assistant\w{0,20}|agent\w{0,20}|override|todo|must|developer\w{0,20}|prompt)["']\s?:\s?["'](?P<words>[^"\n]{15,1500})""",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"^[ \t*#>]{0,4}(?:user|human|question|q)[ \t*]{0,3}:[^\n]{3,400}\n\s{0,4}[ \t*#>]{0,4}(?:assistant|ai|model|bot|answer|a|claude|gpt)[ \t*]{0,3}:(?:[^\n]{0,200}?(?::|\.\.\.|…|[\"“])[ \t*]{0,4}$|\s*\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_RESUMED = re.compile(
    r"(?:\b(?:this|the|our) (?:session|conversation|chat|task|run)\b[^.\n]{0,40}\b(?:continues?|continued|continuing|resum\w{1,4}|picks? up)\b[^\n]{0,120}?[.:\n]|\b(?:summary|recap|compaction|digest|state|memory) (?:of|from) (?:the |our |your )?(?:earlier|previous|prior|last|past|compacted) (?:session|conversation|chat|context|turns?|run|thread|work)[^\n]{0,60}?[.:\n]|\b(?:earlier|previous) (?:context|conversation|session|turns) (?:was|were|has been|have been) (?:compacted|summari[sz]ed|truncated)[^\n]{0,60}?[.:\n])(?P<words>[^\n]{15,1500}(?:\n[^\n]{3,400}){0,3})",
    re.IGNORECASE,
)
_SET_UP = re.compile(r"you(?: are|'re|’re| answer| help)\b(?! now)", re.IGNORECASE)
_BEYOND_SET_UP = frozenset({C.OUTLET, C.OVERRIDE, C.UNASKED, C.SPREAD, C.PIPED})
"""What no honest first message of a developer wants."""

_AT_MOST = 200
_LONGEST = 800


def forged_turns(text: str) -> Iterator[tuple[str | None, Span]]:
    """Messages with a role of their own, turns behind a document, summaries that nobody made."""
    for pattern in (_ROLE, _RESUMED, _BROKEN_OUT):
        for match in islice(pattern.finditer(text), _AT_MOST):
            ideas = ideas_of(match["words"])
            if pattern is _RESUMED and not is_grave(ideas):
                continue
            if not _SET_UP.match(match["words"]) or ideas & _BEYOND_SET_UP:
                yield match["words"], match.span()
    for match in islice(_UNFINISHED.finditer(text), _AT_MOST):
        if C.INNARDS in ideas_of(match[0]):
            yield None, match.span()
    if not is_transcript(text):
        yield from _behind_the_document(text)


def is_transcript(text: str) -> bool:
    """Whether the text is a dialogue from its first line on, as a play or a chat is."""
    lines = [line for line in text[:20_000].splitlines() if line.strip()]
    named = sum(_NAMED.match(f"{line} ") is not None for line in lines)
    return bool(lines) and named >= 3 and named >= 0.7 * len(lines)


def _behind_the_document(text: str) -> Iterator[tuple[str | None, Span]]:
    turns = list(islice(_TURN.finditer(text), _AT_MOST))
    if not turns or not text[: turns[0].start()].strip():
        return
    before = text[: turns[0].start()].rstrip()[-300:]
    introduced = _SHOWN_OFF.search(before) is not None
    for turn, after in zip(turns, [*turns[1:], None], strict=True):
        if turn["answers"]:
            continue
        words = text[turn.end() : after.start() if after else len(text)][:_LONGEST]
        if after and after["answers"] and not introduced and _is_granted(text, words, after):
            yield None, (turn.start(), after.end())
        elif len(words.split()) >= 5:
            yield words, (turn.start(), turn.end() + len(words))


def _is_granted(text: str, words: str, answer: re.Match[str]) -> bool:
    """Whether a deed is asked for in the user's name, and its answer says that it was done."""
    ideas = ideas_of(words)
    if not _DONE.match(text, answer.end()):
        return False
    return is_suspect_in_code(ideas) or (names_a_deed(ideas) and C.CONCEAL in ideas)
