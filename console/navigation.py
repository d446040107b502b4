"""The console's menu, and what the frame of every page needs."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

THEMES = ("system", "light", "dark")
THEME_COOKIE = "quarry_theme"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the menu; its icon is the symbol of that name in icons.svg."""

    title: str
    url_name: str
    icon: str
    key: str
    """Pressed after `g`, it leads there."""


ENTRIES = (
    Entry("Library", "console:library", "library", "l"),
    Entry("Add", "console:add", "add", "a"),
    Entry("Folders", "console:folders", "folder", "f"),
    Entry("Sources", "console:sources", "source", "s"),
    Entry("Memory", "console:memory", "memory", "m"),
    Entry("Registry", "console:registry", "registry", "r"),
    Entry("Ask", "console:ask", "ask", "k"),
    Entry("Connections", "console:connections", "connection", "c"),
    Entry("Changes", "console:changes", "undo", "u"),
    Entry("Settings", "console:settings", "settings", ","),
)


class Frame:
    """What surrounds a page; worked out only where a template asks for it."""

    themes = THEMES

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def menu(self) -> list[dict[str, Any]]:
        return menu_of(self._request.path)

    @property
    def theme(self) -> str:
        """What this browser has chosen; the server draws it, so that nothing flashes."""
        theme = self._request.COOKIES.get(THEME_COOKIE, "")
        return theme if theme in THEMES else "system"


def frame(request: HttpRequest) -> dict[str, Frame]:
    """For every template, as `console`."""
    return {"console": Frame(request)}


def menu_of(path: str) -> list[dict[str, Any]]:
    """All entries; the one with the longest matching address is open."""
    links = [(entry, reverse(entry.url_name)) for entry in ENTRIES]
    matching = [
        link for _, link in links if path == link or (link != "/" and path.startswith(link))
    ]
    is_reader = path.startswith("/items/")
    current = max(matching, key=len, default="/" if is_reader else "")
    return [
        {"title": entry.title, "icon": entry.icon, "key": entry.key, "link": link}
        | {"is_current": link == current}
        for entry, link in links
    ]
