"""The table of both edges: every ask, how each edge is asked, and what they must agree on."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

from mcp_types import (
    CompleteRequestParams,
    CompletionArgument,
    PromptReference,
    ReadResourceRequestParams,
    ResourceTemplateReference,
)

from knowledge.errors import QuarryError
from knowledge.exchange.actors import make_export
from knowledge.models import Folder
from mcp_gateway import calls
from mcp_gateway.identity import Caller
from mcp_gateway.resources import FOLDERS, ITEM_PREFIX, ITEM_TEMPLATE
from tests.support.edges import MISSING, World, over_mcp, over_rest
from tests.support.library import LONG_ENOUGH, Minted
from tokens.models import Token, Toolset

Said = tuple[str, Any]
"""`ok` and the answer, or an error's code and its sentence."""

Call = Callable[[World, Minted, str], Said]
"""One call, of a token, about one item where the ask is about one."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One row: what is asked over REST, and over MCP where that has it too."""

    covers: tuple[str, ...]
    rest: Call | None = None
    mcp: Call | None = None
    agree: Callable[[Any], Any] | None = None
    """What of the answers must be the same; None where each edge has a form of its own."""

    writes: bool = False
    is_about_an_item: bool = False
    allowed: frozenset[str] = frozenset({"ok"})
    """How it may end for a token that may ask for it, about what it sees."""

    refused: dict[str, str] | None = None
    """Shapes of tokens that may not ask for it at all, and the code that says so."""


def rest(method: str, path: str, **sent: Any) -> Call:
    return lambda world, token, item: over_rest(token, method, path.format(item=item), **sent)


def mcp(tool: str, **arguments: Any) -> Call:
    def call(world: World, token: Minted, item: str) -> Said:
        given = {name: item if value == "{item}" else value for name, value in arguments.items()}
        return over_mcp(token, tool, **given)

    return call


def chatgpt(tool: str, **arguments: Any) -> Call:
    return shown(Toolset.CHATGPT, tool, **arguments)


def shown(toolset: Toolset, tool: str, **arguments: Any) -> Call:
    """By a token that is shown other tools, and is otherwise the same."""

    def call(world: World, token: Minted, item: str) -> Said:
        Token.objects.filter(pk=token.row.pk).update(toolsets=[toolset])
        try:
            return mcp(tool, **arguments)(world, token, item)
        finally:
            Token.objects.filter(pk=token.row.pk).update(toolsets=token.row.toolsets)

    return call


def gateway(work: Callable[[Caller, str], Any]) -> Call:
    """What MCP has beside tools."""

    def call(world: World, token: Minted, item: str) -> Said:
        try:
            return "ok", json.loads(work(Caller(token.secret, edge="mcp"), item).model_dump_json())
        except QuarryError as error:
            return error.code, error.message

    return call


def address(uri: str) -> ReadResourceRequestParams:
    return ReadResourceRequestParams(uri=uri)


def completed(reference: Any, argument: str, value: str) -> Call:
    params = CompleteRequestParams(
        ref=reference, argument=CompletionArgument(name=argument, value=value)
    )
    return gateway(lambda caller, item: calls.complete(caller, params))


def in_folder(method: str, path: str, place: str, **sent: Any) -> Call:
    """About a folder of the owner's, which not every token reaches."""

    def call(world: World, token: Minted, item: str) -> Said:
        folder = str(world.folders[place].pk)
        return over_rest(token, method, path.format(item=item, folder=folder), **sent)

    return call


def filed_in_own(world: World, token: Minted, item: str) -> Said:
    reached = [str(folder.pk) for folder in token.row.folders.all()]
    own = reached or [
        str(pk) for pk in Folder.objects.filter(owner=token.row.owner).values_list("pk", flat=True)
    ]
    return over_rest(token, "POST", f"items/{item}/folders", folder_ids=own[:1] or [item])


def exported(world: World, token: Minted, item: str) -> Said:
    """Every word of the archive, unpacked."""
    answer = token.client.get("/api/v1/export")
    if answer.status_code != 200:
        return answer.json()["error"], answer.json()["message"]
    with ZipFile(io.BytesIO(answer.getvalue())) as archive:
        return "ok", {name: archive.read(name).decode() for name in archive.namelist()}


def exported_by_job(world: World, token: Minted, item: str) -> Said:
    """The same, of the file that a job makes."""
    begun = token.client.post("/api/v1/export")
    if begun.status_code != 202:
        return begun.json()["error"], begun.json()["message"]
    make_export.fn(begun.json()["id"])
    made = token.client.get(f"/api/v1/exports/{begun.json()['id']}").json()
    link = urlsplit(made["file_url"])
    answer = token.client.get(f"{link.path}?{link.query}")
    with ZipFile(io.BytesIO(answer.getvalue())) as archive:
        return "ok", {name: archive.read(name).decode() for name in archive.namelist()}


def imported(world: World, token: Minted, item: str) -> Said:
    answer = token.client.generic(
        "POST", "/api/v1/import", "no archive", content_type="application/zip"
    )
    return answer.json()["error"], answer.json()["message"]


def titles(body: Any) -> list[str]:
    return [row["title"] for row in body["items"]]


def without_ids(body: Any) -> Any:
    return {name: value for name, value in body.items() if not name.endswith("_id")}


def shared_with_mcp(body: Any) -> Any:
    names = ("title", "text", "tags", "folder_ids", "index_status", "transcription_status")
    return {name: body[name] for name in names}


def without_counters(body: Any) -> Any:
    limits = {ask: left["limit"] for ask, left in body["limits"].items()}
    return {**body, "limits": limits, "expires_at": None}


NOTE = {"kind": "text", "title": "new", "text": "granite brand new" + LONG_ENOUGH}
FILE = {"filename": "a.txt", "mime_type": "text/plain", "size": 5}
SCOPED = dict.fromkeys(("one_folder", "two_folders", "kb_only_folder"), "capability_denied")
HOOK = {**SCOPED, "kb_only": "capability_denied", "read_only": "capability_denied"}
WORDS = {"query": "granite quarry", "limit": 20}

ASKS: dict[str, Ask] = {
    "search": Ask(
        covers=("search", "search_knowledge_base"),
        rest=rest("GET", "search", **WORDS),
        mcp=mcp("search_knowledge_base", **WORDS),
        agree=lambda body: body,
    ),
    "search by body, explained": Ask(
        covers=("search_by_body",),
        rest=rest("POST", "search", **WORDS, explain=True, mode="keyword"),
        mcp=mcp("search_knowledge_base", **WORDS, explain=True, mode="keyword"),
        agree=lambda body: body,
    ),
    "search in a folder": Ask(
        covers=(),
        rest=in_folder("GET", "search?query=granite&folder_id={folder}", "B"),
        mcp=lambda world, token, item: over_mcp(
            token, "search_knowledge_base", query="granite", folder_id=str(world.folders["B"].pk)
        ),
        agree=lambda body: body,
        allowed=frozenset({"ok", "not_found"}),
    ),
    "search as ChatGPT": Ask(
        covers=("tool search",),
        rest=rest("GET", "search", query="granite quarry", limit=20),
        mcp=chatgpt("search", query="granite quarry"),
        agree=lambda body: sorted({row["title"] for row in body["results"]}),
    ),
    "list items": Ask(
        covers=("list_items", "list_recent"),
        rest=rest("GET", "items", per_page=100),
        mcp=mcp("list_recent", limit=100),
        agree=titles,
    ),
    "list items of a title": Ask(covers=(), rest=rest("GET", "items", q="in", per_page=1)),
    "list items of a folder": Ask(
        covers=(),
        rest=in_folder("GET", "items?folder_id={folder}", "C"),
        allowed=frozenset({"ok", "not_found"}),
    ),
    "read an item": Ask(
        covers=("get_item", "tool get_item"),
        rest=rest("GET", "items/{item}"),
        mcp=mcp("get_item", item_id="{item}"),
        agree=shared_with_mcp,
        is_about_an_item=True,
    ),
    "read an item as ChatGPT": Ask(
        covers=("fetch",),
        rest=rest("GET", "items/{item}"),
        mcp=chatgpt("fetch", id="{item}"),
        agree=lambda body: (body["title"], body["text"]),
        is_about_an_item=True,
    ),
    "read an item by its address": Ask(
        covers=("resources/read", "item"),
        rest=rest("GET", "items/{item}"),
        mcp=gateway(
            lambda caller, item: calls.read_resource(caller, address(f"{ITEM_PREFIX}{item}"))
        ),
        is_about_an_item=True,
    ),
    "download an item that has no file": Ask(
        covers=("download_original",),
        rest=rest("GET", "items/{item}/original"),
        is_about_an_item=True,
        allowed=frozenset({"not_found"}),
    ),
    "list addresses": Ask(
        covers=("resources/list",),
        mcp=gateway(lambda caller, item: calls.list_resources(caller, None)),
    ),
    "complete an item": Ask(
        covers=("completion/complete",),
        mcp=completed(ResourceTemplateReference(uri=ITEM_TEMPLATE), "id", ""),
    ),
    "complete a folder": Ask(
        covers=(), mcp=completed(PromptReference(name="summarise_folder"), "folder", "")
    ),
    "add a text": Ask(
        covers=("ingest", "add_to_knowledge"),
        rest=rest("POST", "ingest", **NOTE),
        mcp=mcp("add_to_knowledge", **NOTE),
        agree=without_ids,
        writes=True,
    ),
    "add what may not be added": Ask(
        covers=(),
        rest=rest("POST", "ingest", **{**NOTE, "text": "short"}),
        mcp=mcp("add_to_knowledge", **{**NOTE, "text": "short"}),
        agree=lambda body: body,
        writes=True,
        allowed=frozenset({"invalid_body"}),
    ),
    "add many texts": Ask(
        covers=("ingest_batch",),
        rest=rest("POST", "ingest/batch", entries=[NOTE, {**NOTE, "text": "short"}]),
        writes=True,
    ),
    "ask what adding costs": Ask(
        covers=(), rest=rest("POST", "ingest", **NOTE, dry_run=True), writes=True
    ),
    "change an item": Ask(
        covers=("update_item",),
        rest=rest("PATCH", "items/{item}", tags=["seen"]),
        writes=True,
        is_about_an_item=True,
    ),
    "retry an item": Ask(
        covers=("retry_item",),
        rest=rest("POST", "items/{item}/retry"),
        writes=True,
        is_about_an_item=True,
        allowed=frozenset({"conflict"}),
    ),
    "sum an item up": Ask(
        covers=("transform_item",),
        rest=rest("POST", "items/{item}/transform"),
        writes=True,
        is_about_an_item=True,
    ),
    "file an item": Ask(
        covers=("file_item",),
        rest=filed_in_own,
        writes=True,
        is_about_an_item=True,
        allowed=frozenset({"ok", "forbidden_scope"}),
    ),
    "unfile an item": Ask(
        covers=("unfile_item",),
        rest=in_folder("DELETE", "items/{item}/folders/{folder}", "A"),
        writes=True,
        is_about_an_item=True,
        allowed=frozenset({"ok", "not_found"}),
    ),
    "delete an item": Ask(
        covers=("delete_item",),
        rest=rest("DELETE", "items/{item}"),
        writes=True,
        is_about_an_item=True,
    ),
    "list folders": Ask(
        covers=("list_folders", "tool list_folders"),
        rest=rest("GET", "folders"),
        mcp=mcp("list_folders"),
        agree=lambda body: [(row["id"], row["name"], row["item_count"]) for row in body["folders"]],
    ),
    "read the folders by their address": Ask(
        covers=("folders",),
        rest=rest("GET", "folders"),
        mcp=gateway(lambda caller, item: calls.read_resource(caller, address(FOLDERS))),
    ),
    "make a folder": Ask(
        covers=("create_folder",),
        rest=rest("POST", "folders", name="New"),
        writes=True,
        refused=SCOPED,
    ),
    "rename a folder": Ask(
        covers=("rename_folder",),
        rest=in_folder("PATCH", "folders/{folder}", "B", name="Other"),
        writes=True,
        refused=SCOPED,
        allowed=frozenset({"ok", "not_found"}),
    ),
    "delete a folder": Ask(
        covers=("delete_folder",),
        rest=in_folder("DELETE", "folders/{folder}?cascade_items=true", "B"),
        writes=True,
        allowed=frozenset({"ok", "not_found"}),
        refused=SCOPED,
    ),
    "begin an upload": Ask(
        covers=("begin_upload",), rest=rest("POST", "uploads/signed-url", **FILE), writes=True
    ),
    "finish an upload that is not there": Ask(
        covers=("finish_upload", "finish_document_upload"),
        rest=rest("POST", "uploads/finalize-document", upload_id=MISSING),
        writes=True,
        allowed=frozenset({"not_found"}),
    ),
    "list webhooks": Ask(covers=("list_webhooks",), rest=rest("GET", "webhooks"), refused=HOOK),
    "make a webhook": Ask(
        covers=("create_webhook",),
        rest=rest("POST", "webhooks", url="https://example.org/hook"),
        refused=HOOK,
    ),
    "delete a webhook": Ask(
        covers=("delete_webhook",),
        rest=rest("DELETE", f"webhooks/{MISSING}"),
        allowed=frozenset({"not_found"}),
        refused=HOOK,
    ),
    "who am I": Ask(
        covers=("whoami", "tool whoami"),
        rest=rest("GET", "whoami"),
        mcp=mcp("whoami"),
        agree=without_counters,
    ),
    "usage": Ask(covers=("get_usage",), rest=rest("GET", "usage")),
    "activity": Ask(covers=("list_activity",), rest=rest("GET", "activity", per_page=100)),
    "export": Ask(covers=("export_library",), rest=exported),
    "export by a job": Ask(
        covers=("start_export", "get_export", "download_export"), rest=exported_by_job
    ),
    "import": Ask(
        covers=("import_library",),
        rest=imported,
        writes=True,
        allowed=frozenset({"invalid_body"}),
        refused=SCOPED,
    ),
    "read an import": Ask(
        covers=("get_import",),
        rest=rest("GET", f"imports/{MISSING}"),
        allowed=frozenset({"not_found"}),
    ),
    "cancel an import": Ask(
        covers=("cancel_import",),
        rest=rest("DELETE", f"imports/{MISSING}"),
        writes=True,
        allowed=frozenset({"not_found"}),
        refused=SCOPED,
    ),
}

ELSEWHERE = {
    "list_tokens": "for a person's session; a token is refused: tests/tokens/test_rules.py",
    "mint_token": "for a person's session; a token is refused: tests/tokens/test_rules.py",
    **dict.fromkeys(
        ("list_connections", "get_connection", "narrow_connection", "revoke_connection"),
        "for a person's session; a token is refused: tests/tokens/oauth/test_connections.py",
    ),
    "revoke_token": "for a person's session; a token is refused: tests/tokens/test_rules.py",
}
"""What the table need not have, and why."""
