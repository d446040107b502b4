"""MCP as its own referee and other people's clients see it, in both eras of the protocol."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.clients import CONFORMANCE, HERE, STONES, Node, Product

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
TOOLS = [
    *("search_knowledge_base", "get_item", "list_recent", "list_folders"),
    *("add_to_knowledge", "whoami"),
]


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_nothing_fails_but_what_we_do_not_offer(
    node: Node, product: Product, revision: str
) -> None:
    expected = HERE / f"expected-failures-{revision}.yml"
    with node.serving("with_token.mjs", product.mcp, product.token) as port:
        ended = node.run(
            *(CONFORMANCE, "server", "--url", f"http://127.0.0.1:{port}/mcp"),
            *("--requirements", revision, "--expected-failures", str(expected)),
        )
    report = ended.stdout[ended.stdout.find("=== SUMMARY ===") :]
    assert ended.returncode == 0, report + ended.stderr
    print(f"{revision}: {len(re.findall('^✓', report, re.MULTILINE))} scenarios pass whole")  # noqa: T201


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_the_inspector_finds_no_fault_with_the_tools(
    node: Node, product: Product, era: str
) -> None:
    ended = inspected(node, product, era, "--method", "tools/list", "--strict")
    assert ended["stderr"] == ""
    assert [tool["name"] for tool in ended["result"]["tools"]] == TOOLS


def test_the_whole_tool_list_costs_under_3_000_tokens(
    node: Node, product: Product, tmp_path: Path
) -> None:
    listed = inspected(node, product, "modern", "--method", "tools/list")["result"]
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(listed["tools"], separators=(",", ":")))
    counts = node.script("count_tokens.mjs", str(file))
    print(f"tools/list of a library token that may write, in tokens: {counts}")  # noqa: T201
    assert max(counts.values()) < 3_000


def test_the_inspector_calls_reads_and_prompts(node: Node, product: Product) -> None:
    def asked(*args: str) -> Any:
        return inspected(node, product, "modern", "--method", *args)["result"]

    called = asked(
        "tools/call", "--tool-name", "search_knowledge_base", "--tool-arg", "query=stone"
    )
    linked = called["content"][-1]["uri"]
    [read] = asked("resources/read", "--uri", linked)["contents"]
    assert read["text"].startswith("# Stone ")
    prompt = asked(
        "prompts/get", "--prompt-name", "summarise_folder", "--prompt-args", "folder=stones"
    )
    assert "Summarise the folder Stones" in prompt["messages"][0]["content"]["text"]


def inspected(node: Node, product: Product, era: str, *args: str) -> Any:
    ended = node.run(
        *(INSPECTOR, "--cli", product.mcp, "--protocol-era", era, "--format", "json"),
        *("--header", f"Authorization: Bearer {product.token}", *args),
    )
    assert ended.returncode == 0, ended.stderr
    return {**json.loads(ended.stdout), "stderr": ended.stderr}


@pytest.mark.parametrize(
    ("script", "revision"),
    [("client.mjs", "2026-07-28"), ("client.mjs", "2025-11-25"), ("sdk.mjs", "2025-11-25")],
)
def test_a_typescript_client_lists_calls_pages_and_reads(
    node: Node, product: Product, script: str, revision: str
) -> None:
    seen = node.script(script, product.mcp, product.token, revision)
    assert seen["tools"] == TOOLS
    hits = seen["found"]["structuredContent"]["results"]
    assert [block["type"] for block in seen["found"]["content"]] == ["text", *["resource_link"] * 3]
    assert seen["added"]["structuredContent"]["status"] == "ready"
    assert seen["steps"] == ["indexing"]
    assert (seen["refused"]["code"], seen["refused"]["data"]["field"]) == (-32602, "limit")
    assert seen["pages"][0] == 51  # the folders and fifty items
    assert len(seen["uris"]) == len(set(seen["uris"])) >= STONES + 1
    assert seen["read"]["uri"] == f"quarry://items/{hits[-1]['user_item_id']}"
    assert json.loads(seen["folders"]["text"])["folders"][0]["name"] == "Stones"
    assert seen["missing"]["code"] == -32602
    assert seen["templates"] == ["quarry://items/{id}"]
    assert seen["prompts"] == ["research", "summarise_folder", "add_and_file"]
    assert "in the folder Stones: What is granite?" in seen["prompt"]
    assert seen["completion"] == ["Stones"]
