"""Remarks that a program skips and a model reads: comments of code, settings and mail."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import re
from collections.abc import Iterator

from knowledge.screening.concepts import Concept as C
from knowledge.screening.findings import Span
from knowledge.screening.hidden_orders import Passage, steers
from knowledge.screening.quoting import quoted_spans
from knowledge.screening.reading import ideas_of
from knowledge.screening.unseen import called_by

_ENCLOSED = (("/*", "*/"), ("{#", "#}"), ("<%--", "--%>"), ("{{!", "}}"), ("{%", "%}"))
_REMARK = re.compile(
    r"""(?:^|[ \t;{}])(?://+|--+)[ \t]+(?P<line>[^\n]{10,1000}) | ^(?:[ \t]+|[^\n\#]{1,200}[ \t])\#+[ \t]+(?P<hash>[^\n]{10,1000}) | ^[ \t]*(?:REM|rem|;+|\.\.)[ \t]+(?P<other>[^\n]{10,1000})""",
    re.VERBOSE | re.MULTILINE,
)
_FRONT = re.compile(r"\A---[ \t]*\n(?P<matter>(?:(?!---)[^\n]*\n){1,200})---", re.MULTILINE)
_HASH = re.compile(r"^[ \t]*#+[ \t]*(?P<words>[^\n]{10,1000})", re.MULTILINE)
_PERCENT = re.compile(r"(?<!\\)%+[ \t]*(?P<words>[^\n%]{10,1000})")
_LONGEST = 3_000
_IS_LATEX = re.compile(
    r"\\(?:section|begin|title|documentclass|usepackage|maketitle|item|author|chapter|cite|ref|label)\b"
)
_HEADER = re.compile(r"^(?P<name>X-[\w-]{2,60}):[ \t]*(?P<words>[^\n]{15,2000})", re.MULTILINE)
_OF_MACHINES = re.compile(
    r"(?i)\b(?:ai|ki|ia|llms?|agent\w*|assist\w*|asist\w*|assistent\w*|models?|modell\w*|mod[eèé]l\w*|\w*bots?|gpt\w*|claude|copilot|gemini|cursor|codex|automat\w+|machines?|referees?|reviewers?|crawlers?|parsers?|scanners?)\b|[\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
)
_TO_WHOM = re.compile(
    r"(?i)^\W{0,4}(?:(?:note|notice|todo|fixme|hint|attention|important|message|reminder|nb|hinweis|nota|warning|info|hack|xxx|instructions?|directive|policy)\b[\s:,-]{0,3})?\(?(?:to|for|@|dear|hey|attn|an|für|pour|para|per|any|all|every|the)?\W{0,2}(?:(?:any|all|every|the|other|future|automated|automatic|autonomous|coding|review|reviewing|grading|reading|ai|machine|llm|query|text-to-sql|virtual|digital|language)[\s-]){0,3}"
    r"(?:ai|llms?|agents?|assistants?|models?|(?:chat)?bots?|gpt[\w-]{0,6}|claude|copilot|gemini|cursor|codex|(?:automated|automatic|autonomous|ai|llm|machine)[\s-](?:referees?|reviewers?|graders?|readers?)|crawlers?|scanners?|summari[sz]ers?|assistente[ns]?|asistente|modelo|modell?)\b(?:\s(?:here|only|reading|who|that|which|working|editing|reviewing|processing|please|append|note|and)\b[^:.,;\n]{0,30})?(?:\s?[:,)–—]|\s-\s|(?<=s)\s(?:must|should|shall)\b)"
)


def remarks_to_machines(text: str) -> Iterator[Passage]:
    """Comments and fields that address a model; any other comment is a programmer's."""
    quoted = quoted_spans(text)
    for words, span in _remarks(text):
        if _is_addressed(words) and not any(start < span[0] < end for start, end in quoted):
            yield "hidden_text", f"assistant: {words}", span
    for match in _HEADER.finditer(text):
        yield "hidden_text", called_by(match["name"], match["words"]), match.span()


def _remarks(text: str) -> Iterator[tuple[str, Span]]:
    for opening, closing in _ENCLOSED:
        yield from _between(text, opening, closing)
    if any(mark in text for mark in ("//", "--", "#", "REM", "rem", ";", "..")):
        for match in _REMARK.finditer(text):
            yield next(filter(None, match.groups())), match.span()
    front = _FRONT.match(text)
    if front and "#" in front["matter"]:
        for match in _HASH.finditer(text, *front.span("matter")):
            yield match["words"], match.span()
    if "%" in text and _IS_LATEX.search(text):
        for match in _PERCENT.finditer(text):
            yield match["words"], match.span()


def _between(text: str, opening: str, closing: str) -> Iterator[tuple[str, Span]]:
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            return
        yield text[start + len(opening) : min(end, start + _LONGEST)], (start, end + len(closing))
        start = text.find(opening, end)


def _is_addressed(words: str) -> bool:
    """Whether a remark opens with the name of a machine and tells it to do something."""
    if not _OF_MACHINES.search(words, 0, 200):
        return False
    ideas = ideas_of(words.strip(" \t*-#\n"), hidden=True)
    return steers(ideas) and ({C.AI, C.VOCATIVE} <= ideas or bool(_TO_WHOM.match(words)))
