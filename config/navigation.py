"""The admin's frame: its sections, in the order people need them, its stylesheet and its icon."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from knowledge.admin.dashboard import open_quarantines

_SECTIONS = [
    (
        "Library",
        [
            ("Items", "article", "knowledge", "item", "What is kept, and what search finds."),
            ("Folders", "folder", "knowledge", "folder", "Shelves, and what tokens reach."),
            ("Contents", "notes", "knowledge", "content", "What each source said."),
            ("Uploads", "upload_file", "knowledge", "upload", "Files on their way, and kept."),
        ],
    ),
    (
        "Memory",
        [
            ("Memory", "psychology", "knowledge", "memory", "What agents remember."),
            ("Task board", "view_kanban", "knowledge", "memory", "Tasks by where they stand."),
            ("Relations", "share", "knowledge", "relation", "How items stand to each other."),
            ("Sources", "travel_explore", "knowledge", "source", "Sites that are crawled."),
        ],
    ),
    (
        "Registry",
        [
            ("Skills and units", "school", "knowledge", "contribution", "What agents share."),
            ("Versions", "difference", "knowledge", "version", "Each as it was contributed."),
            ("Validations", "rule", "knowledge", "validation", "What agents say of them."),
            ("Quarantine", "gpp_maybe", "knowledge", "quarantine", "Held back until you rule."),
            ("Allowed findings", "verified", "knowledge", "allowedfinding", "No secrets, you say."),
            ("Agents", "smart_toy", "knowledge", "agent", "Reputation, and whom you trust."),
            ("Reputation graph", "hub", "knowledge", "agent", "Who vouches for whom."),
            ("Providers", "handyman", "knowledge", "provider", "What agents offer."),
        ],
    ),
    (
        "Access",
        [
            ("Tokens", "key", "tokens", "token", "Mint, look up, revoke."),
            ("Activity", "history", "tokens", "event", "What each token did."),
            ("People", "person", "auth", "user", "Owners of libraries."),
            ("Organizations", "group", "auth", "group", "People who share."),
        ],
    ),
    (
        "Running",
        [
            ("Jobs", "conveyor_belt", "knowledge", "job", "Work that waits or has failed."),
            ("Webhooks", "webhook", "knowledge", "webhook", "Addresses that are told of items."),
            ("Deliveries", "outbox", "knowledge", "delivery", "How telling them went."),
            ("Tiers", "stairs", "knowledge", "tier", "Minutes that people have a month."),
            ("Usage", "data_usage", "knowledge", "usage", "Allowances used by month."),
            ("Reservations", "bookmark", "knowledge", "reservation", "Minutes, set aside or used."),
            ("Embeddings", "scatter_plot", "knowledge", "generation", "Sets of vectors."),
        ],
    ),
]
_OTHER_VIEWS = {"Task board": "board", "Reputation graph": "graph"}
"""Pages that are not the list of their model."""


def sections(request: HttpRequest) -> list[dict[str, Any]]:
    """Only what this person may open."""
    shown = [
        {
            "title": title,
            "separator": title != _SECTIONS[0][0],
            "items": [
                _page(request, name, icon, f"admin:{app}_{model}", description)
                for name, icon, app, model, description in pages
                if _may_open(request, app, model)
            ],
        }
        for title, pages in _SECTIONS
    ]
    return [section for section in shown if section["items"]]


def _page(
    request: HttpRequest, name: str, icon: str, pages: str, description: str
) -> dict[str, Any]:
    link = reverse(f"{pages}_{_OTHER_VIEWS.get(name, 'changelist')}")
    below = request.path.removeprefix(link).strip("/")
    page = {
        "title": name,
        "icon": icon,
        "link": link,
        "description": description,
        "active": request.path.startswith(link) and below not in _OTHER_VIEWS.values(),
    }
    if name == "Quarantine" and (waiting := open_quarantines()):
        return {**page, "badge": waiting, "badge_variant": "warning"}
    return page


def stylesheet(request: HttpRequest) -> str:
    """The few rules that Unfold's own stylesheet lacks."""
    return static("knowledge/admin.css")


def favicon(request: HttpRequest) -> str:
    return static("knowledge/favicon.svg")


def _may_open(request: HttpRequest, app: str, model: str) -> bool:
    user = request.user
    return user.has_perm(f"{app}.view_{model}") or user.has_perm(f"{app}.change_{model}")
