"""Where orders hide in plain sight of a machine: comments, unseen elements, forged turns."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import html
import re
from collections.abc import Iterator
from itertools import islice

from knowledge.screening.concepts import Concept as C
from knowledge.screening.findings import Span
from knowledge.screening.quoting import fenced_spans, quoted_spans
from knowledge.screening.reading import ideas_of

Passage = tuple[str, str | None, Span]
"""The rule it would break, its words (None when hiding alone is enough), and its place."""

_NOTE = re.compile(
    r"^[ \t]{0,3}\[[^\]\n]{1,40}\]:\s?(?:#|<>)\s?[(\"'](?P<words>[^\n]{3,1000})", re.MULTILINE
)
_UNSEEN = re.compile(
    r"""<(?P<tag>[a-z][a-z0-9]{0,10})\b[^<>]{0,300}?(?:
      style\s?=\s?["'][^"'<>]{0,200}?(?:display\s?:\s?none|visibility\s?:\s?hidden|opacity\s?:\s?0(?![.\d]*[1-9])
        |font-size\s?:\s?[01](?:px|pt|em|rem|%)?\s?(?:[;"']|!)|color\s?:\s?(?:white|transparent|\#fff(?:fff)?\b|rgba?\(\s?255)|(?:left|top|text-indent|right|bottom)\s?:\s?-\d{3,}
        |(?:width|height|max-height|max-width)\s?:\s?0|clip(?:-path)?\s?:|scale\(0|z-index\s?:\s?-\d)
      |\shidden\b|aria-hidden\s?=|class\s?=\s?["'][^"'<>]{0,80}?(?:sr-only|visually-hidden|hidden|invisible|offscreen))
    [^<>]{0,300}>(?P<words>[^<]{3,4000})""",
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""(?:alt|title|aria-label|data-[\w-]{1,30}|content|placeholder)\s?=\s?(?:"(?P<double>[^"<>]{20,1000})"|'(?P<single>[^'<>]{20,1000})')""",
    re.IGNORECASE,
)
_LINK_TITLE = re.compile(
    r"""\]\([^\s()]{1,300}\s+["'(](?P<words>[^"'()\n]{20,600})["')]\)|!\[(?P<alt>[^\]\n]{25,600})\]\("""
)
_TEMPLATE = re.compile(
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|begin_of_text|end_of_text|eot_id|start_header_id|end_header_id|end_of_turn|start_of_turn|endofprompt|tool|observation|channel|message|return|call)\|>"
    r"|<(?:start_of_turn|end_of_turn)>|\[/?INST\]|<</?SYS>>|\[/?SYSTEM_PROMPT\]|<\uff5c[\w▁]{2,30}\uff5c>|\[/?AVAILABLE_TOOLS\]|\[TOOL_RESULTS\]"
)
_TAG = re.compile(
    r"<(?P<close>/)?(?P<name>system|system[-_](?:reminder|prompt|message|note|instructions?|override|notice|update)|tool[-_]?results?|function[-_]results?|tool[-_](?:use|call|response|output)|invoke|function[-_]calls?|operator(?:[-_]\w{1,20})?|developer(?:[-_]\w{1,20})?|admin(?:[-_]\w{1,20})?|instructions?|priority[-_]\w{1,20}|assistant(?:[-_]\w{1,20})?|user(?:[-_]\w{1,20})?|human|document|documents|context|retrieved[-_]\w{1,20}|search[-_]results?|untrusted[-_]?\w{0,20}|policy|antml:\w{1,30}|rules|override|important|trusted[-_]?\w{0,20}|root|anthropic|openai|ai|llm|model|agent|agents)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^(?:[ \t]{0,4}[>*_#=\[(<~-]{1,12}[ \t]{0,3}(?:(?:end of|begin|new|start)\s)?(?:author|platform|supervisor|tool result|tool output|{ROLES})"
    r"|[ \t]{0,4}(?-i:SYSTEM|OPERATOR|ADMIN|ADMINISTRATOR|DEVELOPER|ROOT)|[ \t]{0,4}(?:{ROLES})[ _-](?:message|prompt|notice|override|update|instructions?|note|directive|alert|command|announcement))"
    r"(?:[ _-](?:message|prompt|notice|override|update|instructions?|note|directive|alert|command|announcement|policy|says))?[ \t]*(?:\([^)\n]{0,40}\))?[*_\])>~]{0,4}[ \t]*[:：\]]".replace(
        "{ROLES}",
        "system|operator|developer|administrators?|admin|root|anthropic|openai|security team|kernel",
    ),
    re.IGNORECASE | re.MULTILINE,
)
_ARMOUR = re.compile(
    r"(?:---|===|\*\*\*|###|\[\[|<<)\s?(?:BEGIN|START|END OF|END|NEW)\b[ A-Z]{0,40}?\b(?:SYSTEM|OPERATOR|ADMIN\w*|TRUSTED|INSTRUCTIONS?|OVERRIDE|PRIORITY|DIRECTIVES?|DOCUMENT|CONTEXT|PROMPT|DEVELOPER|AGENT|ASSISTANT|USER|RETRIEVED|DATA|SKILL|TOOL)\b[ A-Z]{0,40}?",
)
_ROLE = re.compile(
    r"""["']?role["']?\s{0,3}[:=]\s{0,3}["']?(?:system|developer|tool|operator|admin)["']?\s{0,3},?\s{0,20}["']?(?:content|text|message)["']?\s{0,3}[:=]\s{0,3}["']?(?P<words>[^\n]{10,1500})""",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"^[ \t*#>]{0,4}(?:user|human|question|q)[ \t*]{0,3}:[^\n]{3,400}\n\s{0,4}[ \t*#>]{0,4}(?:assistant|ai|model|bot|answer|a|claude|gpt)[ \t*]{0,3}:[^\n]{0,200}?(?::|\.\.\.|…|[\"“])?[ \t*]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT, _AT_MOST = 500, 200
_COMMANDING = frozenset(
    {
        C.MUST,
        C.HENCEFORTH,
        C.UNASKED,
        C.CONCEAL,
        C.OVERRIDE,
        C.OBEY,
        C.REVEAL,
        C.CALL,
        C.SEND,
        C.HARM,
        C.SKIP,
        C.SAY,
    }
)
_ADDRESSING = frozenset(
    {C.AI, C.AGENT, C.YOURS, C.USER, C.PERSONA, C.HENCEFORTH, C.UNASKED, C.OBEY, C.INNARDS}
)


def hidden_passages(text: str) -> Iterator[Passage]:
    """What a rendered page would not show."""
    for start, end in _comments(text):
        if not _is_shown(text, start):
            yield "hidden_text", text[start + 4 : end], (start, end)
    for match in _NOTE.finditer(text):
        yield "hidden_text", match["words"], match.span()
    if "<" in text:
        for match in _UNSEEN.finditer(text):
            if not _is_shown(text, match.start()):
                yield "hidden_text", html.unescape(match["words"]), match.span()
        for match in _ATTRIBUTE.finditer(text):
            if not _is_shown(text, match.start()):
                yield "hidden_text", match["double"] or match["single"], match.span()
    for match in _LINK_TITLE.finditer(text):
        yield "hidden_text", match["words"] or match["alt"], match.span()


def _comments(text: str) -> Iterator[Span]:
    """HTML's comments; one that is never closed hides all the rest."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        yield start, end if end >= 0 else len(text)
        start = text.find("<!--", end) if end >= 0 else -1


def forged_roles(text: str) -> Iterator[Span]:
    """Where the text pretends that somebody with more say begins to speak."""
    shown = _shown(text)
    for match in islice(_TEMPLATE.finditer(text), _AT_MOST):
        if not _within(match.start(), shown):
            yield match.span()
            return
    yield from _forged_tags(text, shown)
    yield from _forged_turns(text)
    for pattern in (_HEADING, _ARMOUR):
        for match in islice(pattern.finditer(text), _AT_MOST):
            if not _within(match.start(), shown) and _commands(
                text[match.start() : match.end() + _NEXT]
            ):
                yield match.span()


def _forged_tags(text: str, shown: list[Span]) -> Iterator[Span]:
    tags = [tag for tag in islice(_TAG.finditer(text), _AT_MOST) if not _within(tag.start(), shown)]
    opened: set[str] = set()
    for tag in tags:
        name = tag["name"].lower()
        if tag["close"] and name not in opened and _commands(text[tag.end() : tag.end() + _NEXT]):
            yield tag.span()
        elif not tag["close"]:
            opened.add(name)
            if name not in _PLAIN and _commands(text[tag.end() : tag.end() + _NEXT]):
                yield tag.span()


def _forged_turns(text: str) -> Iterator[Span]:
    """Messages with a role of their own, and a dialogue that the model is to finish."""
    for match in islice(_ROLE.finditer(text), _AT_MOST):
        if _commands(match["words"]):
            yield match.span()
    for match in islice(_UNFINISHED.finditer(text), _AT_MOST):
        if C.INNARDS in ideas_of(match[0]):
            yield match.span()


_PLAIN = frozenset(
    {
        "document",
        "documents",
        "context",
        "user",
        "human",
        "policy",
        "root",
        "model",
        "important",
        "rules",
        "instructions",
        "instruction",
        "user_query",
        "user_input",
        "user_question",
        "assistant",
        "ai",
        "llm",
        "agent",
        "agents",
    }
)


def _commands(words: str) -> bool:
    """Whether what follows orders a model about, or speaks in the user's name."""
    ideas = ideas_of(words)
    return len(ideas & _COMMANDING) >= 2 and bool(ideas & _ADDRESSING) and C.DISCUSSED not in ideas


def _shown(text: str) -> list[Span]:
    return [*quoted_spans(text), *fenced_spans(text)]


def _within(place: int, spans: list[Span]) -> bool:
    return any(start <= place < end for start, end in spans)


def _is_shown(text: str, place: int) -> bool:
    """Held up between code marks on its own line."""
    line = text[max(0, place - _NEXT) : place].rpartition("\n")[2]
    return line.count("`") % 2 == 1
