"""A web page: its main text as Markdown, what it tells about itself, and what it links to."""

import base64
import codecs
import json
import re
import sys
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from typing import Any
from urllib.parse import urljoin

import lxml.etree
import lxml.html

from knowledge.sources.parsers import page_links, page_markdown

ENOUGH = 250
"""Below so many characters, finding the main text is taken to have failed."""
LOST_OF_MARKED = 0.5
LOST = 0.05
"""Below such a share of what the page shows, too. A part that the page marks as its main one has
little else in it. On 181 articles with known texts this gives F1 0.960: 0.958 without the
fall-back, and 0.930 where half of marked parts with their comments were enough.
"""
LARGE = 20_000
"""Elements; finding the main text among more takes longer than anybody waits."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BLANK_LINE = "\u2424"  # stands for a blank line of code, which would be dropped
_LANGUAGE = "\u2425"  # stands before the language of code, on a line of its own
_FENCE_LANGUAGE = re.compile(rf"(```)?\n?{_LANGUAGE}(.*)\n")
_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-(?:source-)?|brush:\s*)([\w+#.-]{1,30})"
)
_NO_LANGUAGES = {"default", "none", "notranslate", "plain", "plaintext", "text", "txt"}
_FEEDS = ("application/rss+xml", "application/atom+xml")
_MOST_LINKS = 20
_OG_AUDIO = "//meta[starts-with(@property, 'og:audio')][not(@property='og:audio:type')]/@content"
_SOUNDS = {"AudioObject", "MediaObject", "PodcastEpisode"}
_PODCAST = re.compile(
    r"podcast|episode|buzzsprout|libsyn|megaphone|simplecast|transistor|acast", re.IGNORECASE
)
_SOUND_FILE = re.compile(r"\.(?:mp3|m4a|ogg|opus|aac)(?:[?#]|$)", re.IGNORECASE)


def read(request: dict[str, Any]) -> dict[str, Any]:
    """All that is to be known of one page."""
    html = _decode(base64.b64decode(request["body"]), request["charset"])
    document = _document(html)
    if document is None:
        return {"text": "", "visible": 0, "scripts": 0}
    url = request["url"]
    return {
        **_main_text(document, url),
        **_about(document, url),
        **_links(document, url),
        **page_links.read(document, url),
        "scripts": len(document.xpath("//script")),
        "asks_password": bool(document.xpath("//input[@type='password']")),
    }


def _decode(body: bytes, charset: str) -> str:
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    told = _META_CHARSET.search(body[:4096])
    names = (charset, told[1].decode("ascii", "replace") if told else "", "utf-8")
    for name in filter(None, map(_as_browsers_do, names)):
        try:
            return body.decode(name)
        except (LookupError, ValueError):
            continue
    return body.decode("cp1252", "replace")


def _as_browsers_do(charset: str) -> str:
    return "cp1252" if charset.lower() in ("iso-8859-1", "latin-1", "us-ascii") else charset


def _document(html: str) -> Any:
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        document = lxml.html.document_fromstring(
            _NOT_XML.sub("", html).encode(errors="replace"), parser=parser
        )
    except lxml.etree.ParserError:
        return None
    for code in document.iter("pre"):
        _keep_lines(code)
    return document


def _keep_lines(code: Any) -> None:
    """Code as plain text: colours are spans, and a line that is blank must stay one."""
    for line_break in code.xpath(".//br"):
        line_break.tail = f"\n{line_break.tail or ''}"
    lines = code.text_content().rstrip().removeprefix("\n").split("\n")
    tail, language = code.tail, _language(code)
    is_code = bool(language or code.xpath(".//code | .//span"))
    for child in list(code):
        code.remove(child)
    text = "\n".join(line.rstrip() or _BLANK_LINE for line in lines)
    code.text, code.tail = text, tail
    if is_code:  # which trafilatura believes of a span alone, and fences if it has several lines
        code.text = None
        lxml.etree.SubElement(code, "span").text = f"{_LANGUAGE}{language}\n{text}"


def _language(code: Any) -> str:
    """What the code, or what stands closely around it, says by its class."""
    around = islice(code.iterancestors("div", "figure"), 2)
    for element in (code, *code.iter("code"), *around):
        if found := _LANGUAGE_CLASS.search(element.get("class", "")):
            return "" if found[1].lower() in _NO_LANGUAGES else found[1].lower()
    return ""


def _main_text(document: Any, url: str) -> dict[str, Any]:
    found = "" if _is_large(document) else _tidy(_extract(document, url))
    region, is_marked = page_markdown.main_region(deepcopy(document))
    everything = _tidy(page_markdown.to_markdown(region))
    enough = len(everything) * (LOST_OF_MARKED if is_marked else LOST)
    is_lost = len(found) < min(ENOUGH, len(everything)) or len(found) < enough
    return {"text": everything if is_lost else found, "visible": len(everything)}


def _is_large(document: Any) -> bool:
    return any(True for _ in islice(document.iter(), LARGE, None))


def _extract(document: Any, url: str) -> str:
    # Its language guesser costs more to load than all else, and we have our own.
    sys.modules.setdefault("py3langid", None)  # type: ignore[arg-type]
    from trafilatura.core import extract
    from trafilatura.settings import use_config

    config = use_config()
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "0")  # its own last resort drops all structure
    found = extract(
        deepcopy(document),
        url=url,
        config=config,
        output_format="markdown",
        include_comments=False,
        include_tables=True,
        include_formatting=True,
    )
    return found or ""


def _tidy(text: str) -> str:
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n")))
    text = _FENCE_LANGUAGE.sub(lambda mark: f"```{mark[2]}\n" if mark[1] else "", text)
    return text.replace(_BLANK_LINE, "").strip()


def _about(document: Any, url: str) -> dict[str, Any]:
    title, author, date = _metadata(document, url)
    title = title or _first(document, "//title//text()") or _first(document, "//h1//text()")
    published = _first(document, "//meta[@property='article:published_time']/@content")
    return {
        "title": _line(title).removesuffix("¶").rstrip(),
        "author": _line(author),
        "published": published or date,
        "language": _first(document, "/html/@lang | /html/@xml:lang"),
        "canonical": _join_url(url, _first(document, "//link[@rel='canonical']/@href")),
    }


def _metadata(document: Any, url: str) -> tuple[str, str, str]:
    """Title, author and date, from all the places where pages tell them."""
    if _is_large(document):
        return "", _first(document, "//meta[@name='author']/@content"), ""
    from trafilatura.metadata import extract_metadata

    how = {"original_date": True, "extensive_search": False}
    told = extract_metadata(deepcopy(document), url, how)
    return told.title or "", told.author or "", told.date or ""


def _links(document: Any, url: str) -> dict[str, Any]:
    feeds = [
        link.get("href", "")
        for link in document.xpath("//link[@rel='alternate'][@href]")
        if link.get("type", "").strip().lower() in _FEEDS
    ]
    episodes, others = _structured_sounds(document)
    episodes = [*document.xpath(_OG_AUDIO), *episodes]
    sounds = [*others, *document.xpath("//audio/@src | //audio/source/@src")]
    return {
        "feeds": _addresses(feeds, url),
        "episodes": _addresses(episodes, url),
        "sounds": _addresses(sounds, url),
        "sounds_like_podcast": bool(episodes or sounds) or _mentions_podcast(document),
    }


def _mentions_podcast(document: Any) -> bool:
    """Whether it is worth looking into the page's feed for a recording."""
    told = document.xpath(
        "//title//text() | //h1//text() | //link[@rel='alternate']/@href | //iframe/@src |"
        " //link[@rel='alternate']/@title | //meta[@property='og:type']/@content"
    )
    return any(_PODCAST.search(str(words)) for words in told) or any(
        _SOUND_FILE.search(str(address)) for address in document.xpath("//a/@href")
    )


def _addresses(found: list[str], url: str) -> list[str]:
    made = (_join_url(url, address) for address in found[:_MOST_LINKS] if address.strip())
    return list(dict.fromkeys(a for a in made if a.startswith(("http://", "https://"))))


def _join_url(url: str, address: str) -> str:
    try:
        return urljoin(url, address.strip())
    except ValueError:
        return ""


def _structured_sounds(document: Any) -> tuple[list[str], list[str]]:
    """What JSON-LD calls an episode's recording, and what it calls any other."""
    episodes: list[str] = []
    others: list[str] = []
    for script in document.xpath("//script[@type='application/ld+json']"):
        try:
            nodes = list(_nodes(json.loads(script.text or "")))
        except (ValueError, RecursionError):
            continue
        kinds = [_kinds(node) for node in nodes]
        of_episode = any("PodcastEpisode" in names for names in kinds)
        for node, names in zip(nodes, kinds, strict=True):
            if names & _SOUNDS and isinstance(node.get("contentUrl"), str):
                (episodes if of_episode else others).append(node["contentUrl"])
    return episodes, others


def _nodes(data: Any) -> Iterator[dict[str, Any]]:
    waiting = [data]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _kinds(node: dict[str, Any]) -> set[str]:
    told = node.get("@type")
    return set(map(str, told)) if isinstance(told, list) else {str(told)}


def _first(document: Any, path: str) -> str:
    return next((_line(str(found)) for found in document.xpath(path)), "")


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
