"""The pages of accounts: what everybody may open, and what nobody is told."""

import re
import time
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from knowledge.access import Access
from knowledge.library.items import create_folder
from tests.support.oauth import Connector
from tokens.minting import TokenRequest, mint_token
from tokens.models import Token
from tokens.single_use import new_form_id

PASSWORD = "quarry-stone-42"
PAGES = [
    "/accounts/",
    "/accounts/password/change/",
    "/accounts/2fa/",
    "/accounts/2fa/totp/activate/",
    "/accounts/sessions/",
    "/accounts/logout/",
    "/accounts/email/",
]
OPEN_PAGES = ["/accounts/login/", "/accounts/password/reset/", "/accounts/signup/"]


@pytest.fixture(autouse=True)
def no_limits_left_over() -> None:
    cache.clear()


@pytest.fixture
def maya(db: None) -> User:
    return User.objects.create_user("maya", "maya@example.org", PASSWORD)


@pytest.fixture
def browser(maya: User) -> Client:
    client = Client(enforce_csrf_checks=True)
    sign_in(client, "maya", PASSWORD)
    return client


def sign_in(client: Client, name: str, password: str) -> Any:
    page = client.get("/accounts/login/").content.decode()
    return client.post("/accounts/login/", {"login": name, "password": password, **csrf(page)})


def csrf(page: str) -> dict[str, str]:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found
    return {"csrfmiddlewaretoken": found[1]}


@pytest.mark.parametrize("address", PAGES)
def test_every_page_needs_a_person_and_opens_for_one(browser: Client, address: str) -> None:
    assert Client().get(address).headers.get("Location", "").startswith("/accounts/login/") or (
        address == "/accounts/logout/"
    )
    page = browser.get(address, follow=True)
    assert page.status_code == 200


@pytest.mark.parametrize("address", [*PAGES, *OPEN_PAGES, "/oauth/authorize"])
def test_no_page_is_framed_or_runs_what_is_not_ours(browser: Client, address: str) -> None:
    page = browser.get(address, follow=True)
    assert page.headers["X-Frame-Options"] == "DENY"
    policy = page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    inline = re.findall(
        r"<script(?![^>]*\b(?:src|type=\"application/json\"))[^>]*>", page.content.decode()
    )
    assert inline == []
    assert " style=" not in page.content.decode()


@pytest.mark.parametrize(
    "address",
    [
        *("/accounts/", "/accounts/login/", "/accounts/password/change/", "/accounts/logout/"),
        "/accounts/tokens/00000000-0000-0000-0000-000000000000/revoke",
        "/oauth/authorize",
    ],
)
def test_no_form_is_taken_from_another_site(browser: Client, address: str) -> None:
    assert browser.post(address, {}).status_code == 403


def test_signing_in_changes_the_session(client: Client, maya: User) -> None:
    client.get("/accounts/login/")
    client.session["left"] = "by somebody"
    client.session.save()
    before = client.session.session_key
    assert sign_in(client, "maya", PASSWORD).status_code == 302
    assert client.session.session_key != before


def test_nobody_is_told_which_accounts_there_are(maya: User, settings: Any) -> None:
    for names in (("maya", "nobody"), ("maya@example.org", "nobody@example.org")):
        answers = set()
        for name in names:
            cache.clear()
            page = sign_in(Client(), name, "wrong-password-1").content.decode()
            answers.add(re.sub(r'value="[^"]*"', "", page))
        assert len(answers) == 1
    resets = set()
    for address in ("maya@example.org", "nobody@example.org"):
        cache.clear()
        answer = Client().post("/accounts/password/reset/", {"email": address})
        resets.add((answer.status_code, answer.headers.get("Location")))
    assert len(resets) == 1


def test_wrong_passwords_are_limited_by_account_and_recover(maya: User) -> None:
    client = Client()
    for _ in range(10):
        sign_in(client, "maya", "wrong-password-1")
    barred = sign_in(client, "maya", PASSWORD)
    assert barred.status_code == 200
    assert b"Too many failed" in barred.content
    other = User.objects.create_user("otto", password=PASSWORD)
    assert sign_in(Client(), other.username, PASSWORD).status_code == 302
    cache.clear()  # as time does
    assert sign_in(client, "maya", PASSWORD).status_code == 302


def test_nobody_signs_up(client: Client, db: None) -> None:
    page = client.get("/accounts/signup/")
    assert b"password1" not in page.content
    client.post("/accounts/signup/", {"username": "eve", "password1": PASSWORD})
    assert not User.objects.exists()


def test_a_member_mints_and_revokes_their_own_tokens(client: Client, maya: User) -> None:
    client.force_login(maya)
    form = {
        "name": "Laptop",
        "reach": "library",
        "toolsets": ["library"],
        "expires_days": "30",
        "form_id": new_form_id(),
    }
    page = client.post("/accounts/", form)
    [secret] = set(re.findall(r"qry_[\w-]{49}", page.content.decode()))
    bearer = {"Authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/whoami", headers=bearer).json()["owner"] == "maya"
    assert client.post("/accounts/", form).status_code == 409
    token = Token.objects.get()
    assert secret not in client.get("/accounts/").content.decode()
    assert client.post(f"/accounts/tokens/{token.pk}/revoke").status_code == 302
    assert Client().get("/api/v1/whoami", headers=bearer).status_code == 401


def test_a_member_meets_nothing_of_anybody_else(client: Client, maya: User, owner: User) -> None:
    folder = create_folder(Access.whole_library(owner.pk), "Nightjar")
    theirs, _ = mint_token(owner, TokenRequest(name="Nightjar", folder_ids=None))
    connection = Connector(owner).connect()
    client.force_login(maya)
    for address in PAGES:
        assert "Nightjar" not in client.get(address, follow=True).content.decode()
    assert client.post(f"/accounts/tokens/{theirs.pk}/revoke").status_code == 404
    assert theirs.state == "active"
    form = {
        "name": "Mine",
        "reach": "folders",
        "folder_ids": [str(folder.pk)],
        "toolsets": ["library"],
        "expires_days": "1",
        "form_id": new_form_id(),
    }
    assert client.post("/accounts/", form).status_code == 422
    assert client.get("/api/v1/connections").json() == {"connections": []}
    token = Token.objects.get(client__client_id=connection.client_id)
    for ask in (client.get, client.delete):
        assert ask(f"/api/v1/connections/{token.pk}").status_code == 404
    assert client.get("/admin/", follow=True).status_code == 403


def test_the_front_door_is_the_library_for_members_and_admins(
    client: Client, maya: User, admin_client: Client
) -> None:
    client.force_login(maya)
    assert "<h1" in client.get("/").content.decode()
    assert 'href="/admin/"' not in client.get("/").content.decode()
    assert 'href="/admin/"' in admin_client.get("/").content.decode()


def test_a_second_factor_is_asked_for_once_it_is_set_up(client: Client, maya: User) -> None:
    sign_in(client, "maya", PASSWORD)
    page = client.get("/accounts/2fa/totp/activate/", follow=True).content.decode()
    again = {"password": PASSWORD, "next": "/accounts/2fa/totp/activate/", **csrf(page)}
    page = client.post("/accounts/reauthenticate/", again, follow=True).content.decode()
    found = re.search(r'value="([A-Z2-7]{16,})"', page)
    assert found
    secret = found[1]
    answer = client.post("/accounts/2fa/totp/activate/", {"code": code_of(secret), **csrf(page)})
    assert answer.status_code == 302
    other = Client()
    asked = sign_in(other, "maya", PASSWORD)
    assert asked.headers["Location"] == "/accounts/2fa/authenticate/"
    assert other.get("/accounts/").headers["Location"].startswith("/accounts/login/")
    page = other.get("/accounts/2fa/authenticate/").content.decode()
    wrong = other.post("/accounts/2fa/authenticate/", {"code": "000000", **csrf(page)})
    assert wrong.status_code == 200
    cache.clear()  # a code counts once
    right = other.post("/accounts/2fa/authenticate/", {"code": code_of(secret), **csrf(page)})
    assert right.status_code == 302
    assert other.get("/accounts/").status_code == 200


def code_of(secret: str) -> str:
    """What an authenticator app shows now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))
