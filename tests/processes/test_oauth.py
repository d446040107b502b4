"""Clients connect from nothing: the official clients, a real browser, a real server."""

from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from playwright.sync_api import Page
from pydantic import AnyUrl

from tests.support.browsing import Person, consent, in_a_browser, revoke_on_the_page
from tests.support.oauth import assert_one_use_of_each_refresh
from tests.support.quarry import Server

CALLBACK = "http://localhost:3031/callback"
MAYA = Person("maya", "quarry-stone-42")


class Memory:
    """What a client keeps between calls."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client: Any) -> None:
        self.client = client


def accept_and_mint(link: str) -> str:
    """Open an invitation, set a name and a password, and mint a token; its secret."""

    def work(page: Page) -> str:
        page.goto(link)
        page.fill("[name=username]", MAYA.name)
        page.fill("[name=password]", MAYA.password)
        page.get_by_role("button").click()
        page.goto(urljoin(link, "/connections/new"))
        page.get_by_label("Name").fill("Laptop")
        page.get_by_label("Add, change and delete").check()
        page.get_by_role("button", name="Create token").click()
        return page.locator("#secret").inner_text()

    return in_a_browser(work)


def test_a_member_is_invited_and_the_python_client_connects_refreshes_and_is_ended(
    quarry: Server,
) -> None:
    secret = accept_and_mint(quarry.run("invite", "--url", quarry.url).strip())
    assert quarry.rest("GET", "whoami", secret)["owner"] == "maya"
    folder = quarry.rest("POST", "folders", secret, name="Herons")["id"]
    for title, where in (("Inside", {"folder_id": folder}), ("Outside", {})):
        text = f"{title} notes on the grey heron and where it nests in spring. " * 3
        quarry.rest("POST", "ingest", secret, kind="text", title=title, text=text, **where)
    memory, sent = Memory(), {}

    async def redirect(address: str) -> None:
        sent["to"] = await anyio.to_thread.run_sync(consent, address, MAYA, "Herons", CALLBACK)

    async def callback() -> AuthorizationCodeResult:
        answer = parse_qs(urlsplit(sent["to"]).query)
        return AuthorizationCodeResult(
            code=answer["code"][0], state=answer["state"][0], iss=answer["iss"][0]
        )

    metadata = OAuthClientMetadata(
        client_name="Official client",
        redirect_uris=[AnyUrl(CALLBACK)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(f"{quarry.url}/mcp", metadata, memory, redirect, callback)

    @asynccontextmanager
    async def transport() -> Any:
        async with (
            httpx2.AsyncClient(auth=provider, timeout=60) as http,
            streamable_http_client(f"{quarry.url}/mcp", http_client=http) as streams,
        ):
            yield streams

    async def walk() -> None:
        async with Client(transport()) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert "search_knowledge_base" in names
            assert "add_to_knowledge" not in names
            asked = {"query": "where does the grey heron nest"}
            answer = await client.call_tool("search_knowledge_base", asked)
            found = answer.structured_content["results"]
            assert [hit["title"] for hit in found] == ["Inside"]

    anyio.run(walk)
    assert_one_use_of_each_refresh(quarry.url, memory.client.client_id, memory.tokens.refresh_token)
    said = revoke_on_the_page(quarry.url, MAYA, "Laptop")
    assert "No client is connected by sign-in yet." in said
    assert "There is no token yet." in said
    assert quarry.ask("GET", "/api/v1/whoami", secret)[0] == 401
