"""Clients that nobody here wrote, and a whole product for them to talk to."""

import fcntl
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.clients import CACHE, STONES, Node, Product, _install, _node, without
from tests.support.running import manage, running
from tests.support.up import copied_home


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


@pytest.fixture(scope="session")
def product(migrated_home: Path) -> Iterator[Product]:
    with copied_home(migrated_home) as home, running(home) as quarry:
        quarry.ask("POST", "/api/v1/folders", quarry.token, json.dumps({"name": "Stones"}))
        for number in range(STONES):
            quarry.add(quarry.token, f"Stone {number}", f"Granite number {number}, cut and laid.")
        minted = manage(home, "mint_token", "--owner", "admin", "--name", "x", "--write", "--json")
        yield Product(quarry, json.loads(minted.stdout)["token"])
