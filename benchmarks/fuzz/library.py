"""A library that fills every page, and a row of each kind for requests to name."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.http import run_in_product

Json = dict[str, Any]
Ask = Callable[..., tuple[int, bytes]]

NOTES, MEMORIES = 249, 400
"""More than any page or graph shows."""
EXPORTED = 97
"""Notes of another owner: as much as is exported at once."""

_PEOPLE = """
from django.contrib.auth.models import User
from django.test import Client
from tokens.minting import TokenRequest, mint_token
from tokens.models import Token
owner = Token.objects.get().owner
browser = Client()
browser.force_login(owner)
print("session", browser.cookies["sessionid"].value)
other = User.objects.create_user("other")
for name, person in (("token_id", owner), ("other", other)):
    sets = ["library", "memory", "registry"]
    asked = TokenRequest(name=name, can_write=True, folder_ids=None, toolsets=sets)
    token, secret = mint_token(person, asked)
    print(name, token.pk if name == "token_id" else secret)
"""


def make(ask: Ask, home: Path) -> dict[str, Any]:
    """Its ids, by the names that requests have for them, and who else is there.

    `session` is one of its owner, `other` the token of somebody whose library is exported at once.
    """
    _warm_up(ask)
    people = dict(line.split(" ") for line in run_in_product(home, _PEOPLE) if " " in line)
    other = people["other"]
    tags = [f"tag {number}" for number in range(50)]
    notes = [
        {
            "title": f"Granite {n}",
            "text": f"Granite {n} is cut along its seams. " * 130,
            "tags": tags,
        }
        for n in range(NOTES)
    ]
    for at in range(0, NOTES, 100):
        _made(ask, "ingest/batch", {"entries": notes[at : at + 100]})
    _made(ask, "ingest/batch", {"entries": notes[:EXPORTED]}, token=other)
    last = {"kind": "text", "title": "Slate", "text": "Slate is split. " * 500, "tags": tags}
    item = _made(ask, "ingest", last)["user_item_id"]
    rule = {"title": "Granite", "content": "Granite is cut. " * 60, "tags": tags}
    hub = _made(ask, "memory", rule)["id"]
    for batch in range(MEMORIES // 100):
        named = [{**rule, "title": f"Granite {batch}, {number}"} for number in range(100)]
        _made(ask, "memory/batch", {"entries": [{**each, "related_to": [hub]} for each in named]})
    project = _made(ask, "memory", {**rule, "title": "Plan", "entity_type": "project"})["id"]
    planned = {**rule, "title": "Do it", "entity_type": "task", "project": project}
    task = _made(ask, "memory", planned)["id"]
    document = json.loads(ask("GET", "/api/v1/openapi.json")[1])
    made = {
        path: _made(ask, path, _example(document, path))
        for path in ("sources", "providers", "webhooks")
    }
    # Of another owner, because nobody judges their own.
    skill = _made(ask, "skills", _example(document, "skills"), token=other)
    trace = _example(document, "knowledge")
    trace = {**trace, "unit": {**trace["unit"], "id": "kp:trace:other"}}
    unit = _made(ask, "knowledge", trace, token=other)
    folder = _made(ask, "folders", {"name": f"Quarry {time.time():.3f}"})["id"]
    _, export = ask("POST", "/api/v1/export")
    relations = json.loads(ask("GET", f"/api/v1/items/{hub}/relations")[1])["relations"]
    return {
        **people,
        "item_id": item,
        "entity_id": hub,
        "id": item,
        "folder_id": folder,
        "task_id": task,
        "folder_ids": [folder],
        "target_id": hub,
        "export_id": json.loads(export)["id"],
        "relation_id": relations[0]["id"],
        "skills.item_id": skill["id"],
        "knowledge.item_id": unit["id"],
        "unit_id": unit["id"],
        "agent_id": made["providers"]["agent_id"],
        **{f"{path}_id": made[f"{path}s"]["id"] for path in ("source", "provider", "webhook")},
    }


def _made(ask: Ask, path: str, body: Json, *, token: str = "") -> Json:
    status, answer = ask("POST", f"/api/v1/{path}", json.dumps(body).encode(), token=token)
    if status >= 300:
        raise RuntimeError(answer.decode()[:500])
    made: Json = json.loads(answer)
    return made


def examples(document: Json) -> Json:
    """What a tool takes that no plain word is: a skill and a unit, as the routes' examples."""
    found = {
        name: value
        for path in ("skills", "knowledge")
        for name, value in _example(document, path).items()
    }
    return {**found, "visibility": "private"}


def _example(document: Json, path: str) -> Json:
    body = document["paths"][f"/api/v1/{path}"]["post"]["requestBody"]["content"]
    example: Json = next(iter(body["application/json"]["examples"].values()))["value"]
    return example


def _warm_up(ask: Ask) -> None:
    """Load what is loaded once: the model, the readers, the dictionaries."""
    note = {"kind": "text", "title": "Warm", "text": "Granite is cut along its seams. " * 3000}
    for _ in range(2):
        ask("POST", "/api/v1/ingest", json.dumps(note).encode())
    ask("GET", "/api/v1/search?query=granite")
