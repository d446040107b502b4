"""Every block of the README and of the page on clients works as it stands there."""

import re
from pathlib import Path

import pytest
from mcp import Client

from tests.support.agents import ask, tool_names
from tests.support.quarry import Server
from tests.support.site import DocSite
from tests.support.snippets import (
    Snippet,
    connections_of,
    script_of,
    snippets_of,
)
from tests.support.up import REPOSITORY

SNIPPETS = [*snippets_of("README.md"), *snippets_of("docs/mcp/clients.md")]
NOT_RUN: dict[str, str] = {}
"""What begins so cannot be run here, and why."""
ANSWERS = {
    "what+was+deferred": r'"title": ?"Standup"',
    "what did she say about limestone": r"She said that limestone is soft",
    '"Django docs"': r"pages",
    "--folder Research": r"qry_\w+",
    "--toolset chatgpt": r"qry_\w+",
}
"""What is printed by the script that says so."""


def of_kind(*kinds: str) -> pytest.MarkDecorator:
    chosen = [snippet for snippet in SNIPPETS if snippet.kind in kinds]
    assert chosen, kinds
    return pytest.mark.parametrize("snippet", chosen, ids=str)


def test_every_block_is_walked_or_listed_with_a_reason() -> None:
    unknown = [snippet for snippet in SNIPPETS if snippet.kind == "unknown"]
    assert [str(s) for s in unknown if not s.text.startswith(tuple(NOT_RUN) or ("\0",))] == []
    scripts = "".join(snippet.text for snippet in SNIPPETS)
    assert [words for words in ANSWERS if words not in scripts] == []


@of_kind("make")
def test_make_starts_what_the_walk_starts(snippet: Snippet, quarry: Server) -> None:
    [[_, target]] = snippet.commands
    program = ["make", "--no-print-directory", "--dry-run", "--assume-old=requirements.txt", target]
    started = quarry.run_program(program, cwd=REPOSITORY)
    assert started.splitlines()[-1].endswith("python manage.py up --host 127.0.0.1 --port 8000")


@of_kind("output")
def test_the_first_start_says_what_the_document_shows(snippet: Snippet, quarry: Server) -> None:
    shown = re.escape(snippet.text.replace(":8000", f":{quarry.port}")).replace("…", r"\S+")
    assert re.search(shown, quarry.said)


@of_kind("script")
def test_a_script_runs(snippet: Snippet, quarry: Server, site: DocSite, folder: Path) -> None:
    fitted = snippet.fitted(quarry, quarry.token, site.url())
    settings = {"HOME": str(folder), "TOKEN": quarry.token}
    said = quarry.run_program(script_of(fitted), cwd=folder, **settings)
    for words, answer in ANSWERS.items():
        assert words not in snippet.text or re.search(answer, said), said


@of_kind("config", "address")
def test_a_client_connects_as_it_is_told_to(
    snippet: Snippet, quarry: Server, site: DocSite
) -> None:
    is_chatgpt = "server_url" in snippet.text
    token = quarry.mint("ChatGPT", toolsets=["chatgpt"]) if is_chatgpt else quarry.token
    fitted = snippet.fitted(quarry, token, site.url())
    servers = connections_of(fitted, token)
    assert servers
    for server in servers:
        names = ask(server, use, QUARRY_HOME=str(quarry.home))
        assert names == ["fetch", "search"] if is_chatgpt else "add_to_knowledge" in names


async def use(client: Client) -> list[str]:
    """Its tools, after a search by one of them."""
    names = await tool_names(client)
    tool = "search" if "fetch" in names else "search_knowledge_base"
    assert not (await client.call_tool(tool, {"query": "stone"})).is_error
    return names
