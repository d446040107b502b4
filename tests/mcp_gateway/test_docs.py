"""Everything that a client can meet over MCP has its page, and the contents name the page."""

import json
import re
from pathlib import Path

import pytest

from mcp_gateway.calls import list_tools  # noqa: F401 (registers the tools)
from mcp_gateway.prompts import PROMPTS
from mcp_gateway.resources import FOLDERS, TEMPLATES
from mcp_gateway.tool_table import TOOLS
from tokens.models import Toolset

DOCS = Path(__file__).resolve().parents[2] / "docs" / "mcp"
CONTENTS = (DOCS / "README.md").read_text()
CLIENTS = ("Claude Code", "Claude Desktop", "Cursor", "VS Code", "ChatGPT")
PARTS = ("Needs `", "```json", "**Errors**")


@pytest.mark.parametrize(("toolset", "name"), TOOLS)
def test_a_tool_s_row_says_its_toolset_and_what_it_needs(toolset: Toolset, name: str) -> None:
    tool = TOOLS[toolset, name]
    assert f"| [`{name}`]({name}.md) | `{tool.toolset}` | {tool.ask.needs} | " in CONTENTS


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_has_its_page_with_every_argument(name: str) -> None:
    assert f"[`{name}`](prompts/{name}.md)" in CONTENTS
    page = (DOCS / "prompts" / f"{name}.md").read_text()
    for part in (*PARTS, "**Scope**", *PROMPTS[name].argument_names):
        assert part in page


@pytest.mark.parametrize("uri", [FOLDERS, *(template.uri_template for template in TEMPLATES)])
def test_every_resource_has_its_page(uri: str) -> None:
    name = uri.removeprefix("quarry://").partition("/")[0]
    assert f"[`{uri}`](resources/{name}.md)" in CONTENTS
    page = (DOCS / "resources" / f"{name}.md").read_text()
    for part in (f"# {uri}", *PARTS, "**Scope**"):
        assert part in page


@pytest.mark.parametrize("toolset", Toolset.values)
def test_every_toolset_is_named(toolset: str) -> None:
    assert f"| `{toolset}` |" in CONTENTS


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_has_configuration_to_paste(client: str) -> None:
    page = (DOCS / "clients.md").read_text()
    section = page.partition(f"\n## {client}\n")[2].partition("\n## ")[0]
    pasted = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    assert pasted
    for block in pasted:
        assert "qry_…" in block or "token" in block.lower()
        json.loads(block)
