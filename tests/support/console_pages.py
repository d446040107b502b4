"""Every page of the console, with ids of one person's own rows in its address."""

import re
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from knowledge.models import Feed, Folder, ImportBatch, Item, Source
from tests.support.routes import every_address
from tokens.models import Token

_OTHERS = ("/admin", "/api/", "/accounts/", "/oauth/", "/.well-known/", "/livez", "/readyz")
_MORE = ("/?q=text", "/?tag=none", "/changes/?show=deleted", "/ask/?q=text", "/items/unknown")
"""Further states of pages, and an error page."""


def console_pages(person: User, browser: Client) -> list[str]:
    """What opens in a browser: addresses of buttons, files and parts are left out."""
    values: dict[str, Any] = {"number": 1, "page": 1}
    for name, model in _MODELS.items():
        values[name] = model._base_manager.filter(owner=person).values_list("pk", flat=True)[0]
    skill = Item.objects.filter(owner=person, type="skill").values_list("pk", flat=True).first()
    found = []
    for template in every_address():
        if template.startswith(_OTHERS) or set(re.findall(r"<(\w+)>", template)) - set(values):
            continue
        mine = {**values, "item_id": skill} if template.startswith("/registry/") else values
        address = template
        for name, value in mine.items():
            address = address.replace(f"<{name}>", str(value))
        answer = browser.get(address)
        is_page = answer.get("Content-Type", "").startswith("text/html") and not answer.streaming
        if answer.status_code == 200 and is_page and b"<html" in answer.content:
            found.append(address)
    return [*found, *_MORE]


_MODELS: dict[str, Any] = {
    "item_id": Item,
    "folder_id": Folder,
    "source_id": Source,
    "feed_id": Feed,
    "batch_id": ImportBatch,
    "token_id": Token,
}
