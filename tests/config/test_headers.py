"""The headers that tell a browser what a page may do, and the cookies it may send."""

from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.django_db

CONSENT = "/oauth/authorize?client_id=x"
PAGES = ("/", "/add", "/accounts/login/", "/accounts/2fa/", "/admin/", "/api/v1/docs/", "/nothing")
UNSAFE = {
    "/admin/": {"'unsafe-inline'", "'unsafe-eval'"},  # its theme evaluates attributes
    "/api/v1/docs/": {"'unsafe-inline'"},
}


@pytest.fixture
def browser(admin_user: User) -> Client:
    client = Client()
    client.force_login(admin_user)
    return client


@pytest.mark.parametrize("who", ["visitor", "admin"])
def test_every_page_says_what_a_browser_may_do_there(browser: Client, who: str) -> None:
    client = browser if who == "admin" else Client()
    for path in PAGES:
        answer = client.get(path)
        policy = answer["Content-Security-Policy"]
        allowed = {word for word in policy.replace(";", "").split() if "unsafe" in word}
        assert allowed <= UNSAFE.get(path, set()), path
        for rule in ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
            assert rule in policy, path
        assert answer["Referrer-Policy"] == "same-origin", path
        assert answer["X-Content-Type-Options"] == "nosniff", path
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin", path
        permissions = answer["Permissions-Policy"].split(", ")
        assert {"camera=()", "microphone=()", "geolocation=()"} <= set(permissions), path
        assert "publickey-credentials-get=(self)" in permissions, path


def test_what_needs_weaker_rules_has_its_own(browser: Client) -> None:
    policies = {path: browser.get(path)["Content-Security-Policy"] for path in PAGES}
    assert "'unsafe-eval'" in policies["/admin/"]
    assert "'unsafe-eval'" not in policies["/api/v1/docs/"]
    assert "'unsafe-inline'" in policies["/api/v1/docs/"]
    assert "form-action 'none'" in policies["/api/v1/docs/"]


def test_a_client_that_opened_the_consent_page_in_a_window_is_not_cut_from_it(
    browser: Client,
) -> None:
    """Nor on the pages where one signs in on the way there."""
    assert opener_policy(browser.get(CONSENT)) == "unsafe-none"
    assert opener_policy(Client().get("/accounts/login/", {"next": CONSENT})) == "unsafe-none"
    assert opener_policy(Client().get("/accounts/login/", {"next": "/add"})) == "same-origin"
    elsewhere = {"next": "https://evil.example/oauth/authorize"}
    assert opener_policy(Client().get("/accounts/login/", elsewhere)) == "same-origin"


def test_nor_where_the_second_factor_is_asked_for_on_the_way() -> None:
    maya = User.objects.create_user("maya", password="quarry-stone-42")
    TOTP.activate(maya, generate_totp_secret())
    for target, expected in ((CONSENT, "unsafe-none"), ("/add", "same-origin")):
        form = {"login": "maya", "password": "quarry-stone-42", "next": target}
        page = Client().post("/accounts/login/", form, follow=True)
        assert page.request["PATH_INFO"] == "/accounts/2fa/authenticate/"
        assert opener_policy(page) == expected


def opener_policy(answer: Any) -> str:
    return str(answer["Cross-Origin-Opener-Policy"])


def test_cookies_are_secure_behind_tls_and_work_without_it(settings: Settings) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    User.objects.create_user("maya", password="quarry-stone-42")
    form = {"login": "maya", "password": "quarry-stone-42"}
    for scheme in ("https", "http"):
        answer = Client().post(
            "/accounts/login/", form, headers={"X-Forwarded-Proto": scheme}, follow=False
        )
        assert {"sessionid", "csrftoken"} <= answer.cookies.keys()
        for cookie in answer.cookies.values():
            assert bool(cookie["secure"]) is (scheme == "https"), cookie
            assert cookie["samesite"] == "Lax"
        assert answer.cookies["sessionid"]["httponly"]
