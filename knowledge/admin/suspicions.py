"""What the screening suspects in an item, shown where it stands."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from knowledge.admin.tables import table
from knowledge.models import Item, Version
from knowledge.screening import screen

AROUND = 160
"""Characters of the text to either side of what is suspected."""
MOST_SHOWN = 50
_CONTEXT = '<p class="quarry-context">{}{}<mark>{}</mark>{}{}</p>'


def findings_table(findings: Iterable[Mapping[str, Any]], *, empty: str) -> SafeString:
    """The findings; a finding of a secret shows the fingerprint by which it can be allowed."""
    names = ("rule", "sentence", "path", "fingerprint")
    rows = [[found.get(name, "") for name in names] for found in findings]
    return table(["Rule", "Why", "Where", "Fingerprint"], rows, empty=empty)


def suspicions(item: Item) -> SafeString:
    """The suspected words of an item as it is now, each in its context."""
    shown = format_html_join("", "<li><p>{}: {} ({})</p>{}</li>", _in_context(item))
    if not shown:
        return format_html("<p>{}</p>", "The screening suspects nothing in it as it is now.")
    return format_html('<ul class="quarry-findings">{}</ul>', shown)


def _in_context(item: Item) -> Iterator[tuple[object, ...]]:
    left = MOST_SHOWN
    for where, text in _texts(item):
        for finding in screen(text).injections[:left]:
            left -= 1
            marked = _mark_passage(text, finding.start, finding.end)
            yield where, finding.sentence, finding.rule, marked


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    """Every text that people and agents wrote of an item, by its name."""
    yield "title", item.title
    yield "tags", "\n".join(item.tags)
    yield from _strings(item.attributes, "attributes")
    version = Version.objects.filter(item=item).order_by("-number").first()
    if version is None:
        yield "text", item.content.text
    else:  # its text is made of these
        document = {name: part for name, part in version.document.items() if name != "body"}
        yield from _strings(document, f"version {version.number}")
        yield from _strings(version.files, f"files of version {version.number}")


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _strings(inner, f"{path} › {name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield from _strings(inner, f"{path} › {number}")


def _mark_passage(text: str, start: int, end: int) -> SafeString:
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    return format_html(
        _CONTEXT,
        "…" if first else "",
        text[first:start],
        text[start:end],
        text[end:last],
        "…" if last < len(text) else "",
    )
