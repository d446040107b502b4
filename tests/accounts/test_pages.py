"""The pages of accounts: what everybody may open, and what nobody is told."""

import re
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.conf import settings
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.invitations import invite
from tests.support.people import OIDC, PASSWORD, addresses_for, browser_of, furnish_account
from tests.support.routes import every_address
from tokens.models import Token
from tokens.single_use import new_form_id

OPEN = {
    *("/accounts/login/", "/accounts/logout/", "/accounts/signup/", "/accounts/inactive/"),
    *("/accounts/password/reset/", "/accounts/password/reset/done/"),
    *("/accounts/password/reset/key/done/", "/accounts/password/reset/key/<uidb36>-<key>/"),
    *("/accounts/confirm-email/", "/accounts/confirm-email/<key>/"),
    "/accounts/invitations/<secret>",
    *("/accounts/oidc/<provider_id>/login/", "/accounts/oidc/<provider_id>/login/callback/"),
    *("/accounts/3rdparty/login/cancelled/", "/accounts/3rdparty/login/error/"),
    *(f"/accounts/social/{old}/" for old in ("login/cancelled", "login/error", "signup")),
    "/accounts/social/connections/",
}
"""What opens for whoever is not signed in."""

FOR_PROGRAMS = {"/oauth/token", "/oauth/revoke", "/oauth/register"}
"""What takes no cookie, and so needs no proof that a form is ours."""


@pytest.fixture
def maya(db: None) -> User:
    return User.objects.create_user("maya", "maya@example.org", PASSWORD)


def sign_in(client: Client, name: str, password: str) -> Any:
    page = client.get("/accounts/login/").content.decode()
    return client.post("/accounts/login/", {"login": name, "password": password, **csrf(page)})


def csrf(page: str) -> dict[str, str]:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found
    return {"csrfmiddlewaretoken": found[1]}


@pytest.fixture
def everything_is_set_up(settings: Settings) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [OIDC]}}
    settings.EMAIL_SERVER = {"host": "mail.example.org"}


@pytest.mark.usefixtures("everything_is_set_up")
def test_every_page_needs_a_person_and_opens_for_one(maya: User) -> None:
    furnish_account(maya)
    browser = browser_of(maya)
    for template, address in addresses_for(maya).items():
        answer = Client().get(address)
        is_sent_away = answer.headers.get("Location", "").startswith("/accounts/login/")
        assert is_sent_away is (template not in OPEN), template
        page = browser.get(address, follow=True)
        assert page.status_code in (200, 401, 405), template


@pytest.mark.usefixtures("everything_is_set_up")
@pytest.mark.parametrize("who", ["visitor", "member", "member with everything"])
def test_no_page_is_framed_or_runs_what_is_not_ours(maya: User, who: str) -> None:
    if who == "member with everything":
        furnish_account(maya)
    browser = Client() if who == "visitor" else browser_of(maya)
    for template, address in addresses_for(maya).items():
        page = browser.get(address, follow=True)
        assert page.headers["X-Frame-Options"] == "DENY", template
        policy = page.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy, template
        assert "unsafe" not in policy, template
        of_account = page.request["PATH_INFO"].startswith(("/accounts/", "/oauth/"))
        rule = "no-store" if of_account else "no-cache"
        assert rule in page.headers["Cache-Control"], template
        body = page.content.decode()
        scripts = r"<script(?![^>]*\b(?:src|type=\"application/json\"))[^>]*>"
        assert re.findall(scripts, body) == [], template
        assert not re.search(r"\s(style|on\w+)=", body), template


def test_no_form_is_taken_from_another_site(admin_user: User) -> None:
    """Neither on the pages for people nor in the admin, nor over REST by a person's session."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(admin_user)
    for template in set(every_address()) - FOR_PROGRAMS:
        if template.startswith(("/accounts/", "/oauth/", "/admin/", "/api/")):
            address = re.sub(r"<\w+>", "00000000-0000-0000-0000-000000000000", template)
            address = address.replace("/keys/00000000-0000-0000-0000-000000000000", "/keys/1")
            answer = browser.post(address, {})
            expected = (401, 403, 404, 405) if template.startswith("/api/") else (403,)
            assert answer.status_code in expected, template
    for method, path in (("post", "tokens"), ("delete", f"tokens/{uuid4()}")):
        assert getattr(browser, method)(f"/api/v1/{path}").status_code == 403


def test_signing_in_changes_the_session(maya: User) -> None:
    """Whoever planted a session in somebody's browser does not share what comes after."""
    for sign_in_somehow in (
        lambda client: sign_in(client, "maya", PASSWORD),
        lambda client: client.post(invite(None)[1], {"username": "new", "password": PASSWORD}),
        lambda client: client.post(invite(None, person=maya)[1], {"password": PASSWORD}),
    ):
        client = Client()
        planted = client.session
        planted["left"] = "by somebody"
        planted.save()
        client.cookies[settings.SESSION_COOKIE_NAME] = str(planted.session_key)
        assert sign_in_somehow(client).status_code == 302
        assert client.session.session_key != planted.session_key
        assert client.get("/connections/").status_code == 200
        assert not Session.objects.filter(pk=planted.session_key).exists()


def test_nobody_is_told_which_accounts_there_are(maya: User) -> None:
    for names in (("maya", "nobody"), ("maya@example.org", "nobody@example.org")):
        answers = set()
        for name in names:
            page = sign_in(Client(), name, "wrong-password-1").content.decode()
            answers.add(re.sub(r'value="[^"]*"', "", page))
        assert len(answers) == 1


def test_wrong_passwords_are_limited_by_account_and_recover(maya: User) -> None:
    client = Client()
    for _ in range(10):
        sign_in(client, "maya", "wrong-password-1")
    barred = sign_in(client, "maya", PASSWORD)
    assert barred.status_code == 200
    assert b"Too many failed" in barred.content
    other = User.objects.create_user("otto", password=PASSWORD)
    assert sign_in(Client(), other.username, PASSWORD).status_code == 302
    with time_machine.travel(timezone.now() + timedelta(minutes=6), tick=True):
        assert sign_in(client, "maya", PASSWORD).status_code == 302


def test_an_account_that_does_not_exist_is_barred_alike(maya: User) -> None:
    answers = set()
    for name in ("maya", "nobody"):
        for _ in range(8):
            sign_in(Client(), name, "wrong-password-1")
        page = sign_in(Client(), name, "wrong-password-1").content.decode()
        answers.add(re.sub(r'value="[^"]*"', "", page))
    assert len(answers) == 1
    assert "Too many failed" in answers.pop()


def test_wrong_passwords_are_limited_by_address_and_recover(maya: User) -> None:
    with time_machine.travel(timezone.now(), tick=False):
        for number in range(20):
            sign_in(Client(), f"somebody-{number}", "wrong-password-1")
        assert b"Too many failed" in sign_in(Client(), "maya", PASSWORD).content
        elsewhere = Client(REMOTE_ADDR="192.0.2.7")
        assert sign_in(elsewhere, "maya", PASSWORD).status_code == 302
    with time_machine.travel(timezone.now() + timedelta(seconds=61), tick=True):
        assert sign_in(Client(), "maya", PASSWORD).status_code == 302


def test_wrong_passwords_cost_little_at_every_page_that_asks_for_one(
    maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way a password comes in, at most eight for one account are looked at."""
    checked: list[str] = []
    verify = MD5PasswordHasher.verify

    def verify_and_count(hasher: Any, password: str, encoded: str) -> bool:
        checked.append(password)
        return verify(hasher, password, encoded)

    monkeypatch.setattr(MD5PasswordHasher, "verify", verify_and_count)
    User.objects.filter(pk=maya.pk).update(is_staff=True, is_superuser=True)
    forms = {
        "/accounts/login/": {"login": "maya"},
        "/admin/login/": {"username": "maya", "next": "/admin/"},
    }
    for number in range(60):
        for address, form in forms.items():
            answer = Client().post(address, {**form, "password": f"wrong-password-{number}"})
            assert "_auth_user_id" not in answer.client.session
    assert len(set(checked)) <= 8
    # One's own password, typed again by whoever found an open session.
    browser = browser_of(maya)
    for address, name in (
        ("/accounts/reauthenticate/", "password"),
        ("/accounts/password/change/", "oldpassword"),
        ("/admin/password_change/", "old_password"),
    ):
        checked.clear()
        for number in range(30):
            browser.post(address, {name: f"wrong-password-{number}"})
        assert len(set(checked)) <= 10, address


def test_every_process_counts_in_one_table(maya: User) -> None:
    counted = "SELECT count(*) FROM quarry_cache WHERE cache_key LIKE '%login_failed%'"
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM quarry_cache")
        sign_in(Client(), "maya", "wrong-password-1")
        cursor.execute(counted)
        assert cursor.fetchone() == (2,)  # by account and by address


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
    page = client.post("/connections/new", form)
    [secret] = set(re.findall(r"qry_[\w-]{49}", page.content.decode()))
    bearer = {"Authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/whoami", headers=bearer).json()["owner"] == "maya"
    assert client.post("/connections/new", form).status_code == 409
    token = Token.objects.get()
    assert secret not in client.get("/connections/").content.decode()
    assert client.post(f"/connections/{token.pk}/revoke").status_code == 302
    assert Client().get("/api/v1/whoami", headers=bearer).status_code == 401


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
    assert other.get("/connections/").headers["Location"].startswith("/accounts/login/")
    page = other.get("/accounts/2fa/authenticate/").content.decode()
    wrong = other.post("/accounts/2fa/authenticate/", {"code": "000000", **csrf(page)})
    assert wrong.status_code == 200
    code = code_of(secret)
    right = other.post("/accounts/2fa/authenticate/", {"code": code, **csrf(page)})
    assert right.status_code == 302
    assert other.get("/connections/").status_code == 200
    late = Client()
    sign_in(late, "maya", PASSWORD)
    page = late.get("/accounts/2fa/authenticate/").content.decode()
    replayed = late.post("/accounts/2fa/authenticate/", {"code": code, **csrf(page)})
    assert replayed.status_code == 200  # a code counts once, wherever it is sent


def code_of(secret: str) -> str:
    """What an authenticator app shows now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))
