"""The rules of the code that no type or linter can hold."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EDGES = ("knowledge/api", "mcp_gateway", "knowledge/retrieval")
ASKS = (
    "knowledge/library",
    "knowledge/ingest/adding.py",
    "knowledge/ingest/adding_files.py",
    "knowledge/ingest/estimating.py",
    "knowledge/ingest/transforms.py",
    "knowledge/ledger/webhooks.py",
    "knowledge/exchange/exporting.py",
    "knowledge/exchange/importing.py",
    "knowledge/ingest/uploads.py",
    "knowledge/crawling/documentation.py",
    "knowledge/memory",
    "knowledge/registry",
)
GUARDED = {
    *("Item", "Folder", "Filing", "Chunk", "ChunkText", "ChunkEmbedding", "Content"),
    *("Upload", "Webhook", "Relation", "Source"),
}
# A shared content is public: whoever names its address may have it.
DOORS = {"visible_to", "published_to", "offered_to", "create", "create_text", "find_shared"}
# Who puts a file has no token: the signature of its address is the right to. Who undoes is the
# operator, for whom a judgment counts of whatever it was. A file is found by its item's content.
ALLOWED = {
    ("knowledge/library/originals.py", "Upload", "filter"),
    ("knowledge/registry/undone.py", "Item", "select_related"),
    ("knowledge/ingest/uploads.py", "Upload", "filter"),
    ("knowledge/ingest/uploads.py", "Upload", "select_for_update"),
}


def python_files(*places: str) -> list[Path]:
    files = []
    for place in places:
        path = ROOT / place
        files += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return files


def edge_files(*places: str) -> list[Path]:
    """Commands are run by the operator, who sees everything; the edges serve everybody else."""
    return [path for path in python_files(*places) if "management" not in path.parts]


def chains_on_objects(tree: ast.AST) -> list[tuple[str, list[str]]]:
    """Each `Model.objects.a().b()` as the model's name and the methods called on it, in order."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    chains = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        if node.attr not in ("objects", "_base_manager"):
            continue
        methods: list[str] = []
        at = parents.get(node)
        while isinstance(at, (ast.Attribute, ast.Call)):
            if isinstance(at, ast.Attribute):
                methods.append(at.attr)
            at = parents.get(at)
        chains.append((node.value.id, methods))
    return chains


def side_doors(path: Path) -> list[str]:
    name = str(path.relative_to(ROOT))
    return [
        f"{name}: {model}.objects.{'.'.join(methods)}"
        for model, methods in chains_on_objects(ast.parse(path.read_text()))
        if model in GUARDED
        and not DOORS & set(methods[:2])
        and (name, model, methods[0] if methods else "") not in ALLOWED
    ]


@pytest.mark.parametrize("path", edge_files(*EDGES, *ASKS), ids=lambda path: path.name)
def test_rows_are_reached_only_through_the_door(path: Path) -> None:
    assert side_doors(path) == []


def test_the_walk_sees_a_side_door() -> None:
    chains = chains_on_objects(ast.parse("Item.objects.filter(pk=1).visible_to(a).first()"))
    assert chains == [("Item", ["filter", "visible_to", "first"])]
    chains = chains_on_objects(ast.parse("x = Item.objects.get(pk=1).title"))
    assert chains == [("Item", ["get", "title"])]


@pytest.mark.parametrize("path", edge_files("mcp_gateway", "knowledge/api"), ids=str)
def test_edges_hold_no_sql(path: Path) -> None:
    imported = {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "django.db"
        for alias in node.names
    }
    assert "connection" not in imported


@pytest.mark.parametrize(
    "path", python_files("knowledge", "tokens", "mcp_gateway", "config"), ids=str
)
def test_only_the_settings_read_the_environment(path: Path) -> None:
    # prometheus_client learns its folder from a variable alone, which metrics.py sets.
    others = ("config/asgi.py", "knowledge/monitoring/metrics.py")
    if path.relative_to(ROOT).as_posix() in ("config/env.py", *others):
        return
    names = {"environ", "getenv"}
    for node in ast.walk(ast.parse(path.read_text())):
        assert not (isinstance(node, ast.Attribute) and node.attr in names)
        assert not (
            isinstance(node, ast.ImportFrom) and names & {alias.name for alias in node.names}
        )
