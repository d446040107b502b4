"""One library seen through tokens of every shape, asked over REST and over MCP."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from knowledge.access import Access
from knowledge.api.errors import STATUSES
from knowledge.errors import QuarryError
from knowledge.ingest.adding import add_text
from knowledge.library.items import delete_folder
from knowledge.models import Folder, Item
from mcp_gateway.calls import call_tool
from mcp_gateway.identity import Caller
from tests.support.library import LONG_ENOUGH, Add, Mint, Minted
from tokens.models import Token

MISSING = "11111111-1111-4111-8111-111111111111"
SHAPES = (
    "whole",
    "one_folder",
    "two_folders",
    "none_left",
    "kb_only",
    "kb_only_folder",
    "read_only",
    "expired",
    "revoked",
    "stranger",
)
DEAD = {"none_left", "expired", "revoked"}
SEES = {
    "whole": {"in a", "in b", "in both", "in c", "loose", "kept out", "loose out"},
    "one_folder": {"in a", "in both", "kept out"},
    "two_folders": {"in a", "in b", "in both", "kept out"},
    "kb_only": {"in a", "in b", "in both", "in c", "loose"},
    "kb_only_folder": {"in a", "in both"},
    "read_only": {"in a", "in b", "in both", "in c", "loose", "kept out", "loose out"},
    "stranger": {"theirs"},
}
NOT_IN_KB = {"kept out", "loose out"}


@dataclass(frozen=True)
class World:
    """One library with items in every kind of place, and a stranger's beside it."""

    items: dict[str, Item]
    folders: dict[str, Folder]
    tokens: dict[str, Minted]


def made_world(
    library: Access,
    stranger: User,
    mint: Mint,
    add: Add,
    folder: Callable[[str], Folder],
) -> World:
    """Fill the library, and mint a token of every shape."""
    a, b, c, doomed = (folder(name) for name in ("A", "B", "C", "Doomed"))
    theirs = Access.whole_library(stranger.pk)
    items = {
        "in a": add("in a", "granite from quarry a", a),
        "in b": add("in b", "granite from quarry b", b),
        "in both": add("in both", "granite from both quarries", a, b),
        "in c": add("in c", "granite from quarry c", c),
        "loose": add("loose", "granite from nowhere"),
        "kept out": add("kept out", "granite kept out of the index", a, in_kb=False),
        "loose out": add("loose out", "granite loose and kept out", in_kb=False),
        "theirs": add_text(theirs, title="theirs", text="granite of a stranger" + LONG_ENOUGH),
    }
    tokens = {
        "whole": mint(),
        "one_folder": mint(a),
        "two_folders": mint(a, b),
        "none_left": mint(doomed),
        "kb_only": mint(kb_only=True),
        "kb_only_folder": mint(a, kb_only=True),
        "read_only": mint(write=False),
        "expired": mint(),
        "revoked": mint(),
        "stranger": mint(by=stranger),
    }
    delete_folder(library, doomed.pk)
    Token.objects.filter(pk=tokens["expired"].row.pk).update(expires_at=timezone.now())
    Token.objects.filter(pk=tokens["revoked"].row.pk).revoke()
    return World(items, {"A": a, "B": b, "C": c}, tokens)


def over_rest(token: Minted, method: str, path: str, **sent: Any) -> tuple[str, Any]:
    """`ok` with the body, or the error's code, once its status is the table's."""
    if method == "GET":
        answer = token.client.get(f"/api/v1/{path}", sent)
    else:
        answer = token.client.generic(
            method, f"/api/v1/{path}", json.dumps(sent), content_type="application/json"
        )
    body = json.loads(answer.content or "null")
    if answer.status_code < 400:
        return "ok", body
    assert answer.status_code == STATUSES[body["error"]]
    return body["error"], body["message"]


def over_mcp(token: Minted, tool: str, **arguments: Any) -> tuple[str, Any]:
    try:
        answer = call_tool(Caller(token.secret, edge="mcp"), tool, arguments)
    except QuarryError as error:
        return error.code, error.message
    return "ok", json.loads(answer.model_dump_json())


def scope_of(world: World, shape: str) -> set[str]:
    """The folders that a token of this shape may know of."""
    names = {
        "one_folder": "A",
        "kb_only_folder": "A",
        "two_folders": "AB",
        "stranger": "",
    }.get(shape, "ABC")
    ids: set[UUID] = {world.folders[name].pk for name in names}
    return {str(folder_id) for folder_id in ids}
