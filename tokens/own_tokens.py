"""A person's own credentials: which there are, what each sees, and how a client is given one."""

import json
from dataclasses import dataclass
from uuid import UUID

from knowledge.access import Access
from knowledge.errors import NotFound
from knowledge.library import items as library
from knowledge.models import Folder, Item
from tokens.models import Token
from tokens.oauth import connections

NEWEST = 10


@dataclass(frozen=True, slots=True)
class Sight:
    """What a token reaches, by the very asks that answer the token."""

    folders: list[Folder]
    items: int
    newest: list[Item]


def list_own(owner_id: int) -> list[Token]:
    """Tokens and OAuth connections of one person, newest first."""
    mine = Token.objects.of_owner(owner_id).select_related("client", "owner")
    return list(mine.prefetch_related("folders"))


def get_own(owner_id: int, token_id: UUID) -> Token:
    mine = Token.objects.of_owner(owner_id).select_related("client", "owner")
    token = mine.prefetch_related("folders").filter(pk=token_id).first()
    if token is None:
        raise NotFound("No such token or connection.")
    return token


def end_own(owner_id: int, token_id: UUID) -> Token:
    """Revoke a token or connection, with all that its client holds; twice is the same as once."""
    token = get_own(owner_id, token_id)
    connections.end(token.pk)
    return token


def sight_of(access: Access) -> Sight:
    page = library.list_items(access, library.ItemFilter(), per_page=NEWEST)
    return Sight(library.list_folders(access), page.total, page.items)


@dataclass(frozen=True, slots=True)
class ClientSetup:
    """What a person pastes so that a client uses their token, and where."""

    client: str
    where: str
    text: str


def client_setups(address: str, secret: str) -> list[ClientSetup]:
    """For each client that people ask for; the same as in docs/mcp/clients.md."""
    bearer = f"Bearer {secret}"
    http = {"url": address, "headers": {"Authorization": bearer}}
    bridge = ["-y", "mcp-remote", address, "--header", "Authorization:${AUTHORIZATION}"]
    if address.startswith("http://"):
        bridge.append("--allow-http")
    desktop = {"command": "npx", "args": bridge, "env": {"AUTHORIZATION": bearer}}
    tool = {"type": "mcp", "server_label": "quarry", "server_url": address}
    return [
        ClientSetup(
            "Claude Code",
            "In a terminal:",
            f'claude mcp add --transport http quarry {address} --header "Authorization: {bearer}"',
        ),
        ClientSetup(
            "Claude Desktop",
            "Settings → Developer → Edit Config; it needs Node. Then open the application anew.",
            _as_json({"mcpServers": {"quarry": desktop}}),
        ),
        ClientSetup(
            "Cursor",
            "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project:",
            _as_json({"mcpServers": {"quarry": http}}),
        ),
        ClientSetup(
            "VS Code",
            "In .vscode/mcp.json, or by the command “MCP: Open User Configuration”:",
            _as_json({"servers": {"quarry": {"type": "http", **http}}}),
        ),
        ClientSetup(
            "ChatGPT",
            "The application takes no token: add the address as a connector, and sign in when it "
            "asks. OpenAI's API takes this tool, for a token with the toolset ChatGPT:",
            _as_json({**tool, "headers": {"Authorization": bearer}, "require_approval": "never"}),
        ),
    ]


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
