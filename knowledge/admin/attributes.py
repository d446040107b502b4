"""What an item's type says of it, as people read it."""

from collections.abc import Iterator

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from knowledge.admin.tables import facts, item_page, readable, words_of_name
from knowledge.memory import task_board
from knowledge.memory.task_board import is_overdue
from knowledge.models import Item

_FIRST = ("status", "project", "priority", "assignees", "due_date", "category", "languages")


def attributes_table(item: Item) -> SafeString:
    """What an item's type says of it: what people ask for first, then the rest as it was given."""
    return facts(_pairs(item), empty=f"Nothing more is said of this {item.get_type_display()}.")


def projects_of(items: list[Item]) -> dict[str, Item]:
    """The projects that items name, by their ids, in one query."""
    owners = {item.owner_id for item in items}
    return task_board.projects_of(items, Item.objects.filter(owner__in=owners))


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
