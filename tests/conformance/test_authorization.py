"""Clients and checks of others against the authorization server; a person lets each of them in."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests

from tests.conformance.clients import CACHE, CONFORMANCE, DEADLINE, Node, Product
from tests.support.browsing import Person, consent, revoke_on_the_page
from tests.support.oauth import assert_one_use_of_each_refresh, hidden_fields

CALLBACK = "http://127.0.0.1:3917/callback"


def let_in(product: Product, address: str) -> str:
    """Sign in, allow the whole library, and see where the browser is sent."""
    [password] = re.findall(r"admin password  (\S+)", product.quarry.said)
    with requests.Session() as browser:
        page = browser.get(address, timeout=DEADLINE)
        login = {**hidden_fields(page.text), "login": "admin", "password": password}
        page = browser.post(page.url, login, timeout=DEADLINE)
        assert "Connect " in page.text, page.text
        choices = {"allow": "true", "reach": "library", "toolsets": "library"}
        answer = browser.post(
            address,
            {**hidden_fields(page.text), **choices},
            timeout=DEADLINE,
            allow_redirects=False,
        )
    assert answer.status_code == 302, answer.text
    return str(answer.headers["Location"])


def connect_by_typescript(node: Node, product: Product, admin: Person) -> dict[str, Any]:
    """What the client finds, after a person in a browser gave it one folder."""
    with started(node, "oauth.mjs", product.mcp, CALLBACK) as script:
        assert script.stdin
        assert script.stdout
        address = script.stdout.readline().strip()
        assert address.startswith("http"), address + script.stdout.read()
        script.stdin.write(consent(address, admin, "Stones", CALLBACK) + "\n")
        script.stdin.flush()
        found: dict[str, Any] = json.loads(script.stdout.readline())
    return found


@contextmanager
def started(node: Node, *args: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [node.program, *args],
        cwd=CACHE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_typescript_client_connects_from_nothing(node: Node, product: Product) -> None:
    base = product.mcp.removesuffix("/mcp")
    admin = Person("admin", *re.findall(r"admin password  (\S+)", product.quarry.said))
    [folder] = product.quarry.get("/api/v1/folders", product.token)[1]["folders"]
    text = {"kind": "text", "title": "Filed", "text": "Granite in a folder, cut and laid."}
    body = json.dumps({**text, "folder_id": folder["id"]})
    product.quarry.ask("POST", "/api/v1/ingest", product.token, body)
    answer = connect_by_typescript(node, product, admin)
    assert "search_knowledge_base" in answer["tools"]
    assert answer["found"] == ["Filed"]
    assert answer["tokens"]["scope"] == "kb:read"
    assert_one_use_of_each_refresh(base, answer["client"], answer["tokens"]["refresh_token"])
    again = connect_by_typescript(node, product, admin)
    bearer = {"Authorization": f"Bearer {again['tokens']['access_token']}"}
    assert requests.get(f"{base}/api/v1/whoami", headers=bearer, timeout=DEADLINE).ok
    revoke_on_the_page(base, admin, "TypeScript client")
    answered = requests.get(f"{base}/api/v1/whoami", headers=bearer, timeout=DEADLINE)
    assert answered.status_code == 401


def test_the_authorization_server_passes_every_scenario(node: Node, product: Product) -> None:
    base = product.mcp.removesuffix("/mcp")
    metadata = {"redirect_uris": [CALLBACK], "client_name": "Conformance"}
    client = requests.post(f"{base}/oauth/register", json=metadata, timeout=DEADLINE).json()
    asked = ("--client-id", client["client_id"], "--resource", product.mcp, "--port", "3917")
    command = (CONFORMANCE, "authorization", "--url", base, *asked)
    said = ""
    with started(node, *command) as check:
        assert check.stdout
        for line in check.stdout:
            said += line
            if found := re.search(r"http\S+/oauth/authorize\?\S+", line):
                requests.get(let_in(product, found[0]), timeout=DEADLINE)
        check.wait(DEADLINE)
    assert check.returncode == 0, said
    assert "Total: 3 passed, 0 failed" in said, said
