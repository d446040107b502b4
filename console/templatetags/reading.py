"""How items and hits are written on a page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from console.reading import Occurrence, Occurrences
from knowledge.models import Content, Item
from knowledge.retrieval.search import Hit
from knowledge.text.places import link_to

register = template.Library()

_SYNTAX = re.compile(r"^#{1,6} |\*\*|```\w*|^[\s:|-]*\|[\s:|-]*$|\|", re.MULTILINE)
ICONS = {
    "webpage": "web",
    "pdf": "pdf",
    "image": "picture",
    "text": "text",
    "markdown": "text",
    "audio": "sound",
    "podcast": "sound",
    "video": "video",
    "youtube": "video",
}
TYPE_ICONS = {"document": "", "skill": "registry"}


@register.filter
def passage(hit: Hit) -> SafeString:
    """The passage with the words that were found marked."""
    return mark_safe("".join(_marked(hit)))  # noqa: S308 (every piece is escaped)


def _marked(hit: Hit) -> Iterator[str]:
    at = 0
    for start, end in hit.highlights:
        yield _prose(hit.passage[at:start])
        yield f"<mark>{escape(hit.passage[start:end])}</mark>"
        at = end
    yield _prose(hit.passage[at:])


def _prose(piece: str) -> str:
    """A piece without the signs of Markdown, which only disturb in two or three lines."""
    return escape(_SYNTAX.sub(" ", piece))


@register.filter
def place(hit: Hit) -> str:
    """The address of the very place in the reader; `at` marks it without scripts too."""
    start, end = hit.passage_span
    return f"{reverse('console:item', args=[hit.item.pk])}?at={start},{end}#{fragment(hit)}"


def fragment(hit: Hit) -> str:
    where = hit.locator
    if where.page is not None:
        return f"page={where.page}"
    if where.start_sec is not None:
        return f"t={int(where.start_sec)}"
    return f"char={hit.passage_span[0]},{hit.passage_span[1]}"


@register.filter
def place_of_words(each: Occurrence, words: str) -> str:
    """The address of a place that has the words looked for."""
    at = f"{each.start},{each.end}"
    return f"?{urlencode({'at': at, 'find': words})}#char={at}"


@register.filter
def spans_of(places: Sequence[Occurrence]) -> list[tuple[int, int]]:
    return [place.span for place in places]


@register.filter
def found_in_words(found: Occurrences, most: int) -> str:
    """Which of how many: 2 of 7."""
    count = len(found.places)
    all_of_them = f"the first {most}" if count == most else str(count)
    if found.number:
        return f"{found.number} of {all_of_them}"
    return f"{all_of_them} place{'' if count == 1 else 's'}".capitalize()


@register.filter
def where(hit: Hit) -> str:
    """Page or time of a hit, in words."""
    locator = hit.locator
    if locator.page is not None:
        return f"page {locator.page}"
    return clock(locator.start_sec) if locator.start_sec is not None else ""


@register.filter
def clock(seconds: float | None) -> str:
    """Seconds as players show them: 1:23, 1:02:03."""
    if seconds is None:
        return ""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


@register.filter
def icon_of(item: Item) -> str:
    if item.type != "document":
        return TYPE_ICONS.get(item.type, "memory")
    return ICONS.get(item.content.kind, "document")


@register.filter
def host(url: str | None) -> str:
    return urlsplit(url or "").netloc.removeprefix("www.")


@register.filter
def ago(moment: datetime) -> SafeString:
    """How long ago, in one short word, with the whole date beside it."""
    whole = moment.strftime("%Y-%m-%d %H:%M UTC")
    stamp = moment.isoformat(timespec="seconds")
    return format_html('<time datetime="{}" title="{}">{}</time>', stamp, whole, _age(moment))


def _age(moment: datetime) -> str:
    seconds = (timezone.now() - moment).total_seconds()
    for size, letter in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            count = int(seconds // size)
            if letter == "d" and count > 30:
                return f"{moment.day} {moment:%b %Y}"
            return f"{count} {letter}"
    return "now"


@register.filter
def elsewhere(content: Content, second: float) -> str:
    """Where on the web a recording that is not kept here plays from this second on."""
    address = link_to(
        content.url, content.kind, media_url=content.media_url, page=None, start_sec=second
    )
    return address if address.startswith(("http://", "https://")) else ""


@register.filter
def at_key(named: Mapping[Any, Any], key: Any) -> Any:
    return named.get(key, "")


@register.filter
def is_unfinished(content: Content) -> bool:
    return not content.is_ready


@register.filter
def in_words(name: str) -> str:
    """A word of the model as people write it: reasoning_trace, depends_on."""
    return name.replace("_", " ")


@register.filter
def whole(seconds: float) -> int:
    return int(seconds)


@register.filter
def plain(seconds: float) -> str:
    """For scripts: with a point, whatever the language of the page."""
    return f"{seconds:.2f}"
