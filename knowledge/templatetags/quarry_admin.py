"""The way to a page of the admin, in the words of its menu."""

from typing import Any

from django import template
from django.db.models import Model

register = template.Library()


@register.inclusion_tag("admin/breadcrumb.html", takes_context=True)
def breadcrumb(context: template.Context) -> dict[str, Any]:
    """The menu's section and page, the row if there is one, and what is done with it."""
    parts = _menu_parts(context)
    row = context.get("original") or context.get("object")
    if isinstance(row, Model):
        parts.append({"title": str(row), "link": ""})
    title = str(context.get("title") or "")
    if _is_more(context, title, parts):
        parts.append({"title": title, "link": ""})
    return {"parts": parts or [{"title": title, "link": ""}]}


def _menu_parts(context: template.Context) -> list[dict[str, str]]:
    for section in context.get("sidebar_navigation") or ():
        for page in section["items"]:
            if page.get("active"):
                section_part = {"title": str(section["title"]), "link": ""}
                return [section_part, {"title": page["title"], "link": str(page["link"])}]
    return []


def _is_more(context: template.Context, title: str, parts: list[dict[str, str]]) -> bool:
    """Whether the title adds to the way; that of a row's own form only names its kind."""
    is_form_of_row = context.get("original") and context.get("adminform")
    known = {part["title"].casefold() for part in parts}
    return bool(title) and title.casefold() not in known and not is_form_of_row
