"""Markdown as HTML that can do nothing: no raw HTML, no pictures from elsewhere, then sanitized.

Every block carries `data-c`, the characters of the source text that it was made of.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urljoin, urlsplit

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from knowledge.budgets import RENDER_IN_PLACE
from knowledge.sources.parsers.frames import Frame
from knowledge.sources.readers import opened_readers

LONGEST_CODE = 30_000
"""Characters of code that are coloured; longer ones are shown plain."""

_LOCATED = {"heading_open", "paragraph_open", "list_item_open", "tr_open", "fence", "code_block"}
_LINE_END = re.compile(r"\r\n|\n|\r")
_SCHEMES = ("http", "https", "mailto")
_TAGS = {
    *("h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "span", "a"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "em", "strong", "s", "div"),
}
_ATTRIBUTES = {
    **{tag: {"data-c", "class"} for tag in ("h2", "h3", "h4", "h5", "h6", "p", "li", "tr")},
    "pre": {"data-c", "class", "tabindex"},
    "a": {"href", "class"},
    "span": {"class"},
    "div": {"class", "tabindex"},
    "ol": {"start"},
}


def render_markdown(
    text: str, *, offset: int = 0, base_url: str = "", marked: tuple[int, int] | None = None
) -> SafeString:
    """A part of a text that begins at the character `offset`; links are led from `base_url`.

    Blocks with characters of the span `marked` have a class by that name.
    """
    readers = opened_readers()
    if readers is None or len(text) <= RENDER_IN_PLACE.most:
        return mark_safe(_render(text, offset, base_url, marked))  # noqa: S308 (nh3 cleaned it)
    asked = [text, offset, base_url, marked]
    html: str = readers.call(f"{__name__}:render_in_reader", asked).value
    return mark_safe(html)  # noqa: S308


def render_in_reader(asked: Frame) -> Frame:
    """The same, in a reader process."""
    return Frame(_render(*asked.value))


def _render(text: str, offset: int, base_url: str, marked: Sequence[int] | None) -> str:
    parser = _parser()
    tokens = parser.parse(text, {})
    starts = [0, *(found.end() for found in _LINE_END.finditer(text)), len(text)]
    _locate_blocks(tokens, [offset + start for start in starts], marked)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"  # the page's own title is the first
        if token.children:
            token.children = list(_without_pictures(token.children, base_url))
    html = parser.renderer.render(tokens, parser.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=set(_SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("fence", _render_code)
    parser.add_render_rule("code_block", _render_code)
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    return parser


def _render_code(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    language = token.info.split()[0] if token.info.strip() else ""
    place = escape(str(token.attrGet("data-c") or ""))
    code = highlight_code(token.content, language)
    name = "code marked" if token.attrGet("class") else "code"
    return f'<pre class="{name}" tabindex="0" data-c="{place}"><code>{code}</code></pre>'


def highlight_code(code: str, language: str) -> str:
    """Code as HTML with Pygments' classes; in a language that it does not know, as it is."""
    if language and len(code) <= LONGEST_CODE:
        try:
            lexer = get_lexer_by_name(language, stripnl=False)
        except ClassNotFound:
            return escape(code)
        return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))
    return escape(code)


def _locate_blocks(
    tokens: Sequence[Token], starts: Sequence[int], marked: Sequence[int] | None
) -> None:
    for token in tokens:
        if token.type in _LOCATED and token.map and not token.hidden:
            first, last = (starts[min(line, len(starts) - 1)] for line in token.map)
            token.attrSet("data-c", f"{first},{last}")
            if marked and marked[0] < last and first < marked[1]:
                token.attrSet("class", "marked")


def _without_pictures(tokens: Sequence[Token], base_url: str) -> Iterator[Token]:
    """Each picture as a link to it: nothing is loaded from another host."""
    in_link = 0
    for token in tokens:
        if token.type == "image":
            yield from _link_to_picture(token, base_url, in_link=bool(in_link))
            continue
        if token.type == "link_open":
            in_link += 1
            token.attrSet("href", resolve_link(str(token.attrGet("href") or ""), base_url))
            token.attrs.pop("title", None)
        in_link -= token.type == "link_close"
        yield token


def _link_to_picture(token: Token, base_url: str, *, in_link: bool) -> Iterator[Token]:
    name = Token("text", "", 0, content=f"[Picture: {token.content.strip() or 'no title'}]")
    address = resolve_link(str(token.attrGet("src") or ""), base_url)
    if in_link or not address:
        yield name
        return
    yield Token("link_open", "a", 1, attrs={"href": address, "class": "picture-link"})
    yield name
    yield Token("link_close", "a", -1)


def resolve_link(address: str, base_url: str) -> str:
    """Where a link of the text leads: within the library, or out to the web; else nowhere."""
    if address.startswith("quarry://items/"):
        return "/items/" + address.removeprefix("quarry://items/")
    try:
        whole = urljoin(base_url, address) if base_url else address
        return whole if urlsplit(whole).scheme in _SCHEMES else ""
    except ValueError:
        return ""
