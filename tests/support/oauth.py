"""A client that connects by OAuth, and the person who lets it in."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from django.contrib.auth.models import User
from django.test import Client

VERIFIER = "a-verifier-of-more-than-forty-three-characters-0123456789"
CALLBACK = "http://localhost:3030/callback"
RESOURCE = "http://testserver/mcp"


def challenge(verifier: str = VERIFIER) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def register(client: Client, **metadata: Any) -> Any:
    """Register dynamically; the answer as it is."""
    body = {"client_name": "Walker", "redirect_uris": [CALLBACK], **metadata}
    return client.post("/oauth/register", json.dumps(body), content_type="application/json")


@dataclass
class Connector:
    """One client of one person, step by step."""

    person: User
    client_id: str = ""
    browser: Client = field(default_factory=Client)
    program: Client = field(default_factory=Client)
    tokens: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.browser.force_login(self.person)
        if not self.client_id:
            self.client_id = register(self.program).json()["client_id"]

    def address(self, **changes: Any) -> str:
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "state": "some-state",
            "scope": "kb:read kb:write",
            "code_challenge": challenge(),
            "code_challenge_method": "S256",
            "resource": RESOURCE,
            **changes,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return f"/oauth/authorize?{urlencode(given, doseq=True)}"

    def consent(self, *, asked: dict[str, Any] | None = None, **choices: Any) -> Any:
        """Open the page, choose, and press the button; the answer as it is."""
        address = self.address(**(asked or {}))
        page = self.browser.get(address)
        assert page.status_code == 200, (page.status_code, page.content)
        chosen = {"allow": "true", "reach": "library", "toolsets": ["library"], **choices}
        return self.browser.post(address, {**hidden_fields(page.content.decode()), **chosen})

    def code(self, **choices: Any) -> str:
        answer = self.consent(**choices)
        assert answer.status_code == 302, answer.content
        return str(parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0])

    def exchange(self, code: str, **changes: Any) -> Any:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "client_id": self.client_id,
            "code_verifier": VERIFIER,
            "resource": RESOURCE,
            **changes,
        }
        answer = self.program.post("/oauth/token", form)
        if answer.status_code == 200:
            self.tokens = answer.json()
        return answer

    def connect(self, **choices: Any) -> "Connector":
        answer = self.exchange(self.code(**choices))
        assert answer.status_code == 200, answer.content
        return self

    def refresh(self, token: str = "", **changes: Any) -> Any:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": token or self.tokens["refresh_token"],
            "client_id": self.client_id,
            **changes,
        }
        return self.program.post("/oauth/token", form)

    def get(self, path: str, token: str = "") -> Any:
        bearer = f"Bearer {token or self.tokens['access_token']}"
        return self.program.get(f"/api/v1/{path}", headers={"Authorization": bearer})

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self.program.post(
            f"/api/v1/{path}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.tokens['access_token']}"},
        )


def hidden_fields(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: unescape(value) for name, value in found}


def assert_one_use_of_each_refresh(url: str, client_id: str, refresh_token: str) -> None:
    """It is exchanged for another, and used again it ends whatever came of it."""
    with httpx2.Client(base_url=url) as http:
        form = {"grant_type": "refresh_token", "client_id": client_id}
        renewed = http.post("/oauth/token", data={**form, "refresh_token": refresh_token}).json()
        bearer = {"Authorization": f"Bearer {renewed['access_token']}"}
        assert http.get("/api/v1/whoami", headers=bearer).status_code == 200
        reused = http.post("/oauth/token", data={**form, "refresh_token": refresh_token})
        assert reused.json()["error"] == "invalid_grant"
        assert http.get("/api/v1/whoami", headers=bearer).status_code == 401
