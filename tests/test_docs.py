"""Everything a user can meet is in docs/: tools, routes, errors, commands, settings, limits."""

import re
import tomllib
from pathlib import Path

import pytest
from django.core import management
from drf_spectacular.generators import SchemaGenerator

from knowledge.api.errors import STATUSES
from knowledge.asks import Ask
from knowledge.sources import youtube
from mcp_gateway.calls import list_tools  # noqa: F401 (registers the tools)
from mcp_gateway.errors import JSON_RPC_CODES
from mcp_gateway.tool_table import TOOLS
from tokens.models import Toolset

ROOT = Path(__file__).resolve().parent.parent
DOCS = "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
OURS = {"knowledge", "tokens", "mcp_gateway", "accounts"}
COMMANDS = {name for name, app in management.get_commands().items() if app in OURS}
DJANGOS = set(management.find_commands(management.__path__[0]))


@pytest.mark.parametrize(("toolset", "name"), TOOLS)
def test_every_tool_has_its_page_with_every_parameter(toolset: Toolset, name: str) -> None:
    page = (ROOT / "docs" / "mcp" / f"{name}.md").read_text()
    for parameter in TOOLS[toolset, name].arguments.model_fields:
        assert f"`{parameter}`" in page


def test_every_route_is_documented() -> None:
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    assert len(paths) >= 9
    for path, methods in paths.items():
        nouns = "item|token|webhook|task|relation|provider|source|export"
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
        *(ROOT / "knowledge" / "ingest" / name for name in ("contents.py", "extraction.py")),
        *(f for place in places for f in place.rglob("*.py")),
    ]
    code = "\n".join(path.read_text() for path in files)
    reasons = {*re.findall(r'reason="(\w+)"', code), *youtube._MESSAGES}
    assert len(reasons) > 30
    assert [reason for reason in sorted(reasons) if f"`{reason}`" not in table] == []


@pytest.mark.parametrize("name", sorted(COMMANDS - DJANGOS))
def test_every_command_is_documented(name: str) -> None:
    assert f"| `{name}` |" in DOCS


def test_every_setting_is_documented() -> None:
    source = (ROOT / "config" / "settings.py").read_text()
    names = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', source))
    assert len(names) > 10
    assert [name for name in sorted(names) if f"| `{name}` |" not in DOCS] == []


@pytest.mark.parametrize("ask", Ask)
def test_every_limit_is_documented(ask: Ask) -> None:
    rows = [line for line in DOCS.splitlines() if re.search(rf"\b{ask}\b", line)]
    assert any(f"{ask.per_hour:,}" in row for row in rows)


def test_the_rooms_are_shown_as_the_import_contract_has_them() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (c["layers"] for c in contracts["contracts"] if c.get("exhaustive"))
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.partition("| Rooms, top to bottom |")[2].partition("\n\n")[0]
    shown = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()[2:]]
    assert shown == [layer.split(" : ") for layer in layers]


def test_every_link_between_pages_leads_to_a_page_and_a_heading() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", page.read_text()):
            name, _, anchor = target.partition("#")
            file = page.parent / name if name else page
            assert file.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in _anchors(file), f"{page.name} links to {target}"


def _anchors(page: Path) -> set[str]:
    """What a heading can be linked by, as GitHub has it: its words in lower case with dashes."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}
