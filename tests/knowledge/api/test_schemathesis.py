"""The whole API as its own document has it, asked at random: nothing breaks, nothing surprises."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.servers.basehttp import WSGIRequestHandler
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from knowledge.asks import Ask
from knowledge.models import Folder
from tests.support.library import Add, Mint
from tests.support.up import REPOSITORY

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.conformance,
]

HERE = Path(__file__).parent
EXAMPLES_EACH = 1
FEWEST_CASES = 2_000
RUN = "from schemathesis.cli import schemathesis; schemathesis()"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name leads to an address inside, which is refused without a try."""
    inside = [(2, 1, 6, "", ("10.0.0.1", 443))]
    monkeypatch.setattr("knowledge.sources.addresses.socket.getaddrinfo", lambda *_, **__: inside)


@pytest.fixture
def no_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each answer waits 40 ms for an acknowledgement of its headers."""
    monkeypatch.setattr(WSGIRequestHandler, "disable_nagle_algorithm", True)


@pytest.fixture
def no_limits(settings: Settings) -> None:
    settings.QUARRY_LIMITS = dict.fromkeys(Ask, 10**9)


@pytest.fixture
def configuration(
    tmp_path: Path,
    mint: Mint,
    stranger: User,
    add: Add,
    folder: Callable[[str], Folder],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """With a token of a small library, and the session of another person, who cannot revoke it."""
    add("Granite", "Granite is hard.", folder("Shelf"))
    person = Client()
    person.force_login(stranger)
    monkeypatch.setattr(
        "rest_framework.authentication.SessionAuthentication.enforce_csrf", lambda *_: None
    )
    path = tmp_path / "schemathesis.toml"
    path.write_text(
        (HERE / "schemathesis.toml").read_text()
        + f'\n[auth.openapi.token]\nbearer = "{mint().secret}"\n'
        + f'\n[auth.openapi.cookieAuth]\napi_key = "{person.cookies["sessionid"].value}"\n'
    )
    return path


def test_no_call_is_answered_but_as_documented(
    no_delays: None, live_server: LiveServer, configuration: Path, no_network: None, no_limits: None
) -> None:
    document = f"{live_server.url}/api/v1/openapi.json"
    command = [sys.executable, "-c", RUN, "--config-file", str(configuration), "run", document]
    command += ["--checks", "all", "--seed", "1", "--max-examples", str(EXAMPLES_EACH)]
    command += ["--generation-database", "none", "--suppress-health-check", "all"]
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env={"SCHEMATHESIS_HOOKS": "tests.knowledge.api.schemathesis_hooks"},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    cases = re.search(r"(\d+) generated, \d+ passed", run.stdout)
    assert cases is not None, run.stdout
    sys.stdout.write(f"schemathesis: {cases[0]}\n")
    assert int(cases[1]) >= FEWEST_CASES
