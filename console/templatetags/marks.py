"""What the reader and the library show of one's own reading."""

from typing import Any

from django import template

from console.library_query import LibraryQuery
from knowledge.access import Access
from knowledge.models import Colour, Item
from knowledge.reading.highlights import marks_of
from knowledge.reading.progress import FINISHED, progress_of, unfinished_items
from knowledge.reading.saved_searches import list_saved_searches

register = template.Library()

_BEGUN = 0.02
"""The share below which nobody needs to be led back."""


@register.inclusion_tag("console/parts/reading_place.html", takes_context=True)
def reading_place(context: Any, item: Item) -> dict[str, Any]:
    """Where one was in an item of one's own, if one has begun and not finished it."""
    access = Access.whole_library(context["request"].user.pk)
    share = progress_of(access, [item.pk]).get(item.pk, 0.0)
    if not _BEGUN < share < FINISHED:
        return {}
    length = len(item.content.text)
    at = int(share * length)
    return {"percent": round(share * 100), "continue_at": f"{at},{min(at + 1, length)}"}


@register.inclusion_tag("console/parts/marks.html", takes_context=True)
def reading_marks(context: Any, item: Item) -> dict[str, Any]:
    """Highlights and notes of one's own item."""
    request = context["request"]
    if item.owner_id != request.user.pk:
        return {"item": None}
    return {
        "item": item,
        "marks": marks_of(Access.whole_library(request.user.pk), item),
        "colours": Colour.values,
        "length": len(item.content.text),
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("console/parts/saved_searches.html", takes_context=True)
def saved_searches(context: Any) -> dict[str, Any]:
    """Searches that were kept, and a way to keep the one that the page shows."""
    query: LibraryQuery = context["query"]
    return {
        "searches": list_saved_searches(Access.whole_library(context["request"].user.pk)),
        "query": query.turned_to(1).partition("?")[2],
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("console/parts/unfinished.html", takes_context=True)
def continue_reading(context: Any) -> dict[str, Any]:
    """What was begun and not finished."""
    access = Access.whole_library(context["request"].user.pk)
    return {"begun": unfinished_items(access)}
