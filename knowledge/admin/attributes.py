"""What an item's type says of it, as people read it."""

from collections.abc import Iterator
from datetime import date
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.timezone import localdate

from knowledge.admin.tables import facts, item_page, readable, words_of_name
from knowledge.models import Item

_FIRST = ("status", "project", "priority", "assignees", "due_date", "category", "languages")
_FINISHED = ("done", "archived")


def attributes_table(item: Item) -> SafeString:
    """What an item's type says of it: what people ask for first, then the rest as it was given."""
    return facts(_pairs(item), empty=f"Nothing more is said of this {item.get_type_display()}.")


def is_overdue(item: Item) -> bool:
    """A day that is over, for work that is not."""
    due = due_date(item)
    return bool(due and due < localdate() and item.attributes.get("status") not in _FINISHED)


def due_date(item: Item) -> date | None:
    try:
        return date.fromisoformat(str(item.attributes.get("due_date") or ""))
    except ValueError:
        return None


def projects_of(items: list[Item]) -> dict[str, Item]:
    """The projects that items name, by their ids, in one query."""
    named = {_as_uuid(item.attributes.get("project")) for item in items}
    owners = {item.owner_id for item in items}
    found = Item.objects.filter(pk__in=named - {None}, owner__in=owners).select_related("content")
    return {str(project.pk): project for project in found.defer("content__text")}


def _pairs(item: Item) -> Iterator[tuple[str, object]]:
    attributes = item.attributes
    names = [name for name in _FIRST if name in attributes]
    names += [name for name in attributes if name not in _FIRST]
    for name in names:
        yield capfirst(words_of_name(name)), _value(item, name)


def _value(item: Item, name: str) -> SafeString | str:
    value = item.attributes[name]
    if name == "project" and (project := projects_of([item]).get(str(value))):
        return item_page(project)
    if name == "due_date" and is_overdue(item):
        return format_html('{} <span class="quarry-bad">overdue</span>', value)
    return readable(value)


def _as_uuid(value: object) -> UUID | None:
    try:
        return UUID(str(value))
    except ValueError:
        return None
