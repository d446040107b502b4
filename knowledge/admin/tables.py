"""Small tables on the page of a row. Whatever is put in a cell is escaped."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.admin.utils import quote
from django.db.models import Model
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.timezone import localtime

from knowledge.models import Item

_FRAME = '<div class="quarry-table" tabindex="0"><table>{}<tbody>{}</tbody></table></div>'

_PLAIN = (str, int, float)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> SafeString:
    """Rows under their headings; on a phone each cell stands beside the heading it has."""
    cells = '<td data-label="{}">{}</td>'
    made = (
        (format_html_join("", cells, zip(headings, map(_cell, row), strict=True)),) for row in rows
    )
    shown = format_html_join("", "<tr>{}</tr>", made)
    if not shown:
        return format_html("<p>{}</p>", empty)
    head = format_html_join("", '<th scope="col">{}</th>', ((name,) for name in headings))
    return format_html(_FRAME, format_html("<thead><tr>{}</tr></thead>", head), shown)


def _cell(value: object) -> object:
    return moment(value) if isinstance(value, datetime) else value


def moment(at: datetime | None) -> str:
    """A date and time as every page of the admin writes it, with its zone."""
    return date_format(localtime(at), "DATETIME_FORMAT") if at else ""


def facts(pairs: Iterable[tuple[str, object]], *, empty: str) -> SafeString:
    """Names and what they stand for, a row for each."""
    row = '<tr><th scope="row">{}</th><td>{}</td></tr>'
    shown = format_html_join("", row, pairs)
    return format_html(_FRAME, "", shown) if shown else format_html("<p>{}</p>", empty)


def readable(value: Any) -> SafeString | str:
    """A value of JSON as people write it; what has parts of its own is set out on lines."""
    if value is None or value == "" or value == [] or value == {}:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and all(isinstance(part, _PLAIN) for part in value):
        return ", ".join(map(str, value))
    if isinstance(value, dict) and all(isinstance(part, _PLAIN) for part in value.values()):
        return ", ".join(f"{words_of_name(name)}: {part}" for name, part in value.items())
    if isinstance(value, dict | list):
        return format_html('<pre class="quarry-text">{}</pre>', pretty(value))
    return str(value)


def words_of_name(name: str) -> str:
    return name.replace("_", " ")


def pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def link(address: str, text: object) -> SafeString:
    return format_html('<a class="text-link" href="{}">{}</a>', address, text)


def page_of(row: Model, text: object = "") -> SafeString:
    """The row, as a link to its page."""
    opts = row._meta
    address = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[quote(row.pk)])
    return link(address, Truncator(str(text or row)).chars(80))


def token_page(token_id: UUID | None) -> SafeString | str:
    """A link to the token that did something, if a token did it."""
    if token_id is None:
        return "no token: a person did it"
    return link(reverse("admin:tokens_token_change", args=[token_id]), "the token that did it")


def item_page(item: Item) -> SafeString:
    """An item's title, whatever kind of page it was loaded for, as a link to all about it."""
    address = reverse("admin:knowledge_item_change", args=[item.pk])
    return link(address, Truncator(item.title).chars(80))
