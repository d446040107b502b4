"""The fenced blocks of a document, and what each of them tells a reader to connect to."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.support.quarry import Server
from tests.support.running import MANAGE
from tests.support.up import REPOSITORY

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONNECTS = ("claude", "npx")
"""Programs of others that are told an address: it is parsed and connected to without them."""
RUNS = ("curl", "export", sys.executable)


@dataclass(frozen=True)
class Snippet:
    """A block as it stands in the document."""

    file: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def fitted(self, server: Server, token: str, site: str) -> "Snippet":
        """With this server, token, repository and site for those that the document makes up."""
        text = self.text
        for old, new in (
            ("/path/to/quarry/.venv/bin/python", sys.executable),
            ("/path/to/quarry", str(REPOSITORY)),
            (".venv/bin/python manage.py", " ".join(MANAGE)),
            ("https://quarry.example", server.url),
            ("localhost:8000", f"localhost:{server.port}"),
            ("qry_…", token),
        ):
            text = text.replace(old, new)
        text = re.sub(r"^manage\.py", " ".join(MANAGE), text, flags=re.MULTILINE)
        text = re.sub(r"https://(?:[\w-]+\.)+\w+/", site, text)
        return Snippet(self.file, self.line, self.language, text)

    @property
    def commands(self) -> list[list[str]]:
        """The words of each command, with its continued lines."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [shlex.split(line) for line in lines if line.strip()]

    @property
    def kind(self) -> str:
        """What is done with it; a block that is nothing of these is a fault of the walk."""
        if self.language == "json":
            return "config"
        if self.text.startswith("First run."):
            return "output"
        programs = {command[0] for command in self.commands}
        if programs <= {*CONNECTS}:
            return "address"
        if programs == {"make"}:
            return "make"
        return "script" if programs <= {*RUNS, ".venv/bin/python", "manage.py"} else "unknown"


def snippets_of(file: str) -> list[Snippet]:
    text = (REPOSITORY / file).read_text()
    return [
        Snippet(file, text[: block.start()].count("\n") + 1, block[1], block[2])
        for block in FENCE.finditer(text)
    ]


# Addresses -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Http:
    """A server that a client reaches by its address."""

    url: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Stdio:
    """A server that a client starts itself."""

    command: str
    args: list[str]
    env: dict[str, str] = field(default_factory=dict)


def connections_of(snippet: Snippet, token: str) -> list[Http | Stdio]:
    """Every MCP server that a client would connect to who was given this snippet."""
    if snippet.kind == "address":
        return [_by_words(words, {"TOKEN": token}) for words in snippet.commands]
    return [_by_config(config, token) for config in _configs(json.loads(snippet.text))]


def _configs(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("mcpServers", "servers"):
        yield from document.get(key, {}).values()
    yield from document.get("tools", [])


def _by_config(config: dict[str, Any], token: str) -> Http | Stdio:
    env = config.get("env", {})
    if config.get("command") in CONNECTS:
        return _by_words(config["args"], env)
    if "command" in config:
        return Stdio(config["command"], config["args"], env)
    known = {"QUARRY_TOKEN": token, "input:quarry-token": token}
    headers = {name: _expanded(value, known) for name, value in config["headers"].items()}
    return Http(config.get("url") or config["server_url"], headers)


def _by_words(words: list[str], variables: dict[str, str]) -> Http:
    [url] = [word for word in words if word.startswith(("http://", "https://"))]
    name, _, value = words[words.index("--header") + 1].partition(":")
    return Http(url, {name: _expanded(value.strip(), variables)})


def _expanded(value: str, variables: dict[str, str]) -> str:
    """With the variables that a client or a shell puts in."""
    return re.sub(r"\$(?:\{([\w:-]+)\}|(\w+))", lambda name: variables[name[1] or name[2]], value)


def script_of(snippet: Snippet) -> list[str]:
    """Run by a shell that stops at the first failure, an answer of an error among them."""
    safe = 'set -eo pipefail; curl() { command curl --fail-with-body "$@"; echo; }'
    return ["bash", "-c", f"{safe}\n{snippet.text}"]
