"""A page written down plainly: all that it shows, with its structure, in Markdown."""

import re
from typing import Any

_UNSEEN = "//script|//style|//noscript|//template|//head|//svg|//iframe|//select|//button|//dialog"
_AROUND = "//nav|//header[not(ancestor::article or ancestor::main)]|//footer|//aside"
_BESIDE = re.compile(
    r"(^|[\s_-])(sidebar|navbar|nav|menu|breadcrumbs?|footer|cookies?|consent|banner|share|toc"
    r"|sharing|social|comments?|disqus|related|recommend(ed|ations?)?|newsletter|subscribe|promo"
    r"|advert\w*|popular|trending)([\s_-]|$)",
    re.IGNORECASE,
)
_MAIN = ("//main", "//*[@role='main']", "//article")
_BLOCKS = {
    *("ul", "ol", "table", "pre", "hr", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("p", "div", "section", "article", "main", "body", "html", "blockquote", "figure", "dl", "dt"),
    *("dd", "address", "fieldset", "form", "details", "summary", "figcaption", "center", "header"),
}
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_PILCROW = re.compile(r"\s*[¶#]$")


def main_region(document: Any) -> tuple[Any, bool]:
    """The part that holds the page's own text, and whether the page marks it as that."""
    for unseen in document.xpath(_UNSEEN):
        unseen.drop_tree()
    for path in _MAIN:
        marked = document.xpath(path)
        if len(marked) == 1 and marked[0].text_content().strip():
            _drop_beside(marked[0])
            return marked[0], True
    for around in document.xpath(_AROUND):
        around.drop_tree()
    _drop_beside(document)
    bodies = document.xpath("//body")
    return (bodies[0] if bodies else document), False


def _drop_beside(region: Any) -> None:
    """Leave out menus, comments and the like, by their class: an id may be a heading's name."""
    for beside in region.xpath(".//*[@class][self::div or self::ul or self::section]"):
        if _BESIDE.search(beside.get("class")):
            beside.drop_tree()


def to_markdown(element: Any) -> str:
    """Everything in the element, as Markdown."""
    blocks: list[str] = []
    _write(element, blocks)
    return "\n\n".join(block for block in blocks if block)


def _write(element: Any, blocks: list[str]) -> None:
    """Adds the element's blocks; words between blocks are blocks of their own."""
    loose = [element.text or ""]
    for child in element:
        if not isinstance(child.tag, str):
            continue
        if _is_block(child):
            blocks.append(_line("".join(loose)))
            loose = []
            _write_block(child, blocks)
        else:
            loose.append("\n" if child.tag == "br" else _inline(child))
        loose.append(child.tail or "")
    blocks.append(_line("".join(loose)))


def _is_block(element: Any) -> bool:
    return element.tag in _BLOCKS


def _write_block(element: Any, blocks: list[str]) -> None:
    if element.tag in _HEADINGS:
        words = _PILCROW.sub("", _line(_inline(element)))
        blocks.append(f"{_HEADINGS[element.tag]} {words}" if words else "")
    elif element.tag == "pre":
        blocks.append(f"```\n{element.text_content().strip(chr(10))}\n```")
    elif element.tag in ("ul", "ol"):
        blocks.append(_list(element, depth=0))
    elif element.tag == "table" and len(element.xpath(".//td | .//th")) > 1:
        blocks.append(_table(element))
    else:
        _write(element, blocks)


def _list(element: Any, *, depth: int) -> str:
    lines = []
    for number, item in enumerate(element.iterchildren("li"), start=1):
        inner = item.xpath("./ul | ./ol")
        words = _line(_inline(item, without=("ul", "ol")))
        mark = f"{number}." if element.tag == "ol" else "-"
        if words:
            lines.append(f"{'  ' * depth}{mark} {words}")
        lines += [_list(child, depth=depth + 1) for child in inner]
    return "\n".join(line for line in lines if line.strip())


def _table(element: Any) -> str:
    rows = [
        [_line(_inline(cell)).replace("|", "\\|") for cell in row.iterchildren("td", "th")]
        for row in element.iter("tr")
    ]
    rows = [row for row in rows if any(row)]
    if not rows:
        return ""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _inline(element: Any, *, without: tuple[str, ...] = ()) -> str:
    """The words in it; short code is marked, so that it is found as it is written."""
    if element.tag == "code" and len(element) == 0 and element.text:
        return f"`{element.text}`"
    words = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in without:
            words.append("\n" if child.tag == "br" else _inline(child))
            words.append(" " if _is_block(child) else "")
        words.append(child.tail or "")
    return "".join(words)


def _line(words: str) -> str:
    return " ".join(words.split())
