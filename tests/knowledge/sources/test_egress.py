"""There is one way out: whoever else opens connections of their own is found here."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = {
    "aiohttp",
    "boto3",
    "botocore",
    "ftplib",
    "http.client",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "pycurl",
    "requests",
    "telnetlib",
    "urllib.request",
    "urllib3",
    "websockets",
    "xmlrpc.client",
    "youtube_transcript_api",
    "yt_dlp",
}
# These fetch what they are given, past the guarded client.
DOWNLOADERS = {"fetch_url", "fetch_response", "urlopen", "urlretrieve"}
GUARD = {
    f"knowledge/sources/{name}.py" for name in ("http_exchange", "guarded_session", "http", "wire")
}
# The operator names this address, which may well be private; no caller's link comes here.
MODEL_SERVERS = {"knowledge/providers/openai_api.py"}
YOUTUBE = {"yt_dlp", "youtube_transcript_api"}
# Words of other clients that open nothing, for those who talk to libraries in their terms.
HARMLESS = {"requests": {"RequestException", "Response"}, "urllib.request": {"Request"}}
FILES = sorted(
    path for place in ("knowledge", "tokens", "mcp_gateway", "config")
    for path in (ROOT / place).rglob("*.py")
)  # fmt: skip


def may_import(path: str) -> set[str]:
    """The clients that a file may know."""
    if path in GUARD:
        return {"httpcore2", "requests"}
    if path.startswith("knowledge/sources/youtube"):
        return YOUTUBE | HARMLESS.keys()
    if path in MODEL_SERVERS:
        return {"httpx2"}
    if path.startswith("knowledge/providers/openai"):
        return set()  # they ask through that one
    if path.startswith("knowledge/providers/"):
        return CLIENTS - YOUTUBE
    if path == "mcp_gateway/outside_check.py":  # asks the address that the operator types
        return {"http.client", "socket"}
    if path.startswith("knowledge/storage"):
        return {"boto3", "botocore"}
    return set()


def imported(tree: ast.AST) -> set[str]:
    """Every module that is imported, however it is written, with what is taken from it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            names.update(str(word.value) for word in node.args if isinstance(word, ast.Constant))
    return names


def called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def clients(tree: ast.AST) -> set[str]:
    return {
        client
        for name in imported(tree)
        for client in CLIENTS
        if name == client or name.startswith(f"{client}.")
    }


def words_of(module: str, tree: ast.AST) -> set[str]:
    """What is taken from a module, as an attribute or by name."""
    taken = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == module
    }
    prefix = f"{module}."
    return taken | {name[len(prefix) :] for name in imported(tree) if name.startswith(prefix)}


def downloads(tree: ast.AST) -> set[str]:
    calls = {called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return DOWNLOADERS & calls


def test_only_the_guarded_client_and_the_vendors_open_connections() -> None:
    assert len(FILES) > 300
    found = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in FILES}
    opened = {
        path: clients(tree) - may_import(path) | downloads(tree) for path, tree in found.items()
    }
    assert {path: names for path, names in opened.items() if names} == {}


def test_what_reads_videos_opens_nothing_by_itself() -> None:
    readers = sorted((ROOT / "knowledge/sources").glob("youtube*.py"))
    assert readers
    taken = {
        (path.name, module): words_of(module, ast.parse(path.read_text())) - harmless
        for path in readers
        for module, harmless in HARMLESS.items()
    }
    assert {place: words for place, words in taken.items() if words} == {}


def test_the_walk_sees_what_is_taken_from_a_client() -> None:
    source = "import requests\nfrom requests import Session\nrequests.get(u)\nx.requests.y"
    assert words_of("requests", ast.parse(source)) == {"Session", "get"}


@pytest.mark.parametrize(
    ("source", "client"),
    [
        ("import httpx", "httpx"),
        ("import httpx2 as quiet", "httpx2"),
        ("import urllib.request", "urllib.request"),
        ("from urllib import request", "urllib.request"),
        ("from urllib.request import urlopen", "urllib.request"),
        ("from http import client", "http.client"),
        ("def f():\n    import yt_dlp.networking", "yt_dlp"),
        ("importlib.import_module('requests')", "requests"),
        ("__import__('boto3.session')", "boto3"),
    ],
)
def test_the_walk_sees_every_way_to_import(source: str, client: str) -> None:
    assert clients(ast.parse(source)) == {client}


def test_the_walk_lets_harmless_names_be() -> None:
    source = "import http\nfrom urllib.parse import urlsplit\nfrom .requests import Request"
    assert clients(ast.parse(source)) == set()
    assert downloads(ast.parse("trafilatura.fetch_url(u)")) == {"fetch_url"}
