"""Everything a user can meet is in docs/: tools, routes, errors, commands, settings, limits."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands
from drf_spectacular.generators import SchemaGenerator

from knowledge.api.errors import STATUSES
from knowledge.sources import youtube
from mcp_gateway.calls import list_tools  # noqa: F401 (registers the tools)
from mcp_gateway.errors import JSON_RPC_CODES
from mcp_gateway.registry import TOOLS
from tokens.limits import PER_HOUR
from tokens.models import Toolset

ROOT = Path(__file__).resolve().parent.parent
DOCS = "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
OURS = {"knowledge", "tokens", "mcp_gateway", "accounts"}


@pytest.mark.parametrize(("toolset", "name"), TOOLS)
def test_every_tool_has_its_page_with_every_parameter(toolset: Toolset, name: str) -> None:
    page = (ROOT / "docs" / "mcp" / f"{name}.md").read_text()
    for parameter in TOOLS[toolset, name].arguments.model_fields:
        assert f"`{parameter}`" in page


def test_every_route_is_documented() -> None:
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    assert len(paths) >= 9
    for path, methods in paths.items():
        nouns = "item|token|webhook|task|relation|provider|source"
        named = rf"\{{(?:{nouns})_id\}}|(?<=folders/)\{{folder_id\}}$"
        route = re.sub(named, "{id}", path)
        route = route.removeprefix("/api/v1")
        if route.startswith("/items/{id}/folders/"):
            route = "/items/{id}/folders/{folder_id}"
        for method in methods.keys() & {"get", "post", "patch", "delete", "put"}:
            assert f"`{method.upper()} {route}" in DOCS or f"{method.upper()} {route}`" in DOCS


@pytest.mark.parametrize("code", STATUSES)
def test_every_error_is_documented_with_its_codes(code: str) -> None:
    row = next(line for line in DOCS.splitlines() if line.startswith(f"| `{code}` |"))
    assert f"| {STATUSES[code]} |" in row
    if STATUSES[code] != 401:
        assert f"| {JSON_RPC_CODES[code]} |" in row


def test_every_reason_of_a_failed_source_is_in_the_table_of_reasons() -> None:
    table = (ROOT / "docs" / "errors.md").read_text().partition("| Reason |")[2]
    places = [ROOT / "knowledge" / name for name in ("sources", "providers", "storage")]
    files = [
        ROOT / "knowledge" / "intake.py",
        *(f for place in places for f in place.rglob("*.py")),
    ]
    code = "\n".join(path.read_text() for path in files)
    reasons = {*re.findall(r'reason="(\w+)"', code), *youtube._MESSAGES}
    assert len(reasons) > 30
    assert [reason for reason in sorted(reasons) if f"`{reason}`" not in table] == []


@pytest.mark.parametrize("name", sorted(n for n, app in get_commands().items() if app in OURS))
def test_every_command_is_documented(name: str) -> None:
    assert f"| `{name}` |" in DOCS


def test_every_setting_is_documented() -> None:
    source = (ROOT / "config" / "settings.py").read_text()
    names = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', source))
    assert len(names) > 10
    assert [name for name in sorted(names) if f"| `{name}` |" not in DOCS] == []


@pytest.mark.parametrize("ask", PER_HOUR)
def test_every_limit_is_documented(ask: str) -> None:
    rows = [line for line in DOCS.splitlines() if re.search(rf"\b{ask}\b", line)]
    assert any(f"{PER_HOUR[ask]:,}" in row for row in rows)
