"""Connections: what a person gives to agents, sees of them, and takes back."""

import re

from django.contrib.auth.models import User
from django.test import Client
from django.utils.html import escape
from oauth2_provider.models import Application

from knowledge.access import Access
from knowledge.ingest.adding import add_text
from knowledge.library.items import get_item
from tests.support.library import LONG_ENOUGH, Add, Mint, Minted
from tokens.models import Token
from tokens.oauth.connections import connect
from tokens.own_tokens import client_setups


def mint_by_page(visitor: Client, **chosen: object) -> tuple[int, str]:
    form = visitor.get("/connections/new").content.decode()
    [form_id] = re.findall(r'name="form_id" value="([^"]+)"', form)
    asked = {"name": "Laptop", "reach": "library", "toolsets": ["library"], "expires_days": 30}
    answer = visitor.post("/connections/new", {**asked, "form_id": form_id, **chosen})
    return answer.status_code, answer.content.decode()


def test_a_secret_is_shown_once_with_the_setup_of_every_client(visitor: Client) -> None:
    status, page = mint_by_page(visitor)
    [secret] = set(re.findall(r"qry_[\w-]{40,}", page))
    token = Token.objects.get()
    assert status == 200
    for client in ("Claude Code", "Claude Desktop", "Cursor", "VS Code", "ChatGPT"):
        assert client in page
    assert f"Authorization: Bearer {secret}" in page
    again = visitor.get(f"/connections/{token.pk}").content.decode()
    assert secret not in again + visitor.get("/connections/").content.decode()
    assert Minted(token, secret).client.get("/api/v1/whoami").status_code == 200


def test_a_token_gets_the_folders_that_were_chosen(visitor: Client, folder) -> None:
    shelf, _ = folder("Shelf"), folder("Other")
    status, _page = mint_by_page(visitor, reach="folders", folder_ids=[str(shelf.pk)])
    token = Token.objects.get()
    assert (status, token.is_unscoped, list(token.folders.all())) == (200, False, [shelf])
    status, page = mint_by_page(visitor, reach="folders")
    assert status == 422
    assert "Choose at least one folder" in page


def test_a_form_mints_one_token(visitor: Client) -> None:
    form = visitor.get("/connections/new").content.decode()
    [form_id] = re.findall(r'name="form_id" value="([^"]+)"', form)
    asked = {"name": "Laptop", "reach": "library", "toolsets": ["library"], "expires_days": 30}
    assert visitor.post("/connections/new", {**asked, "form_id": form_id}).status_code == 200
    assert visitor.post("/connections/new", {**asked, "form_id": form_id}).status_code == 409
    assert Token.objects.count() == 1


def test_a_setup_is_json_that_its_client_can_read() -> None:
    import json

    setups = {each.client: each.text for each in client_setups("https://q.example/mcp", "qry_x")}
    assert setups["Claude Code"].startswith("claude mcp add --transport http quarry https://q.ex")
    cursor = json.loads(setups["Cursor"])["mcpServers"]["quarry"]
    assert cursor == {
        "url": "https://q.example/mcp",
        "headers": {"Authorization": "Bearer qry_x"},
    }
    assert json.loads(setups["VS Code"])["servers"]["quarry"]["type"] == "http"
    desktop = json.loads(setups["Claude Desktop"])["mcpServers"]["quarry"]
    assert desktop["env"]["AUTHORIZATION"] == "Bearer qry_x"
    assert "--allow-http" not in desktop["args"]
    assert json.loads(setups["ChatGPT"])["type"] == "mcp"


def test_what_a_token_sees_finds_and_did_is_on_its_page(
    visitor: Client, mint: Mint, folder, add: Add
) -> None:
    shelf = folder("Shelf")
    add("Inside", "Granite is inside of the shelf.", shelf)
    add("Outside", "Granite is outside of the shelf.")
    agent = mint(shelf)
    agent.client.get("/api/v1/search?query=granite")

    page = visitor.get(f"/connections/{agent.row.pk}?q=granite").content.decode()

    assert "1 item in 1 folder" in page
    assert ">Inside</a>" in page
    assert "Outside" not in page
    assert "search" in page[page.index("Activity") :]
    assert "999" in page  # of its searches, one is used


def test_its_writes_are_undone_after_a_look(
    visitor: Client, mint: Mint, add: Add, library: Access
) -> None:
    kept = add("Kept")
    agent = mint()
    agent.client.delete(f"/api/v1/items/{kept.pk}")
    body = {"kind": "text", "title": "Written", "text": f"By an agent.{LONG_ENOUGH}"}
    agent.client.post("/api/v1/ingest", body, format="json")

    page = visitor.get(f"/connections/{agent.row.pk}/undo").content.decode()
    assert "item added: Written" in page
    assert "item deleted: Kept" in page
    span = dict(re.findall(r'name="(since|until)" value="([^"]+)"', page))
    answer = visitor.post(f"/connections/{agent.row.pk}/undo", span, follow=True)

    assert "2 undone of what agent wrote." in answer.content.decode()
    assert get_item(library, kept.pk).title == "Kept"
    assert visitor.post(f"/connections/{agent.row.pk}/undo", {"since": "x"}).status_code == 302


def test_a_revoked_token_ends_at_its_next_call(visitor: Client, mint: Mint) -> None:
    agent = mint()
    assert agent.client.get("/api/v1/whoami").status_code == 200
    answer = visitor.post(f"/connections/{agent.row.pk}/revoke", follow=True)
    assert "agent is revoked." in answer.content.decode()
    assert agent.client.get("/api/v1/whoami").status_code == 401
    assert "revoked" in visitor.get(f"/connections/{agent.row.pk}").content.decode()


def test_a_connected_client_can_be_narrowed_and_never_widened(
    visitor: Client, owner: User, folder
) -> None:
    client = Application.objects.create(
        name="Claude", client_type="public", authorization_grant_type="authorization-code"
    )
    reach = {"can_write": True, "toolsets": ["library", "memory"]}
    token = connect(owner, client, reach)
    shelf = folder("Shelf")
    at = f"/connections/{token.pk}/narrow"
    assert "Shelf" in visitor.get(at).content.decode()

    kept = {"toolsets": ["library"], "folder_ids": [str(shelf.pk)]}
    page = visitor.post(at, kept, follow=True).content.decode()

    token.refresh_from_db()
    assert "can do only this" in page
    assert (token.can_write, token.toolsets, token.is_unscoped) == (False, ["library"], False)
    wider: list[dict[str, list[str]]] = [{"toolsets": ["memory"]}, {**kept, "folder_ids": []}]
    for more in wider:
        assert visitor.post(at, more).status_code == 422
    visitor.post(at, {**kept, "can_write": "on"})
    token.refresh_from_db()
    assert token.can_write is False


def test_nothing_of_anothers_tokens_is_told(
    visitor: Client, other_visitor: Client, mint: Mint, stranger: User
) -> None:
    mine, hers = mint(name="Ada's agent"), mint(name="Eve's agent", by=stranger)
    assert "Ada" not in other_visitor.get("/connections/").content.decode()
    for way in ("", "/narrow", "/undo"):
        gone = other_visitor.get(f"/connections/{mine.row.pk}{way}")
        assert gone.status_code == 404
        assert "Ada" not in gone.content.decode()
    for way in ("/revoke", "/narrow", "/undo"):
        assert other_visitor.post(f"/connections/{mine.row.pk}{way}").status_code == 404
    assert mine.client.get("/api/v1/whoami").status_code == 200
    assert visitor.get(f"/connections/{hers.row.pk}").status_code == 404


def test_a_hostile_name_is_only_a_name(visitor: Client, mint: Mint) -> None:
    name = "<script>alert(1)</script>"
    agent = mint(name=name)
    add_text(agent.access, title=name, text=name + LONG_ENOUGH)
    pages = ["/connections/", *(f"/connections/{agent.row.pk}{way}" for way in ("", "/undo"))]
    for page in (*pages, f"/connections/{agent.row.pk}?q={name}"):
        said = visitor.get(page).content.decode()
        assert escape(name) in said
        assert name not in said
