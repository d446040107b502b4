"""Memory as agents write it, over either edge, with all that a refusal says."""

import json
from typing import Any
from uuid import UUID

from knowledge.access import Access
from knowledge.errors import QuarryError
from knowledge.memory.remembering import add
from knowledge.models import Item, Relation
from mcp_gateway.calls import call_tool
from mcp_gateway.identity import Caller
from tests.support.library import Minted
from tests.support.undo import snapshot

EDGES = ("rest", "mcp")
Said = tuple[str, dict[str, Any]]
"""`ok` and the answer, or an error's code and all its details."""


def remembered(edge: str, token: Minted, **asked: Any) -> Said:
    if edge == "mcp":
        return by_mcp(token, "add", **asked)
    return by_rest(token, "POST", "memory", **asked)


def managed(edge: str, token: Minted, action: str, task_id: object, data: object = None) -> Said:
    given = {} if data is None else {"data": data}
    if edge == "mcp":
        return by_mcp(token, "manage", action=action, entity_id=str(task_id), **given)
    return by_rest(token, "POST", f"tasks/{task_id}/moves", action=action, **given)


def by_rest(token: Minted, method: str, path: str, **sent: Any) -> Said:
    answer = token.client.generic(
        method, f"/api/v1/{path}", json.dumps(sent), content_type="application/json"
    )
    body = json.loads(answer.content or "{}")
    return ("ok", body) if answer.status_code < 400 else (body["error"], body)


def by_mcp(token: Minted, tool: str, **arguments: Any) -> Said:
    try:
        answer = call_tool(Caller(token.secret, edge="mcp"), tool, arguments)
    except QuarryError as error:
        return error.code, {"message": error.message, **error.details}
    return "ok", json.loads(answer.model_dump_json())


def memory(access: Access, title: str, content: str = "", **how: Any) -> Item:
    return add(access, title=title, content=content or title, **how).item


def project(access: Access, title: str = "A project") -> Item:
    return memory(access, title, f"{title}: what it is for", entity_type="project")


def task(access: Access, title: str, of: Item | UUID, **how: Any) -> Item:
    return memory(
        access, title, entity_type="task", project=of.pk if isinstance(of, Item) else of, **how
    )


def everything() -> dict[str, Any]:
    """All there is with its relations."""
    return {**snapshot(), "Relation": list(Relation.objects.order_by("pk").values())}
