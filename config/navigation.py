"""The admin's frame: its sections, in the order people need them, its stylesheet and its icon."""

from typing import Any, cast

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from knowledge.admin.base import ModelAdmin
from knowledge.admin.dashboard import open_quarantines

_SECTIONS: list[tuple[str, list[tuple[str, ...]]]] = [
    (
        "Library",
        [
            ("article", "knowledge", "item", "Everything in the library."),
            ("folder", "knowledge", "folder", "Groups of items, and what tokens can reach."),
            ("notes", "knowledge", "content", "The text of each source, and how far it got."),
            ("upload_file", "knowledge", "upload", "Files that were sent, and those expected."),
        ],
    ),
    (
        "Memory",
        [
            ("psychology", "knowledge", "memory", "What agents have learned and planned."),
            ("view_kanban", "knowledge", "memory", "Tasks by status.", "board"),
            ("share", "knowledge", "relation", "How items are linked."),
            ("travel_explore", "knowledge", "source", "Websites that are crawled."),
            ("rss_feed", "knowledge", "feed", "Feeds that people follow."),
            ("move_to_inbox", "knowledge", "importbatch", "Imports from other programs."),
        ],
    ),
    (
        "Registry",
        [
            ("school", "knowledge", "contribution", "What agents have contributed."),
            ("difference", "knowledge", "version", "Every version of a skill or unit."),
            ("rule", "knowledge", "validation", "How agents judged skills and units."),
            ("gpp_maybe", "knowledge", "quarantine", "Items that wait for your verdict."),
            ("verified", "knowledge", "allowedfinding", "Values that you said are no secrets."),
            ("smart_toy", "knowledge", "agent", "The reputation of each agent."),
            ("hub", "knowledge", "agent", "Who judged whose work.", "graph"),
            ("handyman", "knowledge", "provider", "Services that agents offer."),
        ],
    ),
    (
        "Access",
        [
            ("key", "tokens", "token", "Keys for agents and programs."),
            ("history", "tokens", "event", "Every call that a token made."),
            ("person", "auth", "user", "Accounts, and what they may do."),
            ("mail", "accounts", "invitation", "One-time links that let people in."),
            ("group", "auth", "group", "Groups of people who share."),
        ],
    ),
    (
        "Operations",
        [
            ("conveyor_belt", "knowledge", "job", "Background work that is waiting or has failed."),
            ("webhook", "knowledge", "webhook", "URLs that are notified about items."),
            ("outbox", "knowledge", "delivery", "Notifications, and whether they arrived."),
            ("stairs", "knowledge", "tier", "How many minutes a month people can transcribe."),
            ("data_usage", "knowledge", "usage", "What each person used in each month."),
            ("bookmark", "knowledge", "reservation", "Minutes set aside for each recording."),
            ("scatter_plot", "knowledge", "generation", "Sets of vectors for search by meaning."),
        ],
    ),
]
_VIEWS = {"board": "Task board", "graph": "Reputation graph"}
"""Pages that are not the list of their model, and their names."""


def sections(request: HttpRequest) -> list[dict[str, Any]]:
    """Only what this person may open."""
    shown = [
        {
            "title": title,
            "separator": title != _SECTIONS[0][0],
            "items": [
                _page(request, *page)
                for page in pages
                if _admin_of(*page[1:3]).has_view_permission(request)
            ],
        }
        for title, pages in _SECTIONS
    ]
    return [section for section in shown if section["items"]]


def _page(
    request: HttpRequest, icon: str, app: str, model: str, description: str, view: str = ""
) -> dict[str, Any]:
    """A page of the menu; its list is called what its own title calls it."""
    link = reverse(f"admin:{app}_{model}_{view or 'changelist'}")
    below = request.path.removeprefix(link).strip("/")
    page = {
        "title": _VIEWS.get(view) or _admin_of(app, model).page_name,
        "icon": icon,
        "link": link,
        "description": description,
        "active": request.path.startswith(link) and below not in _VIEWS,
    }
    if model == "quarantine" and (waiting := open_quarantines(request.user)):
        return {**page, "badge": waiting, "badge_variant": "warning"}
    return page


def stylesheet(request: HttpRequest) -> str:
    """The few rules that Unfold's own stylesheet lacks."""
    return static("knowledge/admin.css")


def script(request: HttpRequest) -> str:
    """Names for the few controls that Unfold leaves without one."""
    return static("knowledge/admin.js")


def favicon(request: HttpRequest) -> str:
    return static("knowledge/favicon.svg")


def _admin_of(app: str, model: str) -> ModelAdmin[Any]:
    return cast(ModelAdmin[Any], admin.site._registry[apps.get_model(app, model)])
