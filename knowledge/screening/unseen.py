"""Words that a machine reads and a person does not see: unseen elements, attributes, terminals."""

# A pattern is read whole; broken over lines it hides its mistakes.
# ruff: noqa: E501

import html
import re
from collections.abc import Iterator

from knowledge.screening.findings import Span
from knowledge.screening.hidden_orders import Passage, names_a_deed
from knowledge.screening.quoting import is_shown_as_code
from knowledge.screening.reading import ideas_of

_DECLARED = r"""display\s?:\s?none|visibility\s?:\s?(?:hidden|collapse)|opacity\s?:\s?(?:0?\.0\d{0,3}|0)(?![.\d])|mso-hide\s?:\s?all
    |font(?:-size)?\s?:\s?(?:0[a-z%]{0,4}|0?\.\d{1,3}[a-z%]{1,4}|[12](?:px|pt))(?![\w.%])|(?:left|top|text-indent|right|bottom|margin-left|margin-top)\s?:\s?-\d{3,}
    |(?<![\w-])(?:width|height|max-height|max-width|line-height)\s?:\s?0(?![.\d])|clip(?:-path)?\s?:|scale[xy]?\(\s?0(?![.\d])|translate[xy]?\(\s?-\d{3,}|z-index\s?:\s?-\d
    |(?<![\w-])color\s?:\s?(?:white|transparent|\#fff(?:f{3})?\b|rgba?\(\s?255\s?,\s?255\s?,\s?255|rgba\([^()]{1,30},\s?0?\.?0\s?\)|hsla?\([^()]{1,20}100%\))"""
_HIDING = re.compile(_DECLARED, re.VERBOSE | re.IGNORECASE)
_UNSEEN = re.compile(
    r"""\shidden\b|aria-hidden\s?=|(?:class|id)\s?=\s?["']?[^"'<>]{0,80}?(?:sr-only|visually-hidden|hidden|invisible|offscreen)
    |\s(?:display\s?=\s?["']?none|visibility\s?=\s?["']?hidden|(?:fill-)?opacity\s?=\s?["']?0?\.?0["'\s/]|font-size\s?=\s?["']?(?:0?\.\d|[0-2](?:px|pt)?)["'\s]
    |(?:fill|color)\s?=\s?["']?(?:none|white|transparent|\#fff(?:f{3})?)\b|height\s?=\s?["']?0["'\s]|width\s?=\s?["']?0["'\s])""",
    re.VERBOSE | re.IGNORECASE,
)
_TAG = re.compile(r"<(?P<name>[a-z][a-z0-9-]{0,20})(?P<attributes>(?:\s[^<>]{0,800})?)>", re.IGNORECASE)  # fmt: skip
_ANY_TAG = re.compile(r"<[^<>]{0,800}>")
_NEVER_DRAWN = frozenset(
    {"template", "noscript", "noframes", "noembed", "desc", "metadata", "datalist", "xmp"}
)
_DRAWN_WITH_FILL = frozenset({"text", "tspan", "textpath"})
_RULE_SET = re.compile(r"(?P<names>[.#][\w.#, :>-]{1,120})\{(?P<declared>[^{}]{1,500})\}")
_NAME = re.compile(r"[.#]([\w-]{1,60})")
_NAMED = re.compile(r"""(?:class|id)\s?=\s?["']?([^"'<>]{1,200})""", re.IGNORECASE)
_COLOUR = re.compile(
    r"""(?<![\w-])(?:(?P<ground>background(?:-color)?|bgcolor)|color|fill)\s?[:=]\s?["']?(?P<colour>\#\w{3,8}|rgba?\([^()]{1,40}\)|[a-z]{3,20})""",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""(?<![\w-])(?P<name>alt|title|aria-[a-z]{3,20}|data-[\w-]{1,30}|content|placeholder|value|summary|label|longdesc|tooltip|caption)\s?=\s?(?:"(?P<double>[^"<>]{20,4000})"|'(?P<single>[^'<>]{20,4000})')""",
    re.IGNORECASE,
)
_META_NAME = re.compile(r"""\b(?:name|property|id)\s?=\s?["']?([\w:.-]{2,60})""", re.IGNORECASE)
_LINK_TITLE = re.compile(
    r"""\]\([^\s()]{1,300}\s+["'(](?P<words>[^"'()\n]{20,600})["')]\)|!\[(?P<alt>[^\]\n]{25,600})\]\("""
)
_LATEX = re.compile(
    r"""\\color(?:\[\w{1,9}\])?\{(?:white|background|bg|(?:1\s?,?\s?){3}|\w{1,20}!0)\}(?:\\\w{1,20})*(?P<c>[^{}]{10,3000})
    |\\textcolor(?:\[\w{1,9}\])?\{(?:white|background|bg|(?:1\s?,?\s?){3}|\w{1,20}!0)\}\{(?:\\\w{1,20})*(?P<t>[^{}]{10,3000})\}
    |\\[hv]?phantom\{(?P<p>[^{}]{10,3000})\}|\\(?:transparent|opacity)\{0(?:\.0)?\}\{?(?P<o>[^{}]{10,3000})
    |\\fontsize\{(?:0?\.\d|[01])(?:pt)?\}\{[^{}]{0,10}\}(?:\\\w{1,20})*\s?\{?(?P<f>[^{}]{10,3000})
    |\\pdf(?:tooltip|info|comment)\{(?P<i>[^{}]{10,3000})""",
    re.VERBOSE,
)
_BETWEEN = (("<!--", "-->"), ("\\begin{comment}", "\\end{comment}"), ("\\iffalse", "\\fi"))
_ESC = r"(?:\x1b|\u241b|\\(?:033|x1[bB]|e|u001[bB]|u\{1b\}))"
_TERMINAL = re.compile(
    rf"{_ESC}\[(?:(?:[\d;]{{0,12}};)?0?8(?:;[\d;]{{0,12}})?|[\d;]{{0,6}}?3(?P<c>\d);4(?P=c)|38;5;(?P<n>\d{{1,3}});48;5;(?P=n))m(?P<words>[^\x1b\n]{{5,2000}}?)(?={_ESC}\[|\n|$)"
    rf"|{_ESC}\](?:0|1|2|8|9);(?P<title>[^\x07\x1b\n\\]{{10,1000}})"
)
_NOTE = re.compile(
    r"^[ \t]{0,3}\[[^\]\n]{1,40}\]:\s?(?:#|<>)\s?[(\"'](?P<words>[^\n]{3,1000})", re.MULTILINE
)
_MACHINE_NAME = re.compile(
    r"(?:^|[-_.:])(?:ai|llm|gpt|bot|chatbot|assistant|agent|model|copilot|claude|gemini|prompt|crawler)s?(?:$|[-_.:])",
    re.IGNORECASE,
)
_LONGEST = 4_000


def unseen_passages(text: str) -> Iterator[Passage]:
    """What a rendered page, a typeset paper or a terminal would not show."""
    for start, end, words in _between(text):
        yield "hidden_text", words, (start, end)
    for match in _NOTE.finditer(text):
        yield "hidden_text", match["words"], match.span()
    if "<" in text:
        yield from _in_elements(text)
        yield from _in_attributes(text)
    for match in _LINK_TITLE.finditer(text):
        yield "hidden_text", match["words"] or match["alt"], match.span()
    for pattern in (_LATEX, _TERMINAL) if "\\" in text or "\x1b" in text else ():
        for match in pattern.finditer(text):
            words = next((words for words in match.groups()[::-1] if words), "")
            yield "hidden_text", words, match.span()


def called_by(name: str, words: str) -> str:
    """The words of a field; one that is named for a machine speaks to it."""
    is_called = _MACHINE_NAME.search(name) and names_a_deed(ideas_of(words))
    return f"assistant: {words}" if is_called else words


def _between(text: str) -> Iterator[tuple[int, int, str]]:
    """Comments that open and close; one that is never closed hides all the rest."""
    for opening, closing in _BETWEEN:
        start = text.find(opening)
        while start >= 0:
            end = text.find(closing, start + len(opening))
            end = end if end >= 0 else len(text)
            if not is_shown_as_code(text, start):
                yield start, end, html.unescape(text[start + len(opening) : end])
            start = text.find(opening, end)


def _in_elements(text: str) -> Iterator[Passage]:
    hidden_names = _names_that_hide(text)
    fills: set[str] = set()
    for tag in _TAG.finditer(text):
        name, attributes = tag["name"].lower(), tag["attributes"]
        if name in _DRAWN_WITH_FILL:
            unseen = bool(_colours(attributes)[1] & fills)
        else:
            unseen = name in _NEVER_DRAWN
            grounds, colours = _colours(attributes)
            fills |= grounds | (colours if name in ("rect", "path", "circle", "body") else set())
        if unseen or _is_hiding(name, attributes, hidden_names):
            if is_shown_as_code(text, tag.start()):
                continue
            words, end = _content(text, name, tag.end())
            if len(words.strip()) >= 3:
                yield "hidden_text", words, (tag.start(), end)


def _is_hiding(name: str, attributes: str, hidden_names: set[str]) -> bool:
    if not attributes or name in ("input", "img", "br", "hr", "meta", "link"):
        return False
    if _HIDING.search(attributes) or _UNSEEN.search(attributes):
        return True
    grounds, colours = _colours(attributes)
    if grounds & colours:
        return True
    return bool(hidden_names) and any(
        not hidden_names.isdisjoint(names.split()) for names in _NAMED.findall(attributes)
    )


def _colours(attributes: str) -> tuple[set[str], set[str]]:
    """The colours of the ground, and those of what stands on it."""
    found: tuple[set[str], set[str]] = (set(), set())
    for match in _COLOUR.finditer(attributes):
        found[0 if match["ground"] else 1].add(match["colour"].lower().replace(" ", ""))
    return found


def _names_that_hide(text: str) -> set[str]:
    """Classes and ids that the page's own style sheet makes invisible."""
    if "{" not in text:
        return set()
    return {
        name
        for rules in _RULE_SET.finditer(text)
        if _HIDING.search(rules["declared"])
        for name in _NAME.findall(rules["names"])
    }


def _content(text: str, name: str, start: int) -> tuple[str, int]:
    """What stands in an element, without the marks of those within."""
    reach = text[start : start + _LONGEST]
    closed = re.search(rf"</{name}\b", reach, re.IGNORECASE)
    inner = reach[: closed.start()] if closed else reach.partition("<")[0]
    return html.unescape(_ANY_TAG.sub(" ", inner)), start + len(inner)


def _in_attributes(text: str) -> Iterator[Passage]:
    for match in _ATTRIBUTE.finditer(text):
        if is_shown_as_code(text, match.start()):
            continue
        words = html.unescape(match["double"] or match["single"])
        name = match["name"]
        if name.lower() in ("content", "value"):
            tag = text[max(0, match.start() - 200) : match.start()].rpartition("<")[2]
            named = _META_NAME.search(tag)
            name = named[1] if named else ""
        yield "hidden_text", called_by(name, words), match.span()


def span_of_line(text: str, place: int) -> Span:
    """The line that a place stands in."""
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, end if end >= 0 else len(text)
