"""The admin's frame: its sections, in the order people need them, its stylesheet and its icon."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

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


def sections(request: HttpRequest) -> list[dict[str, Any]]:
    """Only what this person may open."""
    shown = [
        {
            "title": title,
            "separator": title != _SECTIONS[0][0],
            "items": [
                {
                    "title": name,
                    "icon": icon,
                    "link": reverse(f"admin:{app}_{model}_changelist"),
                    "description": description,
                }
                for name, icon, app, model, description in pages
                if _may_open(request, app, model)
            ],
        }
        for title, pages in _SECTIONS
    ]
    return [section for section in shown if section["items"]]


def stylesheet(request: HttpRequest) -> str:
    """The few rules that Unfold's own stylesheet lacks."""
    return static("knowledge/admin.css")


def favicon(request: HttpRequest) -> str:
    return static("knowledge/favicon.svg")


def _may_open(request: HttpRequest, app: str, model: str) -> bool:
    user = request.user
    return user.has_perm(f"{app}.view_{model}") or user.has_perm(f"{app}.change_{model}")
